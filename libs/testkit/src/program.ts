import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

export interface ProgramOptions {
  readonly args?: readonly string[];
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Program {
  readonly pid: number;
  /** Everything that it has written so far, both streams together. */
  output(): string;
  /** Resolves with the first line, written already or later, that matches; rejects when the program ends without one. */
  line(pattern: RegExp): Promise<string>;
  /** Sends a signal, SIGKILL where absent, and resolves when the program is gone. */
  kill(signal?: NodeJS.Signals): Promise<ProgramExit>;
  readonly exited: Promise<ProgramExit>;
}

const root = path.resolve(import.meta.dirname, '../../..');
const loader = path.join(root, 'scripts/source-loader.mjs');

/** Starts a TypeScript or JavaScript file of this repository, given by its path from the root, from sources. */
export function startProgram(file: string, options: ProgramOptions = {}): Program {
  return start([path.join(root, file)], options);
}

/** Starts a program given as the text of an ES module, which may import our packages by name. */
export function startScript(source: string, options: ProgramOptions = {}): Program {
  return start(['--input-type=module', '--eval', source, '--'], options);
}

function start(what: readonly string[], { args = [], env = {} }: ProgramOptions): Program {
  const child = spawn(process.execPath, ['--no-warnings', '--import', loader, ...what, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<ProgramExit>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  const output = collect(child);
  return {
    pid: child.pid ?? 0,
    output: () => output.text(),
    line: (pattern) => Promise.race([output.line(pattern), endedWithout(exited, pattern, output)]),
    kill: (signal = 'SIGKILL') => {
      child.kill(signal);
      return exited;
    },
    exited,
  };
}

interface Output {
  text(): string;
  line(pattern: RegExp): Promise<string>;
}

function collect(child: ChildProcess): Output {
  let text = '';
  const find = (pattern: RegExp) => text.split('\n').find((line) => pattern.test(line));
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  return {
    text: () => text,
    line: (pattern) =>
      new Promise((resolve) => {
        const look = () => {
          const line = find(pattern);
          if (line !== undefined) resolve(line);
        };
        child.stdout?.on('data', look);
        child.stderr?.on('data', look);
        look();
      }),
  };
}

async function endedWithout(exited: Promise<ProgramExit>, pattern: RegExp, output: Output): Promise<never> {
  const { code, signal } = await exited;
  throw new Error(`the program ended (${code ?? signal}) without a line like ${pattern}:\n${output.text()}`);
}
