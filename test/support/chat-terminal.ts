/** `echelon chat` as its users have it: a process of its own in a pseudo-terminal (util-linux `script`), a scripted model, folders of its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type AgentScript, type ScriptedModel, startScriptedModel } from '@echelon/scripted-model';

const ROOT = path.resolve(import.meta.dirname, '../..');
const COMMAND = ['--no-warnings', '--import', path.join(ROOT, 'scripts/source-loader.mjs'), path.join(ROOT, 'apps/cli/bin/echelon.mjs')];

/** Of this process, what would change what a screen gets. */
const SCREEN = { TERM: 'xterm-256color', FORCE_COLOR: undefined, NO_COLOR: undefined, NODE_ENV: undefined };

export const KEYS = {
  enter: '\r',
  escape: '\u001b',
  up: '\u001b[A',
  control: (letter: string): string => String.fromCharCode(letter.charCodeAt(0) - 96),
  paste: (text: string): string => `\u001b[200~${text}\u001b[201~`,
} as const;

export class ChatWorld {
  readonly folder: string;
  readonly data: string;
  private readonly terminals: ChatTerminal[] = [];

  private constructor(
    readonly model: ScriptedModel,
    private readonly base: string,
  ) {
    [this.folder, this.data] = [path.join(base, 'work'), path.join(base, 'data')];
    for (const folder of [this.folder, this.data]) mkdirSync(folder);
  }

  static async open(script: AgentScript): Promise<ChatWorld> {
    return new ChatWorld(await startScriptedModel({ script }), mkdtempSync(path.join(tmpdir(), 'echelon-chat-')));
  }

  /** Starts it on a screen of 40 columns and 24 rows; resolves when it takes input. */
  async start(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<ChatTerminal> {
    const own = { ECHELON_DATA_DIR: this.data, ECHELON_SCRIPTED_MODEL_URL: this.model.url, ...SCREEN, ...env };
    const command = [process.execPath, ...COMMAND, 'chat', '--cwd', this.folder, '--provider', 'scripted', ...args];
    const inTerminal = `stty cols 40 rows 24; echo pid=$$; exec ${command.map((word) => `'${word}'`).join(' ')}`;
    const terminal = new ChatTerminal(
      spawn('script', ['-qfec', inTerminal, '/dev/null'], { cwd: ROOT, env: { ...process.env, ...own, SHELL: '/bin/sh' } }),
    );
    this.terminals.push(terminal);
    await terminal.takesKeys();
    return terminal;
  }

  /** The messages of the requests that the model got, without the system prompt. */
  requests(): readonly (readonly { readonly role: string; readonly content: unknown }[])[] {
    return this.model.requests.map(({ body }) => (body as { readonly messages: { role: string; content: unknown }[] }).messages.slice(1));
  }

  async close(): Promise<void> {
    for (const terminal of this.terminals) await terminal.kill();
    await this.model.close();
    rmSync(this.base, { recursive: true, force: true });
  }
}

export class ChatTerminal {
  readonly exited: Promise<number | null>;
  /** All bytes that it wrote. */
  written = '';
  private from = 0;
  private look: () => void = () => undefined;

  constructor(private readonly process: ChildProcess) {
    process.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      this.written += piece;
      this.look();
    });
    process.stdin?.on('error', () => undefined);
    this.exited = new Promise((resolve) => process.once('close', (code) => resolve(code)));
    void this.exited.then(() => this.look());
  }

  /** Of the chat itself. */
  get pid(): number {
    return Number(/pid=(\d+)/.exec(this.written)?.[1]);
  }

  /** What it wrote since the last key, without what a terminal obeys. */
  get text(): string {
    return stripVTControlCharacters(this.written.slice(this.from)).replaceAll('\r', '');
  }

  /** Resolves when no key would be lost: it has told the terminal to mark pasted text, which is the last that it asks of it. */
  takesKeys(): Promise<void> {
    return this.until('takes no keys', () => this.written.includes('\u001b[?2004h'));
  }

  /** Resolves when it has written this since the last key. */
  shows(wanted: string | RegExp): Promise<void> {
    return this.until(`did not show ${wanted}`, () => (typeof wanted === 'string' ? this.text.includes(wanted) : wanted.test(this.text)));
  }

  press(keys: string): void {
    this.from = this.written.length;
    this.process.stdin?.write(keys);
  }

  /** Takes the terminal away, as closing its window does. */
  close(): void {
    this.process.kill('SIGKILL');
  }

  /** Kills the chat itself, as the system does it. */
  async kill(): Promise<void> {
    if (this.process.exitCode === null && this.pid > 0) spawnSync('kill', ['-9', String(this.pid)]);
    await this.exited;
  }

  private async until(fault: string, holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.process.exitCode !== null) throw new Error(`it ended and ${fault}:\n${this.text}`);
      await new Promise<void>((resolve) => (this.look = resolve));
    }
  }
}
