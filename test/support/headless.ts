/** `echelon run` as its users have it: a process of its own, its stdio, a scripted model, folders of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AgentScript, type ScriptedModel, startScriptedModel } from '@echelon/scripted-model';
import { OutputFrame, type ResultFrame } from '../../apps/cli/src/run/frames.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The command line of `echelon`, from sources. */
export const CLI_COMMAND = [
  '--no-warnings',
  '--import',
  path.join(ROOT, 'scripts/source-loader.mjs'),
  path.join(ROOT, 'apps/cli/bin/echelon.mjs'),
];
/** Frames in both directions. */
export const FRAMED = ['--input-format', 'stream-json', '--output-format', 'stream-json'];

export class Headless {
  readonly folder: string;
  readonly data: string;
  private readonly runs: HeadlessRun[] = [];

  private constructor(
    readonly model: ScriptedModel,
    private readonly base: string,
  ) {
    [this.folder, this.data] = [path.join(base, 'work'), path.join(base, 'data')];
    for (const folder of [this.folder, this.data]) mkdirSync(folder);
  }

  static async open(script: AgentScript): Promise<Headless> {
    return new Headless(await startScriptedModel({ script }), mkdtempSync(path.join(tmpdir(), 'echelon-run-')));
  }

  /** The settings file of this machine. */
  writeSettings(settings: object): void {
    writeFileSync(path.join(this.data, 'settings.json'), JSON.stringify(settings));
  }

  start(...args: readonly string[]): HeadlessRun {
    return this.startWith({}, ...args);
  }

  /** `env`: added to, or with an empty text taken from, what the model is reached with. */
  startWith(env: Readonly<Record<string, string>>, ...args: readonly string[]): HeadlessRun {
    const own = { ECHELON_DATA_DIR: this.data, ECHELON_SCRIPTED_MODEL_URL: this.model.url, ...env };
    const run = new HeadlessRun(
      spawn(process.execPath, [...CLI_COMMAND, 'run', '--cwd', this.folder, '--provider', 'scripted', ...args], {
        cwd: ROOT,
        env: { ...process.env, ...own },
      }),
    );
    this.runs.push(run);
    return run;
  }

  /** Runs with frames on stdout to its end. */
  async play(...args: readonly string[]): Promise<EndedRun> {
    const run = this.start('--output-format', 'stream-json', ...args);
    run.endInput();
    return run.ended;
  }

  /** The messages of the requests that the model got, without the system prompt. */
  requests(): readonly (readonly { readonly role: string; readonly content: unknown }[])[] {
    return this.model.requests.map(({ body }) => (body as { readonly messages: { role: string; content: unknown }[] }).messages.slice(1));
  }

  async close(): Promise<void> {
    for (const run of this.runs) await run.kill();
    await this.model.close();
    rmSync(this.base, { recursive: true, force: true });
  }
}

export interface EndedRun {
  readonly code: number | null;
  readonly frames: readonly OutputFrame[];
  /** The last frame, which is the only one of its kind. */
  readonly result: ResultFrame;
  readonly stdout: string;
  readonly stderr: string;
}

export class HeadlessRun {
  readonly exited: Promise<number | null>;
  private stdout = '';
  private stderr = '';
  private watchers: (() => void)[] = [];

  constructor(readonly process: ChildProcess) {
    const { stdout, stderr, stdin } = process;
    stdout?.setEncoding('utf8').on('data', (piece: string) => {
      this.stdout += piece;
      this.wake();
    });
    stderr?.setEncoding('utf8').on('data', (piece: string) => (this.stderr += piece));
    // A run that has ended takes no more input.
    stdin?.on('error', () => undefined);
    this.exited = new Promise((resolve) => process.once('close', (code) => resolve(code)));
    void this.exited.then(() => this.wake());
  }

  /** Everything that stands on stdout, each line held against the schemas. */
  get frames(): readonly OutputFrame[] {
    return this.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => OutputFrame.parse(JSON.parse(line)));
  }

  /** Resolves with the first frame, written already or later, that fits. */
  async frame<Fitting extends OutputFrame>(fits: (frame: OutputFrame) => frame is Fitting): Promise<Fitting> {
    for (;;) {
      const found = this.frames.find(fits);
      if (found !== undefined) return found;
      if (this.process.exitCode !== null) throw new Error(`it ended without such a frame:\n${this.stdout}\n${this.stderr}`);
      await new Promise<void>((resolve) => this.watchers.push(resolve));
    }
  }

  private wake(): void {
    const { watchers } = this;
    this.watchers = [];
    for (const wake of watchers) wake();
  }

  send(...frames: readonly (object | string)[]): void {
    this.process.stdin?.write(frames.map((frame) => `${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n`).join(''));
  }

  endInput(text = ''): void {
    this.process.stdin?.end(text);
  }

  /** Nobody reads its frames any more. */
  closeOutput(): void {
    this.process.stdout?.destroy();
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }

  get ended(): Promise<EndedRun> {
    return this.end();
  }

  async output(): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
    const code = await this.exited;
    return { code, stdout: this.stdout, stderr: this.stderr };
  }

  private async end(): Promise<EndedRun> {
    const { code, stdout, stderr } = await this.output();
    const { frames } = this;
    const results = frames.filter((frame) => frame.type === 'result');
    const [result] = results;
    if (result === undefined || results.length > 1 || frames.at(-1) !== result)
      throw new Error(`there is not one result frame, last:\n${stdout}\n${stderr}`);
    return { code, frames, result, stdout, stderr };
  }
}

/** A prompt as a frame. */
export function says(text: string): object {
  return { type: 'user', message: { role: 'user', content: text } };
}

export function controls(request_id: string, request: object): object {
  return { type: 'control_request', request_id, request };
}

/** An answer to `can_use_tool`. */
export function answers(request_id: string, response: object): object {
  return { type: 'control_response', response: { subtype: 'success', request_id, response } };
}
