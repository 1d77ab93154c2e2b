/** `echelon acp` as a process of its own over a scripted model, and what its specs look at. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AgentScript, type ScriptedModel, startScriptedModel } from '@echelon/scripted-model';
import type { ClientCapabilities } from '@agentclientprotocol/sdk/unstable';
import { Editor } from './editor.js';

const root = path.resolve(import.meta.dirname, '../../../../..');

export class AcpWorld {
  private readonly editors: Editor[] = [];

  private constructor(
    readonly model: ScriptedModel,
    readonly base: string,
  ) {}

  static async open(script: AgentScript, settings: object = {}): Promise<AcpWorld> {
    const world = new AcpWorld(await startScriptedModel({ script }), mkdtempSync(path.join(tmpdir(), 'echelon-acp-')));
    mkdirSync(path.join(world.base, 'data'));
    writeFileSync(path.join(world.base, 'data/settings.json'), JSON.stringify(settings));
    return world;
  }

  /** How anybody starts the agent. */
  get command(): readonly string[] {
    const loader = path.join(root, 'scripts/source-loader.mjs');
    const program = path.join(root, 'apps/cli/bin/echelon.mjs');
    return [process.execPath, '--no-warnings', '--import', loader, program, 'acp', '--provider', 'scripted'];
  }

  get env(): Readonly<Record<string, string>> {
    return { ECHELON_DATA_DIR: path.join(this.base, 'data'), ECHELON_SCRIPTED_MODEL_URL: this.model.url };
  }

  /** A folder for one session. */
  newFolder(): string {
    return mkdtempSync(path.join(this.base, 'work-'));
  }

  async startEditor(capabilities: ClientCapabilities = {}): Promise<Editor> {
    const editor = await Editor.start(this.command, { ...process.env, ...this.env }, capabilities);
    this.editors.push(editor);
    return editor;
  }

  /** The messages of the requests whose conversation holds a text, without the system prompt. */
  requestsWith(text: string): readonly (readonly Message[])[] {
    const all = this.model.requests.map(({ body }) => (body as { readonly messages: readonly Message[] }).messages.slice(1));
    return all.filter((messages) => JSON.stringify(messages).includes(text));
  }

  async close(): Promise<void> {
    for (const editor of this.editors) await editor.kill();
    await this.model.close();
    rmSync(this.base, { recursive: true, force: true });
  }
}

export interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
}
