/** The chat of a terminal, without its screen: what a person says and answers, and what the transcript shows. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { AgentSession, SessionStore } from '@echelon/agent-session';
import { Chat } from '../../../apps/cli/src/chat/chat.js';
import type { Run, Surface, Told } from '../scenario.js';
import type { Stage } from './index.js';
import { DENIED } from './loop.js';
import { limitsOf, settingsOf } from './own-process.js';

export function createTerminalSurface({ modelUrl, data }: Stage): Promise<Surface> {
  const store = SessionStore.open(data);
  return Promise.resolve({
    name: 'terminal',
    stopsAs: ({ reason }) => reason,
    run: (run) => play(store, modelUrl, run),
    close: () => Promise.resolve(store.close()),
  });
}

async function play(store: SessionStore, modelUrl: string, run: Run): Promise<Told> {
  const { scenario, folder, due } = run;
  const create = (): AgentSession => AgentSession.create(store, folder, settingsOf(run, modelUrl));
  const chat = new Chat({
    session: create(),
    createSession: create,
    forget: () => undefined,
    modelName: 'scripted',
    limits: limitsOf(scenario),
  });
  chat.changes.subscribe(() => answer(chat, scenario));
  if (scenario.cancel) void due(scenario.cancel).then(() => chat.stop());
  if (scenario.input)
    void due(scenario.input).then(() => {
      chat.say(scenario.input?.text ?? '');
      writeFileSync(path.join(folder, 'said'), '');
    });
  for (const prompt of scenario.prompts ?? ['Go.']) await turn(chat, () => chat.say(prompt));
  for (let left = scenario.retries ?? 0; left > 0; left--) await turn(chat, () => chat.retry());
  await chat.leave();
  return tell(chat);
}

async function turn(chat: Chat, begin: () => void): Promise<void> {
  const rested = new Promise<void>((resolve) => {
    const leave = chat.changes.subscribe(() => {
      if (chat.isRunning) return;
      leave();
      resolve();
    });
  });
  begin();
  await rested;
}

function answer(chat: Chat, { answers = {} }: Run['scenario']): void {
  const asked = chat.approval;
  if (asked === null) return;
  const wanted = answers[asked.request.tool] ?? 'allow';
  chat.answer(wanted === 'deny' ? { decision: 'deny', reason: DENIED } : { decision: 'allow', always: wanted === 'always' });
}

/** The last that was said after calls and the words of others, turn by turn. */
function tell(chat: Chat): Told {
  const told = { stops: [] as string[], texts: [] as string[] };
  let text = '';
  for (const item of chat.transcript.items) {
    if (item.type === 'text') text = item.text;
    if (item.type === 'call' || item.type === 'said' || item.type === 'notice') text = '';
    if (item.type !== 'end') continue;
    told.stops.push(item.reason);
    told.texts.push(text);
    text = '';
  }
  return told;
}
