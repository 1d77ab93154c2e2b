/** A prompt that was run ahead on an overlay and is then said: what comes of it is what a run now would have come to. */
import { AgentSession, SessionStore } from '@echelon/agent-session';
import { speculating } from '../parity-model.js';
import type { Run, Surface, Told } from '../scenario.js';
import type { Stage } from './index.js';
import { approverOf, limitsOf, settingsOf } from './own-process.js';

export function createSpeculationSurface({ modelUrl, data }: Stage): Promise<Surface> {
  const store = SessionStore.open(data);
  return Promise.resolve({
    name: 'speculation',
    stopsAs: ({ reason }) => reason,
    run: (run) => play(store, modelUrl, run),
    close: () => Promise.resolve(store.close()),
  });
}

async function play(store: SessionStore, modelUrl: string, run: Run): Promise<Told> {
  const { scenario, folder } = run;
  const settings = { ...settingsOf(run, modelUrl, speculating), speculate: true };
  const session = AgentSession.create(store, folder, settings);
  const surface = { signal: new AbortController().signal, limits: limitsOf(scenario), approve: approverOf(scenario) };
  try {
    await session.prompt([{ type: 'text', text: 'Begin.' }], surface);
    await session.speculate(surface)?.result;
    const { stop, lastResponse } = await session.prompt([{ type: 'text', text: 'Go.' }], surface);
    return { stops: [stop.reason], texts: [lastResponse?.text ?? ''] };
  } finally {
    session.close();
  }
}
