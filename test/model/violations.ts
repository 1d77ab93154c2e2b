import { type Core, type SessionName, type Turn, WORKERS } from './core.js';

/** What is wrong with a state: some facts in any, some only where nothing but faults could still happen. */
export function violations(core: Core, isQuiet: boolean): readonly string[] {
  return [...alwaysWrong(core), ...(isQuiet && areWorkersIdle(core) ? wrongWhenQuiet(core) : [])];
}

/** What must not be the case in any state. */
function alwaysWrong(core: Core): readonly string[] {
  const wrong = core.names.flatMap((name) => [...wrongOfSession(core, name), ...wrongOfQuestion(core, name)]);
  return [core.incident ?? false, ...wrong].filter((fact) => typeof fact === 'string');
}

function wrongOfSession({ sessions }: Core, name: SessionName): (string | false)[] {
  const { turns } = sessions[name];
  const opened = turns.map(({ entry }) => entry);
  return [
    turns.filter(({ isOpen }) => isOpen).length > 1 && `${name} has two open turns`,
    new Set(opened).size !== opened.length && `an entry of ${name} opened two turns`,
    turns.some(({ kind, wasGated }) => (kind === 'peer' || kind === 'question') && wasGated) && 'an ordinary entry overtook the decision',
  ];
}

function wrongOfQuestion({ sessions, questions }: Core, name: SessionName): (string | false)[] {
  const question = questions[name];
  if (!question) return [];
  const later = sessions[name].turns.slice(question.turn + 1);
  return [
    question.asks > 1 && 'two questions for one ask',
    question.answers > 1 && 'two answers accepted',
    later.filter(({ kind }) => kind === 'answer').length > 1 && 'the answer opened two child turns',
    question.status === 'superseded' && hasTurn(later, 'answer') && hasTurn(later, 'message') && 'a superseded question was answered',
  ];
}

/** What must not be left when nothing but faults could still happen. */
function wrongWhenQuiet({ names, gone, sessions, questions }: Core): readonly string[] {
  const wrong: (string | false)[] = names.flatMap((name) => {
    const { queue, turns, lease } = sessions[name];
    const question = questions[name];
    return [
      queue.some(({ turn }) => turn === null) && `${name} is quiet with an undelivered entry`,
      turns.some(({ isOpen }) => isOpen) && `${name} is quiet with an open turn`,
      lease !== null && `${name} is quiet with a lease`,
      question?.status === 'pending' && `the ${name} waits for nobody`,
      question?.status === 'stale' &&
        !gone.includes(name) &&
        !hasTurn(turns.slice(question.turn + 1), 'notice') &&
        `the question is stale and the ${name} was not told`,
    ];
  });
  return wrong.filter((fact) => fact !== false);
}

function areWorkersIdle({ workers }: Core): boolean {
  return WORKERS.every((name) => !workers[name].isAlive || workers[name].at === 'idle');
}

const hasTurn = (turns: readonly Turn[], wanted: Turn['kind']): boolean => turns.some(({ kind }) => kind === wanted);
