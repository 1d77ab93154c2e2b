/** The orchestrator's end of a measured program: a process of its own, asked over Node's message channel. */
import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import type { Answer, Request } from './serve.js';

const LOADER = path.join(import.meta.dirname, 'built-loader.mjs');

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export class MeasuredProgram {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<void>;
  #requests = 0;

  /** Starts `programs/<name>.ts` with further variables in its environment. */
  constructor(name: string, env: Readonly<Record<string, string>> = {}) {
    this.#process = fork(path.join(import.meta.dirname, 'programs', `${name}.ts`), {
      execArgv: ['--no-warnings', '--import', LOADER],
      env: { ...process.env, ...env },
      stdio: ['ignore', 2, 2, 'ipc'],
    });
    this.#process.on('message', (answer: Answer) => this.#settle(answer));
    this.#exited = new Promise((resolve) => this.#process.once('exit', () => resolve()));
    void this.#exited.then(() => this.#rejectAll(new Error(`the program ${name} has ended`)));
  }

  /** Calls a method of the program; rejects with its error, or when it ends. */
  call<Result>(method: string, input: object = {}): Promise<Result> {
    const id = this.#requests++;
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.set(id, { resolve: (value) => resolve(value as Result), reject });
      this.#process.send({ id, method, input } satisfies Request, (error) => error && reject(error));
    });
  }

  /** Lets the program close what it holds, and waits for its end. */
  async close(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    await this.#exited;
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#exited;
  }

  #settle({ id, value, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(error));
  }

  #rejectAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
