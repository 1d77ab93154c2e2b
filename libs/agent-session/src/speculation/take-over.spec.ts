import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ahead, call, closeStages, filesOf, GUESS, stage, text, write } from '../../../../test/support/speculation-stage.js';

afterEach(closeStages);

describe('a run ahead', () => {
  test('whose files cannot be brought back whole leaves an interrupted turn, and its calls are not executed again', async () => {
    const tried = await stage([{ toolCalls: [write('b.txt', 'c1')] }, { text: 'Done.' }]);
    await ahead(tried).result;
    const { store, folder } = tried.sessions;
    const append = store.append.bind(store);
    store.append = (id, records, at) => {
      append(id, records, at);
      // Somebody makes a folder where the file is about to go.
      if (records.some(({ type }) => type === 'intents')) mkdirSync(path.join(folder, 'b.txt'));
    };
    const result = await tried.session.prompt(text(GUESS), tried.sessions.surface());
    store.append = append;
    expect(result.stop).toMatchObject({ reason: 'error', kind: 'persistence' });
    expect(tried.session.isInterrupted).toBe(true);
    await tried.session.resume(tried.sessions.surface());
    expect(JSON.stringify(tried.session.history)).toContain('Inspect before retrying');
    expect(readdirSync(folder).sort()).toEqual(['a.txt', 'b.txt']);
  });

  test('whose results cannot be stored leaves every call of its response unknown: none runs on files that hold its changes', async () => {
    const edit = { path: 'b.txt', old_string: 'count: 1', new_string: 'count: 11' };
    const calls = [call('write_file', 'c1', { path: 'b.txt', content: 'count: 1\n' }), call('edit_file', 'c2', edit)];
    const tried = await stage([{ toolCalls: calls }, { text: 'Done.' }]);
    await ahead(tried).result;
    const { store } = tried.sessions;
    const append = store.append.bind(store);
    let appends = 0;
    store.append = (id, records, at) => {
      if (appends++ > 0) throw new Error('The disk is full.');
      append(id, records, at);
    };
    const result = await tried.session.prompt(text(GUESS), tried.sessions.surface());
    store.append = append;
    expect(result.stop).toMatchObject({ reason: 'error', kind: 'persistence' });
    await tried.session.resume(tried.sessions.surface());
    expect(filesOf(tried)).toEqual({ 'a.txt': 'a.txt\n', 'b.txt': 'count: 11\n' });
    expect(JSON.stringify(tried.session.history).match(/Inspect before retrying/g)).toHaveLength(2);
  });
});
