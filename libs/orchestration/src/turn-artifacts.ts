/** Full texts of results that were shortened for the model, kept in Postgres and never on a local disk (operations.md). */
import type { ArtifactStore } from '@echelon/agent-loop';
import { canonicalText } from '@echelon/domain';
import { type Database, type ThreadId, upsertArtifact } from '@echelon/persistence';
import type { ClaimedTurn } from './claim.js';

export class TurnArtifacts implements ArtifactStore {
  constructor(
    private readonly database: Database,
    private readonly claimed: Pick<ClaimedTurn, 'session' | 'turn'>,
    /** Of a subagent; its calls' ids are unique in its thread only. */
    private readonly threadId: ThreadId = null,
  ) {}

  /** Stores once per call and returns the name that the shortened result mentions. */
  async store({ callId: ownId, text }: { readonly callId: string; readonly tool: string; readonly text: string }): Promise<string> {
    const { session, turn } = this.claimed;
    const callId = this.threadId === null ? ownId : `${this.threadId}:${ownId}`;
    const id = await upsertArtifact(this.database, { sessionId: session.id, turnId: turn.id, callId, content: canonicalText(text) });
    return `artifact ${id}`;
  }
}
