/**
 * Judges from its text whether a shell command only reads. Conservative: what is not known to be harmless is not read-only.
 *
 * R1  Only plain words and quotes are understood, joined by pipes. Substitution, redirection, lists, escapes, braces, comments and
 *     control characters make a command not read-only.
 * R2  Every program stands in a table. Programs without any option that writes or executes take all options; the others only
 *     the options listed, and no unquoted glob, because a file may be called like an option.
 * R3  Git is in none of them: whatever it is asked, it runs the programs that the files of a repository name (core.fsmonitor,
 *     diff.external, filters), and a folder that looks like a bare repository is one.
 */

interface Word {
  readonly text: string;
  /** Contains an unquoted `*`, `?` or `[`, which the shell expands to file names. */
  readonly isGlob: boolean;
}

/** A word: quoted pieces and plain characters; what the shell would treat otherwise is in none of the three. */
const WORD = /(?:'[^']*'|"[^"$`\\]*"|[^\s'"|&;<>()$`\\{}#!\p{Cc}])+/uy;
const GAP = /[ \t]*/y;

/** Whether running `command` changes nothing, as far as its text alone can tell (agent-loop.md §5, "Partition"). */
export function isReadOnlyCommand(command: string): boolean {
  const stages = parsePipeline(command);
  return stages !== null && stages.every(isReadOnlyProgram);
}

function parsePipeline(command: string): Word[][] | null {
  const stages: Word[][] = [[]];
  for (let rest = skip(command.trim(), GAP); rest !== ''; rest = skip(rest, GAP)) {
    if (rest.startsWith('|') && !rest.startsWith('||')) {
      stages.push([]);
      rest = rest.slice(1);
      continue;
    }
    const raw = match(rest, WORD);
    if (raw === '') return null;
    stages.at(-1)?.push(readWord(raw));
    rest = rest.slice(raw.length);
  }
  return stages;
}

function match(text: string, pattern: RegExp): string {
  pattern.lastIndex = 0;
  return pattern.exec(text)?.[0] ?? '';
}

function skip(text: string, pattern: RegExp): string {
  return text.slice(match(text, pattern).length);
}

function readWord(raw: string): Word {
  const unquoted = raw.replace(/'[^']*'|"[^"]*"/g, '');
  return {
    text: raw.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
    isGlob: /[*?[]/.test(unquoted),
  };
}

/** No option of these writes a file or starts a program. */
const FREE_PROGRAMS: ReadonlySet<string> = new Set(
  'ls cat head tail wc pwd grep egrep fgrep stat du df nl cut echo basename dirname realpath readlink which cmp true'.split(' '),
);

/** Tests whether an option is harmless; words that are no options always are. */
const CHECKED_PROGRAMS: Readonly<Record<string, RegExp>> = {
  rg: /^(-[nilLcvwsxFHNuSUao0]+|-[ABCmgtTe]|-[ABCm]\d+|--(line-number|ignore-case|files|files-with-matches|files-without-match|count|hidden|no-ignore|glob|type|fixed-strings|word-regexp|multiline|context|heading|no-heading|max-count|sort|color=never|json)(=.*)?|--)$/,
  find: /^-(name|iname|path|ipath|regex|iregex|type|maxdepth|mindepth|size|empty|newer|mtime|mmin|not|o|a|or|and|print|print0|prune)$/,
  diff: /^(-[uqrNbBwiy]+|-U\d+|--(brief|unified|recursive|ignore-all-space)(=\d+)?|--)$/,
  sort: /^(-[nrubdfghkVtz0-9,]+)$/,
};

function isReadOnlyProgram([program, ...args]: readonly Word[]): boolean {
  if (program === undefined || program.isGlob) return false;
  if (FREE_PROGRAMS.has(program.text)) return true;
  const allowed = Object.hasOwn(CHECKED_PROGRAMS, program.text) ? CHECKED_PROGRAMS[program.text] : undefined;
  if (allowed === undefined || args.some(({ isGlob }) => isGlob)) return false;
  return args.every(({ text }) => !text.startsWith('-') || allowed.test(text));
}
