import { describe, expect, test } from '@jest/globals';
import type { Permissions } from '@echelon/agent-loop';
import type { ScriptedFault } from '@echelon/scripted-model';
import { delegateTo, playSubagents, type StageContext, type Staged, stageTool } from '../../../../test/support/subagent-stage.js';

const look = { toolCalls: [{ name: 'look', arguments: {} }] };

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** The requests of one agent, by the mark of its prompt. */
function requestsOf({ requests }: Staged, agent: string): readonly Body[] {
  return requests.map(({ body }) => body as Body).filter(({ messages }) => JSON.stringify(messages[1]).includes(`[${agent}]`));
}

const toolsOf = (body: Body | undefined) => body?.tools?.map((tool) => tool.function.name);

describe('a subagent', () => {
  test('runs with a history of its own and hands back one result', async () => {
    const played = await playSubagents({
      root: [{ toolCalls: [delegateTo('scout')] }, { text: 'Thanks.' }],
      scout: [look, { text: 'It is in the cellar.' }],
    });
    expect(played.stop).toEqual({ reason: 'completed' });
    expect(played.results).toEqual([{ text: 'It is in the cellar.', isError: false }]);
    const [first, second] = requestsOf(played, 'scout');
    expect(first?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(second?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(JSON.stringify(requestsOf(played, 'root'))).not.toContain('look was done');
    expect(JSON.stringify(requestsOf(played, 'scout'))).not.toContain('[root]');
  });

  test('runs beside its siblings; their results stand in the order of the calls', async () => {
    const both = Promise.withResolvers<void>();
    let begun = 0;
    const meet = stageTool('meet', {
      execute: async () => {
        if (++begun === 2) both.resolve();
        await both.promise;
        return { text: 'met', isError: false };
      },
    });
    const meets = { toolCalls: [{ name: 'meet', arguments: {} }] };
    const played = await playSubagents(
      {
        root: [{ toolCalls: [delegateTo('one'), delegateTo('two')] }, { text: 'Both.' }],
        one: [meets, { text: 'First.' }],
        two: [meets, { text: 'Second.' }],
      },
      { tools: [meet] },
    );
    expect(played.results.map(({ text }) => text)).toEqual(['First.', 'Second.']);
  });

  test('that ends without a word is asked for its result once', async () => {
    const played = await playSubagents({
      root: [{ toolCalls: [delegateTo('mute'), delegateTo('shy')] }, { text: 'Well.' }],
      shy: [look, { text: ' ' }, { text: 'Here it is.' }],
      mute: [look, { text: '' }, { text: '' }],
    });
    const [mute, shy] = played.results;
    expect(shy).toEqual({ text: 'Here it is.', isError: false });
    expect(mute).toMatchObject({ isError: true, text: expect.stringMatching(/^The subagent did not complete: it ended without saying/) });
    expect(JSON.stringify(requestsOf(played, 'mute').at(-1)).match(/without a result/g)).toHaveLength(1);
  });

  test('whose answer is cut off and continued hands back all of it', async () => {
    const played = await playSubagents({
      root: [{ toolCalls: [delegateTo('writer')] }, { text: 'Read.' }],
      writer: [look, { text: 'The beginning', finish: 'length' }, { text: ' and the end.' }],
    });
    expect(played.results).toEqual([{ text: 'The beginning and the end.', isError: false }]);
  });

  test('whose model fails is an error that says why, and how far it got', async () => {
    const faults: readonly ScriptedFault[] = [{ kind: 'status', status: 400, body: 'no such model' }];
    const played = await playSubagents({
      root: [{ toolCalls: [delegateTo('unlucky')] }, { text: 'Pity.' }],
      unlucky: [{ ...look, text: 'I look first.' }, { faults }],
    });
    expect(played.stop).toEqual({ reason: 'completed' });
    const [result] = played.results;
    expect(result?.isError).toBe(true);
    expect(result?.text).toMatch(/^The subagent did not complete: model_request: /);
    expect(result?.text).toContain('1 model round and 1 tool call;');
    expect(result?.text).toContain('What it said last:\nI look first.');
  });

  test('whose end cannot be stored is an error', async () => {
    const played = await playSubagents(
      { root: [{ toolCalls: [delegateTo('scout')] }, { text: 'Pity.' }], scout: [{ text: 'Found.' }] },
      { close: () => Promise.reject(new Error('the disk is full')) },
    );
    expect(played.results).toMatchObject([{ isError: true, text: expect.stringContaining('persistence: the disk is full') }]);
  });

  test('is cancelled with the agent that started it', async () => {
    const stop = new AbortController();
    const tools = [stageTool('look', { execute: () => (stop.abort(), Promise.resolve({ text: 'seen', isError: false })) })];
    const agents = { root: [{ toolCalls: [delegateTo('scout')] }], scout: [look, { text: 'Too late.' }] };
    const played = await playSubagents(agents, { tools, signal: stop.signal });
    expect(played.stop).toEqual({ reason: 'cancelled', by: 'signal' });
    expect(played.results).toMatchObject([{ isError: true, text: expect.stringContaining('it was cancelled') }]);
    expect(requestsOf(played, 'scout')).toHaveLength(1);
  });
});

describe('how deep subagents go', () => {
  const agents = {
    root: [{ toolCalls: [delegateTo('one')] }, { text: 'Done.' }],
    one: [{ toolCalls: [delegateTo('two')] }, { text: 'One, by two.' }],
    two: [look, { text: 'Two.' }],
  };

  test('two levels below an agent; the last is not offered the tool', async () => {
    const played = await playSubagents(agents);
    expect(played.results).toEqual([{ text: 'One, by two.', isError: false }]);
    expect(toolsOf(requestsOf(played, 'one')[0])).toEqual(['look', 'run_subagent']);
    expect(toolsOf(requestsOf(played, 'two')[0])).toEqual(['look']);
  });

  test('what the host says otherwise: at its limit a guessed call is an unknown tool', async () => {
    const played = await playSubagents(agents, { depth: 1 });
    expect(toolsOf(requestsOf(played, 'one')[0])).toEqual(['look']);
    expect(JSON.stringify(requestsOf(played, 'one')[1])).toMatch(/no tool|unknown tool/i);
    expect(requestsOf(played, 'two')).toEqual([]);
  });
});

describe('budgets', () => {
  const usage = { inputTokens: 100, outputTokens: 10 };

  test('of rounds are each subagent’s own', async () => {
    const played = await playSubagents(
      {
        root: [{ toolCalls: [delegateTo('busy')] }, { text: 'Enough.' }],
        busy: [look, { toolCalls: [{ name: 'look', arguments: {}, id: 'again' }] }, { text: 'Done.' }],
      },
      { limits: { budgets: { rounds: 2 } } },
    );
    expect(played.results).toMatchObject([{ isError: true, text: expect.stringContaining('the budget of model rounds is spent') }]);
    expect(requestsOf(played, 'busy')).toHaveLength(2);
    expect(played.stop).toEqual({ reason: 'completed' });
  });

  test('of tokens are one for the agent and all below it', async () => {
    const spends = { ...look, usage };
    const played = await playSubagents(
      {
        root: [{ toolCalls: [delegateTo('one')], usage }, { text: 'Never sent.' }],
        one: [{ toolCalls: [delegateTo('two')], usage }, { text: 'Never sent.' }],
        two: [spends, { text: 'Never sent.' }],
      },
      { limits: { budgets: { tokens: 330 } } },
    );
    expect(played.requests).toHaveLength(3);
    expect(played.stop).toEqual({ reason: 'budget_exhausted', budget: 'tokens' });
    expect(played.counters.tokens).toBe(110);
    expect(played.results).toMatchObject([{ isError: true, text: expect.stringContaining('the budget of tokens is spent') }]);
  });
});

describe('calls of a subagent that need an approval', () => {
  const asks = (answers: Permissions<StageContext>['ask']): Permissions<StageContext> => ({
    check: ({ tool }) => (tool.effect === 'write' ? { decision: 'ask', grant: tool.name, needsInteraction: false } : { decision: 'allow' }),
    ask: answers,
  });
  const tools = [stageTool('change', { effect: 'write', concurrencySafe: false })];
  const agents = {
    root: [{ toolCalls: [delegateTo('editor')] }, { text: 'Done.' }],
    editor: [{ toolCalls: [{ name: 'change', arguments: {} }] }, { text: 'Tried.' }],
  };

  test('are denied with a reason where no person is present, and nothing parks [P12]', async () => {
    const asked: string[] = [];
    const permissions = asks(({ call }) => (asked.push(call.name), Promise.resolve({ decision: 'open', waitsFor: 'approval' })));
    const played = await playSubagents(agents, { tools, permissions });
    expect(asked).toEqual([]);
    expect(played.stop).toEqual({ reason: 'completed' });
    expect(JSON.stringify(requestsOf(played, 'editor')[1])).toContain('Denied: this call needs the approval of a person');
  });

  test('are asked through the port of the agent that started it where a person is present [P12]', async () => {
    const asked: string[] = [];
    const permissions = asks(({ call }) => (asked.push(call.name), Promise.resolve({ decision: 'allow', always: false })));
    const played = await playSubagents(agents, { tools, permissions, personPresent: true });
    expect(asked).toEqual(['change']);
    expect(JSON.stringify(requestsOf(played, 'editor')[1])).toContain('change was done');
  });
});

describe('what people see of a subagent', () => {
  test('is who uses which tool, of its own subagents too', async () => {
    const played = await playSubagents({
      root: [{ toolCalls: [delegateTo('one', 'search the house')] }, { text: 'Done.' }],
      one: [{ toolCalls: [delegateTo('two', 'search the cellar')] }, { text: 'One.' }],
      two: [look, { text: 'Two.' }],
    });
    expect(played.output).toBe('search the house: run_subagent\nsearch the house: search the cellar: look\n');
  });

  test('is at most 200 lines', async () => {
    const calls = Array.from({ length: 250 }, (_, at) => ({ name: 'look', arguments: {}, id: `look-${at}` }));
    const played = await playSubagents(
      { root: [{ toolCalls: [delegateTo('busy')] }, { text: 'Done.' }], busy: [{ toolCalls: calls }, { text: 'Looked.' }] },
      { tools: [stageTool('look', { input: stageTool('look').input, polling: true })] },
    );
    expect(played.output.trimEnd().split('\n')).toHaveLength(201);
    expect(played.output.endsWith('busy: …\n')).toBe(true);
  });
});

test('tool hooks run for the calls of a subagent; its prompt and its end are not offered to hooks', async () => {
  const seen: string[] = [];
  const hooks = {
    beforeTool: ({ call }: { readonly call: { readonly name: string } }) => (seen.push(`before ${call.name}`), Promise.resolve(null)),
    promptSubmit: () => Promise.resolve({ block: 'never asked' }),
    stop: () => Promise.resolve({ block: 'never asked' }),
  };
  const agents = { root: [{ toolCalls: [delegateTo('scout')] }, { text: 'Done.' }], scout: [look, { text: 'Found.' }] };
  const played = await playSubagents(agents, { hooks });
  expect(seen).toEqual(['before look']);
  expect(played.results).toEqual([{ text: 'Found.', isError: false }]);
});
