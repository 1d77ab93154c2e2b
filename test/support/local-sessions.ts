/** A session over a scripted model, in folders of its own: what specs of surfaces in this process begin with. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LoopEvent } from '@echelon/agent-loop';
import { createModelClient } from '@echelon/model-clients';
import { type AgentScript, type ScriptedModel, startScriptedModel } from '@echelon/scripted-model';
import { AgentSession, type SessionSettings, SessionStore, type TurnSurface } from '@echelon/agent-session';

export class LocalSessions {
  readonly events: LoopEvent[] = [];
  readonly store: SessionStore;
  readonly folder: string;
  readonly data: string;

  private constructor(
    readonly model: ScriptedModel,
    private readonly base: string,
  ) {
    this.folder = mkdtempSync(path.join(base, 'work-'));
    this.data = path.join(base, 'sessions');
    this.store = SessionStore.open(this.data);
  }

  static async open(script: AgentScript): Promise<LocalSessions> {
    const base = mkdtempSync(path.join(tmpdir(), 'echelon-session-'));
    return new LocalSessions(await startScriptedModel({ script }), base);
  }

  settings(changes: Partial<SessionSettings> = {}): SessionSettings {
    const client = createModelClient({ dialect: 'chat_completions', baseUrl: this.model.url });
    return { models: [{ client, model: 'scripted' }], rules: [], mode: 'full_access', ...changes };
  }

  create(changes: Partial<SessionSettings> = {}): AgentSession {
    return AgentSession.create(this.store, this.folder, this.settings(changes));
  }

  surface(changes: Partial<TurnSurface> = {}): TurnSurface {
    return { signal: new AbortController().signal, onEvent: (event) => this.events.push(event), ...changes };
  }

  /** The messages of the requests that the model got, without the system prompt. */
  requests(): readonly (readonly unknown[])[] {
    return this.model.requests.map(({ body }) => (body as { readonly messages: readonly unknown[] }).messages.slice(1));
  }

  async close(): Promise<void> {
    this.store.close();
    await this.model.close();
    rmSync(this.base, { recursive: true, force: true });
  }
}
