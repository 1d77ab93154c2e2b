/** A session with a turn behind it, over a model that can guess the next prompt: what specs of runs ahead begin with. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { TextPart } from '@echelon/agent-loop';
import type { AgentSession, SessionSettings, Speculation } from '@echelon/agent-session';
import type { ScriptedRequest, ScriptedResponse } from '@echelon/scripted-model';
import { LocalSessions } from './local-sessions.js';

export const GUESS = 'Now write b.txt.';

export const text = (words: string): readonly TextPart[] => [{ type: 'text', text: words }];
export const call = (name: string, id: string, args: object) => ({ name, arguments: { ...args }, id });
export const write = (file: string, id: string) => call('write_file', id, { path: file, content: `${file}\n` });

export type Answers = readonly ScriptedResponse[];

/** Answers the question for the next prompt with the guess, the first prompt with a file, and the guess with the answers, in order. */
function scriptOf(answers: Answers, guess: ScriptedResponse = { text: GUESS }) {
  let repeated = 0;
  return ({ messages }: ScriptedRequest): ScriptedResponse => {
    const said = messages.findLast(({ role }) => role === 'user')?.text ?? '';
    if (said.startsWith('Host note: the person has not said anything new')) return guess;
    if (said !== GUESS) return messages.at(-1)?.role === 'tool' ? { text: 'Written.' } : { toolCalls: [write('a.txt', 'a1')] };
    const from = messages.findLastIndex(({ role }) => role === 'user');
    const round = messages.slice(from).filter(({ role }) => role === 'assistant').length;
    const answer = answers[round] ?? { text: 'Done.' };
    // A fault strikes the first request only.
    return answer.faults !== undefined && repeated++ > 0 ? { text: 'Fresh.' } : answer;
  };
}

let opened: LocalSessions[] = [];

export interface Stage {
  readonly sessions: LocalSessions;
  readonly session: AgentSession;
}

/** A session after its first turn. */
export async function stage(answers: Answers, changes: Partial<SessionSettings> = {}, guess?: ScriptedResponse): Promise<Stage> {
  const sessions = await LocalSessions.open(scriptOf(answers, guess));
  opened.push(sessions);
  const session = sessions.create({ speculate: true, ...changes });
  await session.prompt(text('Write a.txt.'), sessions.surface());
  return { sessions, session };
}

export function ahead({ session, sessions }: Stage): Speculation {
  const speculation = session.speculate(sessions.surface());
  if (speculation === null) throw new Error('Nothing was run ahead');
  return speculation;
}

export function filesOf({ sessions }: Stage): Record<string, string> {
  const names = readdirSync(sessions.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    names
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [path.relative(sessions.folder, file), readFileSync(file, 'utf8')]),
  );
}

export function overlaysOf({ sessions }: Stage): readonly string[] {
  const folder = path.join(sessions.data, 'overlays');
  return existsSync(folder) ? readdirSync(folder) : [];
}

export function seenOf(of: Stage): object {
  return { files: filesOf(of), records: of.sessions.store.read(of.session.id), history: [...of.session.history] };
}

/** The same prompts with nothing run ahead. */
export async function realRun(answers: Answers, changes: Partial<SessionSettings> = {}): Promise<Stage> {
  const real = await stage(answers, { speculate: false, ...changes });
  await real.session.prompt(text(GUESS), real.sessions.surface());
  return real;
}

export async function closeStages(): Promise<void> {
  for (const sessions of opened) await sessions.close();
  opened = [];
}
