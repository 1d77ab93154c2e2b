import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ScriptedResponse } from '@echelon/scripted-model';
import { startScript } from '@echelon/testkit';
import { SessionStore, type ApprovalRequest } from '@echelon/agent-session';
import {
  ahead,
  type Answers,
  call,
  closeStages,
  filesOf,
  GUESS,
  overlaysOf,
  realRun,
  seenOf,
  stage,
  type Stage,
  text,
  write,
} from '../../../../test/support/speculation-stage.js';

afterEach(closeStages);

const WORK: Answers = [
  { text: 'I look first.', toolCalls: [call('read_file', 'c1', { path: 'a.txt' }), call('run_command', 'c2', { command: 'pwd | cat' })] },
  { toolCalls: [write('b.txt', 'c3'), call('edit_file', 'c4', { path: 'a.txt', old_string: 'a.txt', new_string: 'changed' })] },
  { toolCalls: [write('new/c.txt', 'c5')] },
  { text: 'All written.' },
];

describe('what is run ahead', () => {
  test('is not seen before it is taken over, and then is what a run would have stored, shown and changed [D9]', async () => {
    const real = await realRun(WORK);
    const tried = await stage(WORK);
    const before = seenOf(tried);
    const speculation = ahead(tried);
    expect(await speculation.suggestion).toBe(GUESS);
    expect(await speculation.result).toMatchObject({ status: 'ready', prompt: GUESS, stop: { reason: 'completed' } });
    expect(seenOf(tried)).toEqual(before);

    const asked = tried.sessions.model.requests.length;
    const result = await tried.session.prompt(text(GUESS), tried.sessions.surface());
    expect(result.stop).toEqual({ reason: 'completed' });
    expect(tried.sessions.model.requests).toHaveLength(asked);
    expect(filesOf(tried)).toEqual(filesOf(real));
    const here = (of: Stage, value: unknown) => JSON.stringify(value).replaceAll(realpathSync(of.sessions.folder), '<folder>');
    expect(here(tried, tried.session.history)).toBe(here(real, real.session.history));
    const kinds = ({ sessions, session }: Stage) =>
      sessions.store
        .read(session.id)
        .map(({ type }) => type)
        .filter((type) => type !== 'process');
    expect(kinds(tried)).toEqual(kinds(real));
    const shown = (of: Stage) =>
      here(
        of,
        of.sessions.events.filter(({ type }) => type !== 'tool_output' && type !== 'finished'),
      );
    expect(shown(tried)).toBe(shown(real));
    expect(overlaysOf(tried)).toEqual([]);

    for (const { session, sessions } of [real, tried]) await session.prompt(text('And now?'), sessions.surface());
    expect(here(tried, tried.sessions.requests().at(-2))).toBe(here(real, real.sessions.requests().at(-2)));
    const offered = tried.sessions.model.requests.map(({ body }) => (body as { tools: { function: { name: string } }[] }).tools);
    const names = offered[asked - 1]?.map((tool) => tool.function.name);
    expect(names).toEqual(['read_file', 'write_file', 'edit_file', 'list_files', 'search_files', 'run_command']);
  });

  test('tells what it changed and said', async () => {
    const speculation = ahead(await stage(WORK));
    const result = await speculation.result;
    if (result.status !== 'ready') throw new Error(result.reason);
    expect(result.files).toEqual([
      { path: 'a.txt', change: 'changed' },
      { path: 'b.txt', change: 'created' },
      { path: 'new', change: 'created' },
      { path: path.join('new', 'c.txt'), change: 'created' },
    ]);
    expect(result.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  test('shows a surface its calls and results where a turn shows them', async () => {
    const shownBy = async (of: Stage) => {
      const shown: string[] = [];
      const surface = of.sessions.surface({
        onEvent: ({ type }) => shown.push(type),
        policies: {
          select: (calls) => {
            shown.push(`select ${calls.map(({ callId }) => callId).join(' ')}`);
            return new Map();
          },
          onResults: (results) => {
            shown.push(`results ${results.map(({ callId }) => callId).join(' ')}`);
            return 'go_on';
          },
        },
      });
      await of.session.prompt(text(GUESS), surface);
      return shown.filter((type) => type !== 'tool_output');
    };
    const tried = await stage(WORK);
    await ahead(tried).result;
    const shown = await shownBy(tried);
    expect(shown).toEqual(await shownBy(await stage(WORK, { speculate: false })));
    expect(shown).toEqual(expect.arrayContaining(['select c3 c4', 'results c3 c4']));
  });

  test('is thrown away by another prompt, which runs as if nothing had been tried', async () => {
    const tried = await stage(WORK);
    await ahead(tried).result;
    expect(overlaysOf(tried)).toHaveLength(1);
    await tried.session.prompt(text('Something else.'), tried.sessions.surface());
    expect(filesOf(tried)).toEqual({ 'a.txt': 'a.txt\n' });
    expect(JSON.stringify(tried.session.history)).not.toContain(GUESS);
    expect(overlaysOf(tried)).toEqual([]);
  });

  test.each<[string, (of: Stage) => void]>([
    ['another mode', ({ session }) => session.setMode('accept_edits')],
    ['something said meanwhile', ({ session }) => session.inbox.add('lead', 'And keep it short.')],
    ['a file that changed in the folder', ({ sessions }) => writeFileSync(path.join(sessions.folder, 'a.txt'), 'mine')],
    ['a file that came to the folder', ({ sessions }) => writeFileSync(path.join(sessions.folder, 'other.txt'), 'mine')],
  ])('is thrown away by %s, and the prompt is asked anew', async (_, change) => {
    const tried = await stage([{ text: 'Nothing to do.' }]);
    await ahead(tried).result;
    change(tried);
    const files = filesOf(tried);
    const asked = tried.sessions.model.requests.length;
    await tried.session.prompt(text(GUESS), tried.sessions.surface());
    expect(tried.sessions.model.requests.length).toBeGreaterThan(asked);
    expect(filesOf(tried)).toEqual(files);
    expect(overlaysOf(tried)).toEqual([]);
  });

  test('ends at a call that needs approval; taken over, the turn goes on with asking the person', async () => {
    const answers: Answers = [
      { toolCalls: [call('read_file', 'c1', { path: 'a.txt' }), write('b.txt', 'c2'), call('read_file', 'c3', { path: 'b.txt' })] },
      { text: 'Done.' },
    ];
    const asked: ApprovalRequest[] = [];
    const approve = (request: ApprovalRequest) => {
      asked.push(request);
      return Promise.resolve({ decision: 'allow', always: false } as const);
    };
    const rules = [{ decision: 'ask', path: 'b.txt', effect: 'write' }] as const;
    const real = await stage(answers, { speculate: false, rules });
    await real.session.prompt(text(GUESS), real.sessions.surface({ approve }));
    expect(asked.map(({ callId }) => callId)).toEqual(['c2']);

    const tried = await stage(answers, { rules });
    const speculation = tried.session.speculate(tried.sessions.surface({ approve }));
    expect(await speculation?.result).toMatchObject({ stop: { reason: 'parked', for: [{ callId: 'c2' }, { callId: 'c3' }] }, files: [] });
    expect(asked).toHaveLength(1);
    const requests = tried.sessions.model.requests.length;
    const { stop } = await tried.session.prompt(text(GUESS), tried.sessions.surface({ approve }));
    expect([stop.reason, asked.map(({ callId }) => callId)]).toEqual(['completed', ['c2', 'c2']]);
    expect(tried.sessions.model.requests).toHaveLength(requests + 1);
    expect(filesOf(tried)).toEqual(filesOf(real));
    expect(JSON.stringify(tried.session.history)).toBe(JSON.stringify(real.session.history));
  });

  test.each([
    ['writes', 'echo x > made.txt'],
    ['writes into the folder by its name', 'touch FOLDER/made.txt'],
    ['names the folder', 'cat FOLDER/a.txt'],
    ['looks above the folder', 'ls ..'],
    ['may run what a repository names', 'git status'],
    ['lists a folder in its own order', 'grep -rn a .'],
    ['is not known to be harmless', 'curl http://127.0.0.1:1'],
  ])('runs no command that %s, allowed or not', async (_, command) => {
    const answers: ScriptedResponse[] = [];
    const tried = await stage(answers);
    answers.push({ toolCalls: [call('run_command', 'c1', { command: command.replace('FOLDER', realpathSync(tried.sessions.folder)) })] });
    const result = await ahead(tried).result;
    expect(result).toMatchObject({ stop: { reason: 'parked', for: [{ callId: 'c1' }] }, files: [] });
    expect(filesOf(tried)).toEqual({ 'a.txt': 'a.txt\n' });
  });

  test('says nothing of an attempt that was abandoned', async () => {
    const broken: ScriptedResponse = { text: ['Stale ', 'words.'], faults: [{ kind: 'drop', afterChunks: 1 }] };
    const tried = await stage([broken]);
    const speculation = ahead(tried);
    await speculation.suggestion;
    await speculation.result;
    const from = tried.sessions.events.length;
    await tried.session.prompt(text(GUESS), tried.sessions.surface());
    const shown = tried.sessions.events.slice(from);
    expect(shown.filter(({ type }) => type === 'content').map((event) => ('text' in event ? event.text : ''))).toEqual(['Fresh.']);
    expect(shown.map(({ type }) => type)).toContain('retry');
    expect(tried.session.history.at(-1)).toEqual({ role: 'assistant', parts: [{ type: 'text', text: 'Fresh.' }] });
  });

  test('that is still running when its prompt comes is handed over where it is', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const tried = await stage([{ toolCalls: [write('b.txt', 'c1')], faults: [{ kind: 'hold', until: held }] }, { text: 'Done.' }]);
    const speculation = ahead(tried);
    await speculation.suggestion;
    const prompted = tried.session.prompt(text(GUESS), tried.sessions.surface());
    release();
    expect((await prompted).stop).toEqual({ reason: 'completed' });
    expect(filesOf(tried)).toEqual({ 'a.txt': 'a.txt\n', 'b.txt': 'b.txt\n' });
    expect(overlaysOf(tried)).toEqual([]);
  });

  test('leaves nothing when it is aborted, or when its session is closed', async () => {
    const never = new Promise<void>(() => undefined);
    for (const end of [(_: Stage, controller: AbortController) => controller.abort(), ({ session }: Stage) => session.close()]) {
      const tried = await stage([{ toolCalls: [write('b.txt', 'c1')] }, { text: 'x', faults: [{ kind: 'hold', until: never }] }]);
      const controller = new AbortController();
      const speculation = tried.session.speculate(tried.sessions.surface({ signal: controller.signal }));
      await speculation?.suggestion;
      end(tried, controller);
      expect(await speculation?.result).toEqual({ status: 'none', reason: 'thrown_away' });
      await speculation?.discard();
      expect([filesOf(tried), overlaysOf(tried)]).toEqual([{ 'a.txt': 'a.txt\n' }, []]);
    }
  });

  test('of a process that was killed is seen nowhere, and removed at the next start', async () => {
    const never = new Promise<void>(() => undefined);
    const tried = await stage([{ toolCalls: [write('b.txt', 'c1')] }, { text: 'x', faults: [{ kind: 'hold', until: never }] }]);
    const before = seenOf(tried);
    tried.session.close();
    const { sessions, session } = tried;
    const program = startScript(`
      import { AgentSession, SessionStore } from '@echelon/agent-session';
      import { createModelClient } from '@echelon/model-clients';
      const client = createModelClient({ dialect: 'chat_completions', baseUrl: ${JSON.stringify(sessions.model.url)} });
      const session = await AgentSession.open(SessionStore.open(${JSON.stringify(sessions.data)}), ${JSON.stringify(session.id)}, {
        models: [{ client, model: 'scripted' }], rules: [], mode: 'full_access', speculate: true });
      const speculation = session.speculate({ signal: new AbortController().signal });
      console.log(await speculation.suggestion);
      await speculation.result;
    `);
    await program.line(/^Now write/);
    await sessions.model.waitForRequest(5);
    await program.kill();
    expect(seenOf(tried)).toEqual(before);
    expect(overlaysOf(tried)).toHaveLength(1);
    SessionStore.open(sessions.data).close();
    expect(overlaysOf(tried)).toEqual([]);
  });

  test('is nothing where nothing is likely, where hooks would be seen, and where it is off: then no request goes out', async () => {
    const unlikely = await stage([], {}, { text: 'NONE' });
    const speculation = ahead(unlikely);
    expect([await speculation.suggestion, await speculation.result]).toEqual([null, { status: 'none', reason: 'nothing_likely' }]);
    for (const changes of [{ speculate: false }, { hooks: { stop: [{ command: 'true' }] } }]) {
      const off = await stage([], changes);
      const requests = off.sessions.model.requests.length;
      expect(off.session.speculate(off.sessions.surface())).toBeNull();
      expect(off.sessions.model.requests).toHaveLength(requests);
    }
  });

  test('a file tool that is given the folder by its name works on the copy', async () => {
    const answers: ScriptedResponse[] = [];
    const tried = await stage(answers);
    const folder = realpathSync(tried.sessions.folder);
    mkdirSync(path.join(folder, 'below'));
    answers.push({ toolCalls: [call('write_file', 'c1', { path: path.join(folder, 'below', 'b.txt'), content: 'b' })] });
    expect(await ahead(tried).result).toMatchObject({ files: [{ path: path.join('below', 'b.txt'), change: 'created' }] });
    expect(filesOf(tried)).toEqual({ 'a.txt': 'a.txt\n' });
  });
});
