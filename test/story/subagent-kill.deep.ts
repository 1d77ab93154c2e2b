/** A process that dies while a subagent works: the subagent is not run again, and its agent learns what it had done. */
import { afterEach, expect, test } from '@jest/globals';
import { type Script, scriptByAgent, type ScriptedRequest } from '@echelon/scripted-model';
import { waitFor } from '@echelon/testkit';
import { findViolations } from '../support/invariants.js';
import { MODELS, StoryWorld } from './story-world.js';

const KILLED = { code: null, signal: 'SIGKILL' };
const NOTE = { path: 'note.txt', content: 'The subagent was here.' };
const assignment = { description: 'leave a note', prompt: '[scout] Leave a note.' };

let world: StoryWorld;
afterEach(() => world.close());

const asked: ScriptedRequest[] = [];
const script: Script = (request) => {
  asked.push(request);
  return scriptByAgent({
    '[root]': [{ toolCalls: [{ name: 'run_subagent', arguments: assignment }] }, { text: 'I have looked at what it left.' }],
    '[scout]': [{ text: 'I leave a note.', toolCalls: [{ name: 'write_file', arguments: NOTE }] }, { text: 'The note is there.' }],
  })(request);
};

const requestsOf = (agent: string) => asked.filter(({ messages }) => messages[0]?.text.includes(`[${agent}]`));

test.each([
  ['begun', 'INSERT INTO tool_call[^]*write_file', 'unknown', '- called write_file {"path":"note.txt"'],
  ['stored', 'UPDATE tool_call SET state[^]*was created', 'done', '- write_file answered: '],
])(
  'after a kill when the subagent has %s its effect, its call is unknown with its transcript, and is not run again [G7.13]',
  async (_moment, statement, inner, told) => {
    asked.length = 0;
    world = await StoryWorld.open(script);
    const first = await world.startNode({ when: 'after', statement });
    const { id: workspace_id } = await first.api.workspaces.create({ name: 'story' });
    const profile = await first.api.profiles.create({ workspace_id, name: 'agent', provider: 'scripted', model: MODELS.parent });
    await first.api.tasks.create({ workspace_id, profile_id: profile.id, prompt: '[root] Have a note left.' });
    expect(await world.untilDead(first.program)).toEqual(KILLED);
    const before = requestsOf('scout').length;
    await world.startNode();
    const [turn] = await waitFor('the turn is over', async () => {
      const ended = await world.rows<{ outcome: string }>(`SELECT outcome FROM turn WHERE status = 'finished'`);
      return ended.length > 0 ? ended : null;
    });
    expect(turn?.outcome).toBe('completed');
    expect(requestsOf('scout')).toHaveLength(before);
    const [result] =
      requestsOf('root')
        .at(-1)
        ?.messages.flatMap(({ toolResults }) => toolResults) ?? [];
    expect(result?.text).toMatch(
      /^The outcome of this call is unknown: .* Inspect before retrying\.\n\nWhat the subagent had done until then/,
    );
    expect(result?.text).toContain('- was told: [scout] Leave a note.\n- said: I leave a note.\n');
    expect(result?.text).toContain(told);
    expect(await world.rows('SELECT name, state FROM tool_call ORDER BY thread_id NULLS FIRST')).toEqual([
      { name: 'run_subagent', state: 'unknown' },
      { name: 'write_file', state: inner },
    ]);
    expect(await world.rows(`SELECT state FROM model_request WHERE state = 'prepared'`)).toEqual([]);
    expect(await findViolations(world.database)).toEqual({});
  },
);
