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

const source = import.meta.dirname;
const files = readdirSync(source).filter((name) => name.endsWith('.ts') && !/\.(spec|deep)\.ts$/.test(name));

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

test.each([
  ['caller of the model port', /\.stream\(/g],
  ['call site of the result finalizer', /await finalizeResults\(/g],
  ['turn-cap formula', /cap !== null && count > cap/g],
  ['caller of the tool port', /\.execute\(/g],
  ['loop', /while \(stop === null\)/g],
])('there is one %s', (_name, pattern) => {
  const found = files.flatMap((name) => readFileSync(path.join(source, name), 'utf8').match(pattern) ?? []);
  expect(found).toHaveLength(1);
});
