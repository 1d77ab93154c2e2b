import { type Core, SESSIONS, WORKERS } from './core.js';

/** What must not be the case in any state. */
export function alwaysWrong({ sessions, question, questions, incident }: Core): readonly string[] {
  const { turns } = sessions.child;
  const wrong: (string | false)[] = SESSIONS.flatMap((name) => {
    const opened = sessions[name].turns.map(({ entry }) => entry);
    return [
      sessions[name].turns.filter(({ isOpen }) => isOpen).length > 1 && `${name} has two open turns`,
      new Set(opened).size !== opened.length && `an entry of ${name} opened two turns`,
    ];
  });
  wrong.push(
    incident ?? false,
    turns.some(({ kind, wasGated }) => kind === 'peer' && wasGated) && 'an ordinary entry overtook the decision',
    questions > 1 && 'two questions for one ask',
    question !== null && question.answers > 1 && 'two answers accepted',
    turns.filter(({ kind }) => kind === 'answer').length > 1 && 'the answer opened two child turns',
    question?.status === 'superseded' && hasTurn(turns, 'answer') && hasTurn(turns, 'message') && 'a superseded question was answered',
  );
  return wrong.filter((fact) => fact !== false);
}

/** What must not be left when nothing but faults could still happen. */
export function wrongWhenQuiet({ sessions, question }: Core): readonly string[] {
  const wrong: (string | false)[] = SESSIONS.flatMap((name) => [
    sessions[name].queue.some(({ turn }) => turn === null) && `${name} is quiet with an undelivered entry`,
    sessions[name].turns.some(({ isOpen }) => isOpen) && `${name} is quiet with an open turn`,
    sessions[name].lease !== null && `${name} is quiet with a lease`,
  ]);
  wrong.push(
    question?.status === 'pending' && 'the child waits for nobody',
    question?.status === 'stale' && !hasTurn(sessions.child.turns, 'notice') && 'the question is stale and the child was not told',
  );
  return wrong.filter((fact) => fact !== false);
}

export function areWorkersIdle({ workers }: Core): boolean {
  return WORKERS.every((name) => !workers[name].isAlive || workers[name].at === 'idle');
}

const hasTurn = (turns: Core['sessions']['child']['turns'], wanted: string): boolean => turns.some(({ kind }) => kind === wanted);
