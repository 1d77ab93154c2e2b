/** The agents of the story: what each does in a turn follows from what opened it, also when the turn is run a second time. */
import type { LoopStop } from '@echelon/agent-loop';
import { findEntry, type QueueEntryRow } from '@echelon/persistence';
import type { AgentActor } from '../../libs/orchestration/src/actor.js';
import type { AgentRuntime, TurnReport, TurnSignals } from '../../libs/orchestration/src/agent-runtime.js';
import type { ClaimedTurn } from '../../libs/orchestration/src/claim.js';
import { accepted } from '../support/world.js';
import type { Hands } from './hands.js';
import { playersOf, type Stage } from './stage.js';

export const ASK = { questions: [{ prompt: 'Which database?' }] };
export const CALL = 'call-1';

export const PARKED: LoopStop = { reason: 'parked', for: [{ kind: 'result', callId: CALL, waitsFor: 'the operator' }] };
export const FAILED: LoopStop = { reason: 'error', kind: 'persistence', message: 'no space left' };

/** Prompts that an agent takes word by word; any other is done at once. */
export const PROMPTS = {
  ask: 'Ask your parent.',
  askUser: 'Ask the operator.',
  redirect: 'Redirect your child.',
  interrupt: 'Interrupt your child.',
  complete: 'Complete.',
  fail: 'Fail.',
  rest: 'Rest.',
} as const;

export class ScriptedAgents implements AgentRuntime {
  constructor(
    private readonly hands: Hands,
    private readonly stages: readonly Stage[],
  ) {}

  async run(claimed: ClaimedTurn, { stop }: TurnSignals): Promise<TurnReport> {
    const entry = claimed.turn.opening_entry_id && (await findEntry(this.hands.database, claimed.turn.opening_entry_id));
    if (!entry) throw new Error(`turn ${claimed.turn.id} was opened by nothing`);
    const stopped: LoopStop | null = stop.aborted ? { reason: 'cancelled', by: 'stop' } : null;
    return { stop: stopped ?? (await this.#act(actorOf(claimed), entry)), record: () => Promise.resolve() };
  }

  async #act(actor: AgentActor, entry: QueueEntryRow): Promise<LoopStop> {
    const { child, reluctant } = this.#stageOf(actor);
    if (entry.kind === 'prompt') return this.#obey(actor, entry.text);
    if (entry.kind === (reluctant ? 'reminder' : 'question'))
      accepted(await this.hands.messages.send(actor, child.id, answerTo(entry.question_id)));
    else if (entry.kind === 'answer' || entry.kind === 'notice' || entry.text.includes('have ended')) await complete(this.hands, actor);
    return { reason: 'completed' };
  }

  #stageOf({ taskId }: AgentActor): Stage {
    const stage = this.stages.find((one) => playersOf(one).includes(taskId));
    if (!stage) throw new Error(`task ${taskId} is on no stage`);
    return stage;
  }

  async #obey(actor: AgentActor, prompt: string): Promise<LoopStop> {
    const { questions, messages } = this.hands;
    switch (prompt) {
      case PROMPTS.rest:
        return { reason: 'completed' };
      case PROMPTS.fail:
        return FAILED;
      case PROMPTS.ask:
        accepted(await questions.askParent(actor, ASK, CALL));
        return { reason: 'completed' };
      case PROMPTS.askUser: {
        const { status } = accepted(await questions.askUser(actor, ASK, CALL));
        return status === 'pending' ? PARKED : { reason: 'completed' };
      }
      case PROMPTS.redirect:
      case PROMPTS.interrupt: {
        const { child } = this.#stageOf(actor);
        accepted(await messages.send(actor, child.id, redirection(child.id, { interrupts: prompt === PROMPTS.interrupt })));
        return { reason: 'completed' };
      }
      default:
        await complete(this.hands, actor);
        return { reason: 'completed' };
    }
  }
}

export function answerTo(questionId: string | null) {
  return { prompt: 'Postgres.', delivery_mode: 'queued', reply_to_question_id: questionId ?? '' } as const;
}

/** What redirects the child; a retry carries the same key. */
export function redirection(childId: string, { interrupts }: { readonly interrupts: boolean }) {
  return { prompt: 'Take SQLite.', idempotency_key: `redirect ${childId}`, delivery_mode: interrupts ? 'interrupt' : 'queued' } as const;
}

async function complete({ turns }: Hands, actor: AgentActor): Promise<void> {
  accepted(await turns.signalCompletion(actor, { summary: 'Done.' }));
}

function actorOf({ task, session, turn }: ClaimedTurn): AgentActor {
  const { workspace_id: workspaceId, id: taskId } = task;
  return { kind: 'agent', workspaceId, taskId, sessionId: session.id, turnId: turn.id, callId: CALL };
}
