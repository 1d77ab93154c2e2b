/**
 * The actions that all models share. Each is one committed transaction or one queue operation and changes the state that it is given;
 * each says which rule of the protocol it carries out and asks `rules` whether that rule is switched off.
 *
 * K1  rows first            K5  settle drains          K7  one ask
 * K2  one id, one job       K6  gate                   K8  one end
 * K3  claim                 K6b asked is asked         K9  nobody waits for nobody
 * K4  fence                 K10 sweep                  K13 park
 * S9  a question that is over opens no turn of its parent (autopilot-contract.md)
 */
import type { Core, Entry, EntryKind, QuestionId, Rules, SessionName, Turn, Worker, WorkerName } from './core.js';

/** The question that the entry of a turn brought. */
export const openedAbout = (core: Core, name: SessionName, turn: Turn): QuestionId | null =>
  core.sessions[name].queue[turn.entry]?.about ?? null;

export const currentTurn = (core: Core, name: SessionName): Turn | undefined => core.sessions[name].turns.find((turn) => turn.isOpen);

export const isGated = (core: Core, name: SessionName): boolean => core.questions[name]?.status === 'pending';

export const isPending = (core: Core, { asker, turn }: QuestionId): boolean => isGated(core, asker) && core.questions[asker]?.turn === turn;

/** Notices and decisions first, then questions, then the rest (autopilot-contract.md §8). */
const RANKS: Readonly<Record<EntryKind, number>> = { notice: 0, answer: 0, message: 0, question: 2, prompt: 3, peer: 3, reminder: 3 };

/** K6: while a question is pending only its answer is admissible. */
function findAdmissible(core: Core, rules: Rules, name: SessionName): Entry | undefined {
  const isAdmissible = (entry: Entry) => !isGated(core, name) || entry.kind === 'answer' || rules.has('no-gate');
  const admissible = core.sessions[name].queue.filter((entry) => entry.turn === null && isAdmissible(entry));
  return admissible.toSorted((one, other) => RANKS[one.kind] - RANKS[other.kind])[0];
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
export function enqueue(core: Core, rules: Rules, name: SessionName, entry: EntryKind | Pick<Entry, 'kind' | 'about'>): void {
  if (core.gone.includes(name)) core.incident = `an entry for ${name}, which is gone`;
  core.sessions[name].queue.push({ ...(typeof entry === 'string' ? { kind: entry, about: null } : entry), turn: null });
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
  if (entry.kind === 'question' && entry.about && !isPending(core, entry.about))
    core.incident = 'a turn was opened for a question that is over';
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
  const hasAsked = rules.has('settle-by-status') ? isGated(core, name) : turn.endedByQuestion;
  if (core.questions[name]?.turn === core.sessions[name].turns.indexOf(turn) && !hasAsked) {
    core.incident = 'the workflow moved on a turn that ended by asking';
  }
  if (!rules.has('no-drain') && openNext(core, rules, name)) return;
  core.sessions[name].lease = null;
}

/** What asks, and the question that led to it. */
export interface Ask {
  readonly session: SessionName;
  readonly turn: Turn;
  readonly cause?: QuestionId | null;
}

/** K7: an ask is idempotent under its key; K6b: it marks its turn. */
export function ask(core: Core, rules: Rules, { session: name, turn, cause = null }: Ask): void {
  const parent = core.parents[name];
  const asked = core.questions[name];
  const number = core.sessions[name].turns.indexOf(turn);
  const isRepeated = asked?.turn === number;
  if (parent === undefined || (isRepeated && !rules.has('ask-not-idempotent'))) return;
  const asks = isRepeated ? asked.asks + 1 : 1;
  core.questions[name] = { parent, turn: number, cause, asks, status: 'pending', answers: 0 };
  turn.endedByQuestion = true;
  enqueue(core, rules, parent, { kind: 'question', about: { asker: name, turn: number } });
}

/** K8: one conditional update of the named question from pending, and what it triggers in the same transaction. */
export function answer(core: Core, rules: Rules, { asker, turn }: QuestionId): void {
  const question = core.questions[asker];
  if (!question || (question.turn !== turn && !rules.has('answer-by-session'))) return;
  if (question.turn !== turn && question.status === 'pending') core.incident = 'a late answer decided another question';
  if (question.status !== 'pending' && !rules.has('answer-not-conditional')) return;
  question.status = 'answered';
  question.answers += 1;
  enqueue(core, rules, asker, 'answer');
}

/** K8 and K9: a question that nobody can answer any more becomes stale, and its asker is told if it lives. */
export function makeStale(core: Core, rules: Rules, asker: SessionName): void {
  if (!endWithoutAnswer(core, rules, asker, 'stale') || core.gone.includes(asker)) return;
  if (!rules.has('stale-without-notice')) enqueue(core, rules, asker, 'notice');
}

/** K8: an explicit prompt ends the wait, then it is admitted. */
export function supersede(core: Core, rules: Rules, asker: SessionName): void {
  endWithoutAnswer(core, rules, asker, 'superseded');
  enqueue(core, rules, asker, 'message');
}

/** S9: the parent's entry goes with the question. False where none was pending. */
function endWithoutAnswer(core: Core, rules: Rules, asker: SessionName, status: 'superseded' | 'stale'): boolean {
  const question = core.questions[asker];
  if (question?.status !== 'pending') return false;
  question.status = status;
  const told = core.sessions[question.parent].queue.find(
    ({ kind, about, turn }) => kind === 'question' && about?.asker === asker && turn === null,
  );
  if (told && !rules.has('entry-outlives-question')) told.turn = 'cancelled';
  return true;
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
