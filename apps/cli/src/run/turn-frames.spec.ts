import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { createModelClient } from '@echelon/model-clients';
import type { ScriptedRequest, ScriptedResponse } from '@echelon/scripted-model';
import type { AgentSession } from '@echelon/agent-session';
import { LocalSessions } from '../../../../test/support/local-sessions.js';
import { OutputFrame } from './frames.js';
import { RunTally } from './run-tally.js';
import { runTurn } from './run-turn.js';

const STEPS = 8;
const WINDOW = 8_000;

let sessions: LocalSessions;
afterEach(() => sessions.close());

/** Reads one file after the other; what is read already stands in results and summaries. */
function readAll({ messages, tools }: ScriptedRequest): ScriptedResponse {
  const done = Math.max(0, ...[...JSON.stringify(messages).matchAll(/\[step (\d+)\]/g)].map(([, step]) => Number(step)));
  if (tools.length === 0) return { text: `All was read up to [step ${done}].` };
  if (done >= STEPS) return { text: 'Read.' };
  return { toolCalls: [{ id: `c${done + 1}`, name: 'read_file', arguments: { path: `${done + 1}.txt` } }] };
}

async function play(session: AgentSession, text: string): Promise<readonly OutputFrame[]> {
  const frames: OutputFrame[] = [];
  const output = { write: (frame: OutputFrame) => void frames.push(OutputFrame.parse(frame)), end: () => undefined };
  await runTurn({
    session,
    work: { kind: 'message', text },
    schema: null,
    limits: {},
    partialMessages: false,
    approve: null,
    output,
    tally: new RunTally(),
    signal: new AbortController().signal,
  });
  return frames;
}

/** Who says what, in order. */
function outline(frames: readonly OutputFrame[]): readonly string[] {
  return frames.flatMap((frame) => {
    if (frame.type === 'system') return [frame.subtype];
    if (frame.type !== 'user' && frame.type !== 'assistant') return [];
    return frame.message.content.map((block) => {
      if (block.type === 'tool_use') return `use ${block.id}`;
      if (block.type === 'tool_result') return `result ${block.tool_use_id}`;
      return 'text' in block ? `${frame.type}: ${block.text}` : block.type;
    });
  });
}

test('what a summary replaces is told once and the summary never, in this turn and the next [G8.37]', async () => {
  sessions = await LocalSessions.open(readAll);
  for (let step = 1; step <= STEPS; step++)
    writeFileSync(path.join(sessions.folder, `${step}.txt`), `[step ${step}]\n${'all of it is done\n'.repeat(250)}`);
  const client = createModelClient({ dialect: 'chat_completions', baseUrl: sessions.model.url });
  const session = sessions.create({ models: [{ client, model: 'scripted', contextWindow: WINDOW }] });
  const told = outline(await play(session, 'Read them.'));
  expect(told.filter((line) => line === 'compacted').length).toBeGreaterThan(1);
  const steps = Array.from({ length: STEPS }, (_, at) => [`use c${at + 1}`, `result c${at + 1}`]).flat();
  expect(told.filter((line) => line !== 'compacted')).toEqual(['user: Read them.', ...steps, 'assistant: Read.']);
  expect(outline(await play(session, 'Again.')).filter((line) => line !== 'compacted')).toEqual(['user: Again.', 'assistant: Read.']);
});
