/** Claims, settlements, stops and lost leases (K3, K5, K10, K13, K18, K22). */
import { type Predictions, refuseTurn, taskOf } from './authority.js';
import { hasWaits, isEnded, type Model, named, nextWork, openEntry, openTurn, type Session, settleTask, stateAfter } from './model.js';
import { followUp, settle, stopTurn } from './model-endings.js';

export const WORK: Predictions<'claim' | 'end' | 'signal' | 'stop_turn' | 'auto_run' | 'lose_lease' | 'sweep' | 'back_off_passes'> = {
  claim(m, { session: name }) {
    const session = named(m.sessions, name);
    const next = nextWork(m, session);
    if (session.lease !== 'none' || !next) return 'nothing';
    if ('kind' in next) openEntry(session, next);
    else Object.assign(next, { isParked: false, isBackingOff: false });
    Object.assign(session, { state: 'running', lease: 'live', epoch: session.epoch + 1 });
    const task = named(m.tasks, session.task);
    task.state = stateAfter(task, 'start') ?? task.state;
    m.claims[name] = { epoch: session.epoch, turn: session.turns.length - 1 };
    return 'claimed';
  },

  end(m, { session: name, epoch, how, drains }) {
    const session = named(m.sessions, name);
    const turn = openTurn(session);
    if (session.lease === 'none' || session.epoch !== epoch || !turn) return 'lost';
    if (!turn.isStopping && how === 'parked') return park(m, session);
    if (turn.isStopping || how !== 'handed_over') {
      const then = settle(m, session, turn, { outcome: turn.isStopping ? 'stopped' : how, drains });
      if (then === 'run') m.claims[name] = { epoch, turn: session.turns.length - 1 };
      return then;
    }
    Object.assign(session, { state: 'idle', lease: 'none' });
    return 'released';
  },

  signal(m, { by }) {
    const turn = openTurn(named(m.sessions, by.session));
    if (!turn) return 'NO_SIGNAL_EXPECTED';
    const refusal = refuseTurn(m, by);
    if (refusal) return refusal;
    const isFirst = !turn.isSignalled;
    turn.isSignalled = true;
    return isFirst ? 'accepted' : 'already_signaled';
  },

  stop_turn(m, { by, session: name, turn: number }) {
    const session = named(m.sessions, name);
    const turn = session.turns[number];
    if (by.kind === 'agent' && taskOf(m, by) !== named(m.tasks, session.task).parent) return 'NOT_DIRECT_PARENT';
    if (!turn || turn.outcome !== null || turn.isStopping) return 'stopped';
    session.autoRun = false;
    if (stopTurn(m, session, turn)) followUp(m, session);
    return 'stopped';
  },

  auto_run(m, { by, session: name, on }) {
    const session = named(m.sessions, name);
    if (by.kind === 'agent' && taskOf(m, by) !== named(m.tasks, session.task).parent) return 'NOT_DIRECT_PARENT';
    if (isEnded(session)) return 'SESSION_TERMINAL';
    session.autoRun = on;
    return 'set';
  },

  lose_lease(m, { session: name }) {
    const session = named(m.sessions, name);
    if (session.lease !== 'live') return 'nothing';
    session.lease = 'void';
    return 'lost';
  },

  sweep(m, { session: name }) {
    const session = named(m.sessions, name);
    if (session.lease !== 'void') return 'nothing';
    Object.assign(session, { state: 'idle', lease: 'none' });
    const turn = openTurn(session);
    if (!turn) return 'freed';
    turn.takeovers += 1;
    if (turn.takeovers >= 3) settle(m, session, turn, { outcome: 'interrupted', drains: false });
    else turn.isBackingOff = turn.takeovers === 2;
    return 'freed';
  },

  back_off_passes(m, { session: name }) {
    const turn = openTurn(named(m.sessions, name));
    if (!turn?.isBackingOff) return 'nothing';
    turn.isBackingOff = false;
    return 'passed';
  },
};

function park(m: Model, session: Session): string {
  if (!hasWaits(m, session)) return 'resume';
  const turn = openTurn(session);
  if (turn) turn.isParked = true;
  Object.assign(session, { state: 'parked', lease: 'none' });
  settleTask(m, session, 'wait');
  return 'released';
}
