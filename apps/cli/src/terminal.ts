/** Where commands write: results to stdout, everything else to stderr. */
import type { Writable } from 'node:stream';

export interface Terminal {
  readonly out: Writable;
  readonly err: Writable;
  /** A person looks at stdout: colours and redrawing are welcome. */
  readonly interactive: boolean;
}

export const processTerminal: Terminal = { out: process.stdout, err: process.stderr, interactive: process.stdout.isTTY === true };

/** Prints a result: JSON on one line for programs, or lines for people. */
export function print(terminal: Terminal, json: boolean | undefined, value: unknown, lines: () => readonly string[]): void {
  terminal.out.write(json ? `${JSON.stringify(value)}\n` : `${lines().join('\n')}\n`);
}

/** Columns padded to their widest cell. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows.reduce<number[]>((widest, row) => row.map((cell, column) => Math.max(widest[column] ?? 0, cell.length)), []);
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
