/**
 * The actions that all models share. Each is one committed transaction or one queue operation and changes the state that it is given;
 * each says which rule of the protocol it carries out and asks `rules` whether that rule is switched off.
 *
 * K1  rows first            K5  settle drains          K7  one ask
 * K2  one id, one job       K6  gate                   K8  one end
 * K3  claim                 K6b asked is asked         K9  nobody waits for nobody
 * K4  fence                 K10 sweep                  K13 park
 */
import type { Core, Entry, EntryKind, Rules, SessionName, Turn, Worker, WorkerName } from './core.js';

export const currentTurn = (core: Core, name: SessionName): Turn | undefined => core.sessions[name].turns.find((turn) => turn.isOpen);

const isGated = (core: Core, name: SessionName): boolean => name === 'child' && core.question?.status === 'pending';

/** K6: while a question is pending only its answer is admissible. */
function findAdmissible(core: Core, rules: Rules, name: SessionName): Entry | undefined {
  const isAdmissible = (entry: Entry) => !isGated(core, name) || entry.kind === 'answer' || rules.has('no-gate');
  return core.sessions[name].queue.find((entry) => entry.turn === null && isAdmissible(entry));
}

/** K13: a parked turn goes on when all its waits are decided. */
function isResumable(turn: Turn, rules: Rules): boolean {
  const isDecided = (wait: string) => wait === 'decided';
  return !turn.isParked || (rules.has('resume-on-first-decision') ? turn.waits.some(isDecided) : turn.waits.every(isDecided));
}

/** Whether a claim would find work: an unfinished turn that can go on, else an admissible entry. */
export function isRunnable(core: Core, rules: Rules, name: SessionName): boolean {
  const turn = currentTurn(core, name);
  return turn ? isResumable(turn, rules) : findAdmissible(core, rules, name) !== undefined;
}

/** K1: entry and announcement are one transaction; a live holder needs none, it drains under the same lock. */
export function enqueue(core: Core, rules: Rules, name: SessionName, kind: EntryKind): void {
  core.sessions[name].queue.push({ kind, turn: null });
  announceIfFree(core, rules, name);
}

function announceIfFree(core: Core, rules: Rules, name: SessionName): void {
  if (core.sessions[name].lease === null && !rules.has('no-outbox')) core.outbox.push(name);
}

/** K2: every outbox row becomes a job of its own; an id made of the session would be swallowed while another such job is there. */
export function relay(core: Core, rules: Rules, name: SessionName): void {
  core.outbox.splice(core.outbox.indexOf(name), 1);
  if (rules.has('job-id-session') && core.jobs.some((job) => job.session === name)) return;
  core.jobs.push({ session: name, worker: null });
}

export function takeJob(core: Core, workerName: WorkerName, name: SessionName): void {
  const job = core.jobs.find((candidate) => candidate.worker === null && candidate.session === name);
  if (job) job.worker = workerName;
  Object.assign(core.workers[workerName], { at: 'claim', session: name });
}

/** K3: only without a live lease, and only when there is something to do. */
export function claim(core: Core, rules: Rules, workerName: WorkerName, name: SessionName): void {
  const claimed = core.sessions[name];
  const claimer = core.workers[workerName];
  claimer.at = 'done';
  if (claimed.lease !== null && !rules.has('claim-ignores-lease')) return;
  if (!isRunnable(core, rules, name)) return;
  if (claimed.lease !== null) core.incident = 'a live lease was taken';
  const turn = currentTurn(core, name);
  if (turn) resume(core, turn);
  else openNext(core, rules, name);
  claimed.epoch += 1;
  claimed.lease = { worker: workerName, epoch: claimed.epoch };
  Object.assign(claimer, { at: 'turn', epoch: claimed.epoch });
}

function resume(core: Core, turn: Turn): void {
  if (turn.isParked && turn.waits.includes('pending')) core.incident = 'a parked turn went on before its waits were decided';
  turn.isParked = false;
}

/** Opens the turn of the next admissible entry; false when there is none. */
function openNext(core: Core, rules: Rules, name: SessionName): boolean {
  const { queue, turns } = core.sessions[name];
  const entry = findAdmissible(core, rules, name);
  if (!entry) return false;
  entry.turn = turns.length;
  turns.push({
    entry: queue.indexOf(entry),
    kind: entry.kind,
    wasGated: isGated(core, name),
    isOpen: true,
    progress: 0,
    endedByQuestion: false,
    isParked: false,
    waits: [],
  });
  return true;
}

/** K4: a write counts only under the lease with which its writer started. */
export function holdsLease(core: Core, rules: Rules, { session: name, epoch }: Worker): boolean {
  if (name !== null && core.sessions[name].lease?.epoch === epoch) return true;
  if (!rules.has('no-fence')) return false;
  core.incident = 'a write without the lease';
  return true;
}

/** K5: closing the turn, draining the next entry and releasing the lease are one transaction. K6b decides by the turn, not by now. */
export function settle(core: Core, rules: Rules, name: SessionName, turn: Turn): void {
  turn.isOpen = false;
  const hasAsked = rules.has('settle-by-status') ? core.question?.status === 'pending' : turn.endedByQuestion;
  if (name === 'child' && turn.kind === 'prompt' && core.questions > 0 && !hasAsked) {
    core.incident = 'the workflow moved on a turn that ended by asking';
  }
  if (!rules.has('no-drain') && openNext(core, rules, name)) return;
  core.sessions[name].lease = null;
}

/** K7: an ask is idempotent under its key; K6b: it marks its turn. */
export function ask(core: Core, rules: Rules, turn: Turn): void {
  if (core.questions > 0 && !rules.has('ask-not-idempotent')) return;
  core.question = { status: 'pending', answers: 0 };
  core.questions += 1;
  turn.endedByQuestion = true;
  enqueue(core, rules, 'parent', 'question');
}

/** K8: one conditional update from pending, and what it triggers in the same transaction. */
export function answer(core: Core, rules: Rules): void {
  const { question } = core;
  if (question === null || (question.status !== 'pending' && !rules.has('answer-not-conditional'))) return;
  question.status = 'answered';
  question.answers += 1;
  enqueue(core, rules, 'child', 'answer');
}

/** K8 and K9: the question of a parent that is gone becomes stale, and its live child is told. */
export function makeStale(core: Core, rules: Rules): void {
  if (core.question?.status !== 'pending') return;
  core.question.status = 'stale';
  if (!rules.has('stale-without-notice')) enqueue(core, rules, 'child', 'notice');
}

export function completeJob(core: Core, workerName: WorkerName): void {
  core.jobs = core.jobs.filter((job) => job.worker !== workerName);
  Object.assign(core.workers[workerName], { at: 'idle', session: null, epoch: 0, hasCalled: false });
}

/** A killed worker's job is gone with it: we do not rely on the queue to give it back. Only an id of the session would stay in the way. */
export function kill(core: Core, rules: Rules, workerName: WorkerName): void {
  core.workers[workerName].isAlive = false;
  if (!rules.has('job-id-session')) core.jobs = core.jobs.filter((job) => job.worker !== workerName);
}

/** Frees a lease and announces the session (K10). */
export function freeLease(core: Core, name: SessionName): void {
  core.sessions[name].lease = null;
  core.outbox.push(name);
}
