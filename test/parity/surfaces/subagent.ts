/** A subagent: an agent of this machine hands it the prompt, and its requests alone are looked at. */
import { AgentSession, SessionStore } from '@echelon/agent-session';
import { delegating, DELEGATION } from '../parity-model.js';
import type { Run, Surface, Told } from '../scenario.js';
import type { Stage } from './index.js';
import { approverOf, limitsOf, settingsOf } from './own-process.js';

export function createSubagentSurface({ modelUrl, data }: Stage): Promise<Surface> {
  const store = SessionStore.open(data);
  return Promise.resolve({
    name: 'subagent',
    stopsAs: ({ reason }) => reason,
    run: (run) => play(store, modelUrl, run),
    close: () => Promise.resolve(store.close()),
  });
}

async function play(store: SessionStore, modelUrl: string, run: Run): Promise<Told> {
  const { scenario, folder, due } = run;
  const session = AgentSession.create(store, folder, settingsOf(run, modelUrl, delegating));
  const cancelled = new AbortController();
  if (scenario.cancel) void due(scenario.cancel).then(() => cancelled.abort());
  const told = { stops: [] as string[], texts: [] as string[] };
  try {
    await session.prompt([{ type: 'text', text: 'Delegate.' }], {
      signal: cancelled.signal,
      limits: limitsOf(scenario),
      approve: approverOf(scenario),
      onEvent: (event) => {
        if (event.type !== 'tool_settled' || event.callId !== DELEGATION) return;
        told.stops.push((event.structured?.stop as string | undefined) ?? event.status);
        told.texts.push(event.status === 'succeeded' ? event.text : (event.text.split('What it said last:\n')[1] ?? ''));
      },
    });
    return told;
  } finally {
    session.close();
  }
}
