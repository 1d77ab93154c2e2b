/** Limits of the workspace tools: one table for validation, documentation and `doctor` (operations.md, "Limits"). */
export const WORKSPACE_LIMITS = {
  /** Lines of one page of any tool here; stays below the 1,000 lines at which the loop would cut a result. */
  pageLines: 900,
  /** UTF-16 units of one page; stays below the loop's 25,000 for the same reason. */
  pageCharacters: 24_000,
  /** UTF-16 units shown of one line of a file. */
  lineCharacters: 2_000,
  /** Bytes that `read_file` goes through at most to reach the asked lines. */
  readScanBytes: 1024 ** 3,
  /** Bytes of a file that `read_file` still counts all lines of. */
  readCountBytes: 64 * 1024 ** 2,
  /** Bytes of a file that `edit_file` loads. */
  editFileBytes: 10 * 1024 ** 2,
  /** UTF-16 units that `write_file` takes. */
  writeCharacters: 1024 ** 2,
  /** Bytes of a file that `search_files` looks into. */
  searchFileBytes: 10 * 1024 ** 2,
  searchTimeoutMs: 20_000,
  /** Files and folders that one walk visits. */
  walkEntries: 200_000,
  /** UTF-16 units of one shell command: four bytes each still fit one argument of `execve`. */
  commandCharacters: 30_000,
  commandTimeoutSeconds: 120,
  commandMaxTimeoutSeconds: 600,
  /** Bytes of output that are kept of one command: the first fifth and the last four fifths. */
  commandOutputBytes: 5 * 1024 ** 2,
  /** Files that a command may have open at once, each of its processes. */
  commandOpenFiles: 4_096,
  /** Bytes of a file that a command writes. */
  commandFileBytes: 16 * 1024 ** 3,
  /** Bytes of output after which a command is stopped: nobody reads them, and reading them costs every other turn. */
  commandFloodBytes: 100 * 1024 ** 2,
} as const;
