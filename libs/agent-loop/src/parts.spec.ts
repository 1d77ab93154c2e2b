import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  Barriers,
  CallLedger,
  createToolRegistry,
  Cut,
  LoopGuard,
  OUTPUT_BUDGET,
  RETRY_POLICY,
  runModelRound,
  runToolBatch,
  systemClock,
  volatileJournal,
  type IdentifiedCall,
  type ToolBatchInput,
} from './index.js';
import { ManualClock } from './testing/manual-clock.js';
import { says, scriptedClient } from './testing/scripted-client.js';
import { read, type TestContext } from './testing/tools.js';

const root = path.resolve(import.meta.dirname, '../../..');

describe('the parts', () => {
  test('a model round runs on its own, as titles and compaction need it [G2.4]', async () => {
    const client = scriptedClient([says('A title')]);
    const round = await runModelRound({
      targets: [{ client, model: 'm1' }],
      prepare: ({ target }) => Promise.resolve({ request: { model: target.model, system: '', messages: [], tools: [] } }),
      ledger: new CallLedger(),
      turn: { prefix: 't1', round: 1 },
      clock: systemClock,
      cut: new Cut({ loop: new AbortController().signal }),
      emit: () => undefined,
      retry: RETRY_POLICY,
      retryEmpty: false,
      preparations: false,
    });
    expect(round).toMatchObject({ response: { text: 'A title', reason: 'stop', complete: true } });
  });

  test('a tool batch runs on its own [G5.1]', async () => {
    const call: IdentifiedCall = { callId: 'c1', name: 'read', arguments: '{}', standing: 'fresh', cutOff: false };
    const { signal } = new AbortController();
    const input: ToolBatchInput<TestContext> = {
      calls: [call],
      tools: createToolRegistry([read]),
      context: { started: [], finished: [] },
      policies: {},
      barriers: new Barriers(volatileJournal(), undefined, undefined),
      guard: new LoopGuard(() => false),
      known: { results: new Map(), intended: new Set(), waiting: new Map() },
      signal,
      toolSignal: signal,
      clock: new ManualClock(),
      emit: () => undefined,
      artifacts: null,
      outputBudget: OUTPUT_BUDGET,
      concurrency: 10,
      graceMs: 5_000,
      launchesLeft: Infinity,
      argumentLimits: undefined,
      leadPending: () => false,
    };
    const batch = await runToolBatch(input);
    expect(batch.final?.message.parts).toEqual([{ type: 'tool_result', call_id: 'c1', name: 'read', text: 'read:{}', is_error: false }]);
  });

  test('a registry refuses two tools of one name', () => {
    expect(() => createToolRegistry([read, read])).toThrow('two tools have the same name');
  });

  test('a registry tells models a strict JSON Schema of the arguments [G2.5]', () => {
    const [specification] = createToolRegistry([read]).specifications;
    expect(specification?.parameters).toEqual({
      type: 'object',
      properties: { value: { type: 'string', maxLength: 20 } },
      additionalProperties: false,
    });
  });
});

/** Every source of the product, so that no surface grows a loop of its own (agent-loop.md, "Numbers"). */
const sources = ['libs', 'apps'].flatMap((top) => {
  const names = readdirSync(path.join(root, top), { recursive: true, encoding: 'utf8' });
  return names
    .filter(
      (name) => /\/src\/.*\.tsx?$/.test(name) && !/\.(spec|deep)\.tsx?$|node_modules|\/testing\/|^(testkit|scripted-model)\//.test(name),
    )
    .map((name) => path.join(root, top, name));
});

test.each([
  ['caller of the model port', /\.stream\(/g],
  ['caller of a provider', /\.doStream\(/g],
  ['event mapper', /new EventMapper\(/g],
  ['call site of the result finalizer', /await finalizeResults\(/g],
  ['turn-cap formula', /cap !== null && count > cap/g],
  ['caller of the tool port in the loop', /planned\.tool\.execute\(/g],
  ['loop', /while \(stop === null\)/g],
  ['call site of the tool batch', /await runToolBatch\(/g],
])('in all of the product there is one %s', (_name, pattern) => {
  const found = sources.flatMap((file) => readFileSync(file, 'utf8').match(pattern) ?? []);
  expect(found).toHaveLength(1);
});
