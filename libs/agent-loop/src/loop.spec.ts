import { describe, expect, test } from '@jest/globals';
import { volatileJournal } from './journal-port.js';
import { MemoryJournal } from './testing/memory-journal.js';
import { outline, play } from './testing/run.js';
import { call, calls, failure, finish, says, scriptedClient, text, thought, usage } from './testing/scripted-client.js';
import { said, tool } from './testing/tools.js';

describe('plain runs', () => {
  test('a text response completes the turn [G3.2][G8.1]', async () => {
    const run = await play([says('hello')]);
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(run.rounds).toBe(1);
    expect(run.lastResponse?.text).toBe('hello');
    expect(outline(run.history)).toEqual(['user: go', 'assistant: hello']);
  });

  test('events reach the surface unchanged and in order [G2.11][G4.1][G8.2]', async () => {
    const script = [thought('hm'), text('a'), text('b'), finish('stop')];
    const run = await play([script]);
    expect(run.events).toEqual(script);
    expect(run.history.at(-1)).toEqual({
      role: 'assistant',
      parts: [
        { type: 'thought', text: 'hm' },
        { type: 'text', text: 'ab' },
      ],
    });
  });

  test('tool results go back and the model goes on [G6.1][G8.3][G8.4]', async () => {
    const run = await play([calls(text('look'), call('c1', 'read', { value: 'x' })), says('done')]);
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(outline(run.history)).toEqual(['user: go', 'assistant: look | read#c1', 'tool: #c1', 'assistant: done']);
    expect(run.client.requests[1]?.messages).toEqual(run.history.slice(0, 3));
  });

  test('two hundred useful rounds all run: there is no round cap [W1]', async () => {
    const rounds = Array.from({ length: 200 }, (_, round) => calls(call(`c${round}`, 'read', { value: `${round}` })));
    const run = await play([...rounds, says('done')]);
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(run.rounds).toBe(201);
    expect(run.context.started).toHaveLength(200);
  });

  test('history goes to the client by reference and the system prompt never changes [W10]', async () => {
    const seen = new Set<unknown>();
    const scripts = [calls(call('c1', 'read')), calls(call('c2', 'read')), says('done')];
    let round = 0;
    const client = {
      requests: [],
      async *stream(request: { readonly messages: unknown; readonly system: string }) {
        seen.add(request.messages).add(request.system);
        yield* (scripts[round++] ?? []) as never[];
      },
    };
    await play(client);
    expect(seen.size).toBe(2);
  });
});

describe('empty responses', () => {
  test('a wholly empty first response is asked for once more [G4.8][G8.21]', async () => {
    const run = await play([[finish('stop')], says('hi')]);
    expect(run.stop).toEqual({ reason: 'completed' });
    expect(run.events).toContainEqual({ type: 'retry', cause: 'empty_response', delayMs: 500, failure: null });
    expect(run.history).toHaveLength(2);
  });

  test.each([
    ['nothing', [finish('stop')]],
    ['only white space', [text(' \n'), finish('stop')]],
    ['only a thought', [thought('hm'), finish('stop')]],
  ])('a response with %s is completed_empty, never a success with text [W3]', async (_name, script) => {
    const run = await play([script, script]);
    expect(run.stop).toEqual({ reason: 'completed_empty', toolsAnswered: false });
  });

  test('an empty end after tools says that tools answered [W3]', async () => {
    const run = await play([calls(call('c1', 'read')), [finish('stop')]]);
    expect(run.stop).toEqual({ reason: 'completed_empty', toolsAnswered: true });
    expect(run.client.requests).toHaveLength(2);
  });
});

describe('finish reasons', () => {
  test('output limit with calls runs nothing, asks nobody and keeps the text [W5][G8.18]', async () => {
    const asked: string[] = [];
    const permissions = {
      check: () => ({ decision: 'ask', grant: 'g', needsInteraction: false }) as const,
      ask: () => Promise.reject(new Error('asked')),
    };
    const run = await play([[text('so '), call('c1', 'write'), finish('length')]], { policies: { permissions } });
    expect(run.stop).toEqual({ reason: 'output_limit' });
    expect([run.context.started, asked]).toEqual([[], []]);
    expect(outline(run.history)).toEqual(['user: go', 'assistant: so ']);
    expect(run.unrecorded.response).toMatchObject({ reason: 'output_limit', rawReason: 'length', calls: [] });
  });

  test.each([
    ['unfinished arguments', call('c1', 'write', '{"value":"x'), usage()],
    ['a completion as long as the limit', call('c1', 'write'), usage(100, 50)],
  ])('tool_calls with %s are a hidden output limit [G4.5][G8.18]', async (_name, made, used) => {
    const client = scriptedClient([[made, finish('tool_calls', used)]]);
    const run = await play(client, { models: [{ client, model: 'm1', maxOutputTokens: 50 }] });
    expect(run.stop).toEqual({ reason: 'output_limit' });
    expect(run.context.started).toEqual([]);
  });

  test('a long text is escalated once to the ceiling, then continued three times [G4.13][G8.18]', async () => {
    const cut = (part: string) => [text(part), finish('length')];
    const client = scriptedClient(['short', '1', '2', '3', '4'].map(cut));
    const run = await play(client, { models: [{ client, model: 'm1', maxOutputTokens: 10, outputCeiling: 20 }] });
    expect(run.stop).toEqual({ reason: 'output_limit' });
    const limits = client.requests.map((request) => request.maxOutputTokens);
    expect(limits).toEqual([10, 20, 20, 20, 20]);
    expect(run.history.filter((message) => message.role === 'assistant')).toHaveLength(4);
  });

  test('a filtered response stops with its own reason and runs no call', async () => {
    const run = await play([[text('I'), call('c1', 'write'), finish('content_filter')]]);
    expect(run.stop).toEqual({ reason: 'content_filtered' });
    expect(run.context.started).toEqual([]);
  });

  test('an unknown finish ends a text and never runs a call', async () => {
    const ended = await play([[text('ok'), finish('eos')]]);
    expect(ended.stop).toEqual({ reason: 'completed' });
    const withCall = await play([[call('c1', 'read'), finish('eos')]]);
    expect(withCall.stop).toMatchObject({ reason: 'error', kind: 'unknown_finish' });
    expect(withCall.context.started).toEqual([]);
  });

  test('a malformed tool format is repeated once with a note for that round only [W8][G8.20]', async () => {
    const broken = [text('<tool_call>{"name":"read"}'), finish('stop')];
    const run = await play([broken, calls(call('c1', 'read')), says('done')]);
    expect(run.stop).toEqual({ reason: 'completed' });
    const [first, second, third] = run.client.requests;
    expect(outline(second?.messages ?? []).at(-1)).toMatch(/^user: Host note/);
    expect(second?.system).toBe(first?.system);
    expect(outline(third?.messages ?? [])).toEqual(['user: go', 'assistant: read#c1', 'tool: #c1']);
  });

  test.each([
    ['calls announced and not made', [text('x'), finish('tool_calls')]],
    ['the provider says so', [finish('MALFORMED_FUNCTION_CALL')]],
  ])('a second malformed format in a turn stops it: %s [W8][G8.20]', async (_name, broken) => {
    const run = await play([broken, broken]);
    expect(run.stop).toEqual({ reason: 'tool_format' });
    expect(run.client.requests).toHaveLength(2);
  });
});

describe('boundary input', () => {
  test('results come first, then the Leads, in save order and exactly once [G6.1][L6][L8][G8.33]', async () => {
    const journal = new MemoryJournal();
    const slow = tool('slow', { execute: () => (journal.leads.push('one', 'two'), Promise.resolve(said('ok'))) });
    const run = await play([calls(call('c1', 'slow')), calls(call('c2', 'slow', { value: 'b' })), says('done')], {
      journal,
      tools: [slow],
    });
    expect(outline(run.client.requests[1]?.messages ?? [])).toEqual([
      'user: go',
      'assistant: slow#c1',
      'tool: #c1',
      'user: one',
      'user: two',
    ]);
    expect(outline(run.history).filter((line) => line === 'user: one')).toHaveLength(2);
  });

  test('a surface without a journal hands over its own input after a batch, and none at a call-free response [G2.7]', async () => {
    const queue = ['typed meanwhile'];
    const journal = volatileJournal(({ sendType }) => {
      const taken = sendType === 'tool_result' ? queue.splice(0) : [];
      return taken.map((said) => ({ role: 'user', parts: [{ type: 'text', text: said }] }));
    });
    const run = await play([calls(call('c1', 'read')), [{ type: 'do', run: () => queue.push('too late') }, ...says('done')]], { journal });
    expect(outline(run.history)).toEqual(['user: go', 'assistant: read#c1', 'tool: #c1', 'user: typed meanwhile', 'assistant: done']);
    expect(queue).toEqual(['too late']);
  });

  test('a Lead at a call-free response goes on instead of ending the turn [L2]', async () => {
    const journal = new MemoryJournal();
    let pending = false;
    const leadPending = () => pending;
    const first = [text('done?'), { type: 'do', run: () => (journal.leads.push('also this'), (pending = true)) } as const, finish('stop')];
    const second = [{ type: 'do', run: () => (pending = false) } as const, ...says('done')];
    const run = await play([first, second], { journal, leadPending });
    expect(outline(run.history)).toEqual(['user: go', 'assistant: done?', 'user: also this', 'assistant: done']);
    expect(run.stop).toEqual({ reason: 'completed' });
  });

  test('a request that failed and is sent again carries the same Lead once, and a new one too [L7][L22]', async () => {
    const journal = new MemoryJournal();
    journal.leads.push('one');
    const down = [{ type: 'do', run: () => journal.leads.push('two') } as const, failure({ status: 503 })];
    const run = await play([down, says('ok')], { journal });
    expect(run.client.requests.map((request) => outline(request.messages))).toEqual([
      ['user: go', 'user: one'],
      ['user: go', 'user: one', 'user: two'],
    ]);
  });

  test('an output limit with a pending Lead goes on with the Lead; the cut calls never run [W6]', async () => {
    const journal = new MemoryJournal();
    let pending = false;
    const first = [
      text('so'),
      { type: 'do', run: () => (journal.leads.push('stop that'), (pending = true)) } as const,
      call('c1', 'write'),
      finish('length'),
    ];
    const second = [{ type: 'do', run: () => (pending = false) } as const, ...says('ok')];
    const run = await play([first, second], { journal, leadPending: () => pending });
    expect(outline(run.history)).toEqual(['user: go', 'assistant: so', 'user: stop that', 'assistant: ok']);
    expect(run.context.started).toEqual([]);
  });
});
