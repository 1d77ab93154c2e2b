/** A family on whose tasks an operation happens, and how its story ended. */
import type { LoopStop } from '@echelon/agent-loop';
import { type Database, findOpenTurn, findSession, findTask, type OutboxRow, type Tx } from '@echelon/persistence';
import type { AgentActor, OperatorActor } from '../../libs/orchestration/src/actor.js';
import type { ClaimedTurn } from '../../libs/orchestration/src/claim.js';
import { accepted, type TestTask, type World } from '../support/world.js';
import { ASK, CALL, PROMPTS } from './scripted-agents.js';

/** What a process must be told to do its part; plain data. */
export interface Stage {
  readonly workspaceId: string;
  readonly operator: OperatorActor;
  readonly parent: TestTask;
  readonly child: TestTask;
  /** The question for whose answer the child waits. */
  readonly questionId: string;
  /** Another task: who becomes the child's parent, what it waits for, or what waits for it. */
  readonly other: TestTask | null;
  /** The entries in the child's queue that somebody changes. */
  readonly entryIds: readonly string[];
  /** The step that the child moves to. */
  readonly stepId: string;
  /** How the turn stops that is to be settled. */
  readonly stop: LoopStop;
  /** The parent answers only when it is reminded. */
  readonly reluctant: boolean;
}

/** A parent and its autopilot child, of whom nothing runs. */
export async function family(world: World): Promise<Stage> {
  const parent = await world.task({ title: 'The parent' });
  const child = await world.task({ title: 'The child', parent, autopilot: true });
  const { workspaceId, operator } = world;
  const none = { questionId: '', other: null, entryIds: [], stepId: '' };
  return { workspaceId, operator, parent, child, ...none, stop: { reason: 'completed' }, reluctant: false };
}

/** Opens a turn of the task with a prompt. */
export async function open(world: World, { sessionId }: TestTask, prompt: string): Promise<ClaimedTurn> {
  await world.prompt(sessionId, prompt);
  return world.claim(sessionId);
}

/** The child has asked in a turn that is still open. */
export async function asking(world: World, given?: Stage): Promise<Stage> {
  const stage = given ?? (await family(world));
  await open(world, stage.child, PROMPTS.ask);
  const actor = await agentOf(world.database, stage, stage.child);
  const { question_id: questionId } = accepted(await world.services.questions.askParent(actor, ASK, CALL));
  return { ...stage, questionId };
}

/** The child has asked and waits; its parent did not hear of it yet. */
export async function waiting(world: World, given?: Stage): Promise<Stage> {
  const stage = await asking(world, given);
  await world.endTurn(await heldTurn(world.database, stage.child));
  return stage;
}

/** The agent that acts in the open turn of the task. */
export async function agentOf(tx: Tx, { workspaceId }: Stage, { id: taskId, sessionId }: TestTask): Promise<AgentActor> {
  const turn = await findOpenTurn(tx, sessionId);
  return { kind: 'agent', workspaceId, taskId, sessionId, turnId: turn?.id ?? null, callId: CALL };
}

/** The turn of the task that somebody holds. */
export async function heldTurn(tx: Tx, { id, sessionId }: TestTask): Promise<ClaimedTurn> {
  const [task, session, turn] = [await findTask(tx, id), await findSession(tx, sessionId), await findOpenTurn(tx, sessionId)];
  if (!task || !session || !turn) throw new Error(`task ${id} has no open turn`);
  return { task, session, turn, lease: { sessionId, epoch: session.lease_epoch } };
}

/** Announcements of a session that nobody has handed on. */
export function listAnnouncements(tx: Tx, { sessionId }: TestTask): Promise<readonly OutboxRow[]> {
  return tx.query<OutboxRow>(
    `SELECT o.id, o.session_id, o.priority, f.workspace_root_id AS root_id FROM outbox o JOIN session s ON s.id = o.session_id
       JOIN task t ON t.id = s.task_id LEFT JOIN task_folder f ON f.folder = t.folder
     WHERE o.session_id = $1 ORDER BY o.created_at`,
    [sessionId],
  );
}

const END = `
WITH stage AS (SELECT id FROM session WHERE task_id = ANY ($1::uuid[]))
SELECT 'question ' || (q.metadata->>'status') AS fact FROM message q JOIN stage ON stage.id = q.session_id WHERE q.type = 'parent_question'
UNION ALL SELECT t.title || ': ' || e.kind || ' ' || e.state || CASE WHEN e.state = 'delivered'
  THEN ', turns: ' || (SELECT count(*) FROM turn WHERE opening_entry_id = e.id)
    || ' ' || coalesce((SELECT string_agg(coalesce(outcome, status), ' ') FROM turn WHERE opening_entry_id = e.id), '') ELSE '' END
  FROM queue_entry e JOIN session s ON s.id = e.session_id JOIN task t ON t.id = s.task_id JOIN stage ON stage.id = s.id
UNION ALL SELECT t.title || ' is ' || t.state || ', its session ' || s.state FROM session s JOIN task t ON t.id = s.task_id JOIN stage ON stage.id = s.id
ORDER BY fact`;

/** The tasks whose agents play on the stage. */
export function playersOf({ parent, child, other }: Stage): readonly string[] {
  return [parent, child, ...(other ? [other] : [])].map(({ id }) => id);
}

/** The questions, the whole queue and the states of all who play, each as a sentence. */
export async function readEnd(database: Database, stage: Stage): Promise<readonly string[]> {
  const rows = await database.query<{ readonly fact: string }>(END, [playersOf(stage)]);
  return rows.map(({ fact }) => fact);
}
