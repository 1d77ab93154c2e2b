import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import type { AgentScript } from '@echelon/scripted-model';
import { Headless } from '../../../../test/support/headless.js';
import type { OutputFrame } from './frames.js';

let headless: Headless;
const open = async (script: AgentScript): Promise<Headless> => (headless = await Headless.open(script));
afterEach(() => headless.close());

const SCHEMA = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}';
const gives = (id: string, n: unknown) => ({ name: 'structured_output', arguments: { n }, id });
const statuses = (frames: readonly OutputFrame[]): readonly string[] =>
  frames.flatMap((frame) =>
    frame.type === 'user'
      ? frame.message.content.flatMap((block) => (block.type === 'tool_result' ? [`${block.tool_use_id} ${block.status}`] : []))
      : [],
  );

test('the first valid result ends the run; its siblings do not run, and say so [G8.32]', async () => {
  const write = { name: 'write_file', arguments: { path: 'a.txt', content: 'a' }, id: 'c1' };
  await open([{ toolCalls: [write, gives('c2', 1), gives('c3', 2)] }, { text: 'Never.' }]);
  const { result, frames, code } = await headless.play('-p', 'Count.', '--json-schema', SCHEMA, '--mode', 'full_access');
  expect(result).toMatchObject({ subtype: 'success', stop_reason: 'surface_ended', structured_result: { n: 1 } });
  expect(statuses(frames)).toEqual(['c1 not_executed', 'c2 succeeded', 'c3 not_executed']);
  expect([existsSync(path.join(headless.folder, 'a.txt')), headless.model.requestCount, code]).toEqual([false, 1, 0]);
});

test('a result that does not fit is told to the model, twice, and the third counts', async () => {
  await open([{ toolCalls: [gives('c1', 'one')] }, { toolCalls: [gives('c2', null)] }, { toolCalls: [gives('c3', 3)] }]);
  const run = headless.start('-p', 'Count.', '--json-schema', SCHEMA);
  const { code, stdout } = await run.output();
  expect([code, stdout]).toEqual([0, '{"n":3}\n']);
  expect(JSON.stringify(headless.requests()[1])).toContain('n: ');
});

test('a model that ends without a result is reminded once; then the run has failed', async () => {
  await open(() => ({ text: 'Three.' }));
  const { result, code } = await headless.play('-p', 'Count.', '--json-schema', SCHEMA);
  expect([result.subtype, result.structured_result, result.stop_reason, code]).toEqual(['error_structured_output', null, 'completed', 1]);
  expect(headless.model.requestCount).toBe(2);
});
