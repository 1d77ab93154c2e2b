import type { EventBus } from '@echelon/messaging';
import { type Database, findTurn } from '@echelon/persistence';
import type { DurableEvent } from '@echelon/contracts';
import type { ClaimedTurn } from './claim.js';
import { eventTopic } from './event-topics.js';

/** Whom a turn has asked: its row names the question to the parent; the operator's is told of by its event alone. */
export type Asked = 'parent' | 'operator';

export interface WatchAsked {
  readonly database: Database;
  readonly bus: EventBus;
  readonly claimed: Pick<ClaimedTurn, 'session' | 'turn'>;
  readonly onAsked: (whom: Asked) => void;
  readonly onError: (error: unknown) => void;
}

/** Hears when the agent of a running turn asks over MCP, in whichever process that is served, until the returned function is called. */
export function watchAsked({ database, bus, claimed, onAsked, onError }: WatchAsked): Promise<() => void> {
  const { session, turn } = claimed;
  const look = (): void => {
    hasAskedParent(database, turn.id).then((asked) => asked && onAsked('parent'), onError);
  };
  return bus.subscribe(eventTopic(session.workspace_id), {
    onEvent: ({ payload }) => {
      if (!payload.includes(session.id)) return;
      const { type, session_id, data } = JSON.parse(payload) as DurableEvent;
      if (type !== 'question.asked' || session_id !== session.id) return;
      if (data['kind'] === 'user') onAsked('operator');
      else look();
    },
    onGap: look,
  });
}

/** What the turn's own row says (K6b). */
export async function hasAskedParent(database: Database, turnId: string): Promise<boolean> {
  const turn = await findTurn(database, turnId);
  return turn !== null && turn.ended_by_question_id !== null;
}
