import { afterEach, describe, expect, test } from '@jest/globals';
import type { LoopLimits, ModelMessage, TextPart } from '@echelon/agent-loop';
import { type AgentScript, scriptByAgent } from '@echelon/scripted-model';
import { LocalSessions } from '../../../test/support/local-sessions.js';
import { AgentSession } from './agent-session.js';
import type { SessionSettings } from './session-settings.js';
import { createSubagentLimits } from './subagent/subagent-limits.js';

let sessions: LocalSessions;
const open = async (script: AgentScript): Promise<LocalSessions> => (sessions = await LocalSessions.open(script));

const text = (words: string): readonly TextPart[] => [{ type: 'text', text: words }];
const list = (id: string) => ({ name: 'list_files', arguments: {}, id });
const delegate = (id: string) => ({ name: 'run_subagent', arguments: { description: 'scout', prompt: '[scout] Look.' }, id });
const usage = { inputTokens: 60, outputTokens: 40 };

/** Runs a prompt whose process dies, as far as its records tell, before the request with this number. */
async function dieBeforeRequest(number: number, settings: Partial<SessionSettings>): Promise<AgentSession> {
  const session = sessions.create(settings);
  const { store } = sessions;
  const append = store.append.bind(store);
  let requests = 0;
  store.append = (id, records, at) => {
    if (records.some(({ type }) => type === 'request')) requests++;
    if (requests >= number) throw new Error('The process is dead.');
    append(id, records, at);
  };
  await session.prompt(text('Go.'), sessions.surface());
  store.append = append;
  session.close();
  return AgentSession.open(store, session.id, sessions.settings(settings));
}

const lastText = (history: readonly ModelMessage[], role: ModelMessage['role']): string =>
  JSON.stringify(history.findLast((message) => message.role === role));

afterEach(() => sessions.close());

describe('a resumed turn whose limits are those of the process', () => {
  test.each<[string, LoopLimits]>([
    ['responses', { turnCap: 2 }],
    ['launches', { budgets: { launches: 1 } }],
    ['tokens', { budgets: { tokens: 200 } }],
  ])('has all of its %s, whatever the process that died used, and tells what it used itself', async (_, limits) => {
    const script: AgentScript = [
      { toolCalls: [list('c1')], usage },
      { toolCalls: [{ name: 'write_file', arguments: { path: 'b.txt', content: 'b' }, id: 'c2' }], usage },
      { toolCalls: [list('c3')], usage },
      { text: 'Done.', usage },
    ];
    await open(script);
    const session = await dieBeforeRequest(3, { limitsCount: 'process' });
    const { stop, used } = await session.resume(sessions.surface({ limits }));
    expect([stop.reason, used.launches, used.tokens]).toEqual(['completed', 1, 200]);
  });

  test('ends at them', async () => {
    await open([
      { toolCalls: [list('c1')], usage },
      { toolCalls: [list('c2')], usage },
      { text: 'Never.', usage },
    ]);
    const session = await dieBeforeRequest(2, { limitsCount: 'process' });
    const { stop } = await session.resume(sessions.surface({ limits: { budgets: { tokens: 100 } } }));
    expect(stop).toEqual({ reason: 'budget_exhausted', budget: 'tokens' });
  });
});

test('a resumed turn of a session goes on counting what the process that died used, its subagents’ part included', async () => {
  const root: AgentScript = [
    { toolCalls: [delegate('c1')], usage },
    { text: 'Never.', usage },
  ];
  await open(scriptByAgent({ '[scout]': [{ text: 'Seen.', usage }], 'Go.': root }));
  const session = await dieBeforeRequest(2, {});
  const asked = sessions.model.requestCount;
  const { stop, used } = await session.resume(sessions.surface({ limits: { budgets: { tokens: 200 } } }));
  expect([stop, used.tokens, sessions.model.requestCount]).toEqual([{ reason: 'budget_exhausted', budget: 'tokens' }, 0, asked]);
});

test('what a turn used holds its subagents’ part', async () => {
  const root: AgentScript = [
    { toolCalls: [delegate('c1')], usage },
    { text: 'Done.', usage },
  ];
  await open(scriptByAgent({ '[scout]': [{ text: 'Seen.', usage }], 'Go.': root }));
  const { used, counters } = await sessions.create().prompt(text('Go.'), sessions.surface());
  expect([used.tokens, counters.tokens]).toEqual([300, 200]);
});

test('a subagent starts with what is left of the time of its turn', async () => {
  await open(scriptByAgent({ '[scout]': [{ text: 'Seen.' }], 'Go.': [{ toolCalls: [delegate('c1')] }, { text: 'Never.' }] }));
  const wallTimeMs = 1_000;
  const startedAt = performance.now();
  const session = sessions.create();
  const beforeToolLaunch = async (): Promise<boolean> => {
    while (performance.now() - startedAt < wallTimeMs + 100) await new Promise((resolve) => setTimeout(resolve, 20));
    return true;
  };
  const { stop } = await session.prompt(
    text('Go.'),
    sessions.surface({ limits: { budgets: { wallTimeMs } }, policies: { beforeToolLaunch } }),
  );
  expect(stop).toEqual({ reason: 'budget_exhausted', budget: 'wall_time' });
  expect(lastText(session.history, 'tool')).toContain('the budget of time is spent');
});

test('limits of subagents: budgets and limits of arguments stay, time goes by, caps are the agent’s own', async () => {
  await open([]);
  let now = 500;
  const forArguments = { bytes: 10, levels: 2 };
  const limits: LoopLimits = { turnCap: 3, tokenLimit: 9, budgets: { tokens: 5, wallTimeMs: 1_000 }, arguments: forArguments };
  const limitsNow = createSubagentLimits(limits, 300, { now: () => now });
  expect(limitsNow()).toEqual({ budgets: { tokens: 5, wallTimeMs: 700 }, arguments: forArguments });
  now += 200;
  expect(limitsNow().budgets?.wallTimeMs).toBe(500);
  now += 2_000;
  expect(limitsNow().budgets?.wallTimeMs).toBe(0);
});
