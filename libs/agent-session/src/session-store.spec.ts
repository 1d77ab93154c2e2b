import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SessionStore } from './session-store.js';

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'echelon-store-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

test('a folder that takes no sessions is one sentence, and no folder is waited for', () => {
  writeFileSync(path.join(base, 'file'), '');
  for (const folder of [path.join(base, 'file', 'sessions'), '/proc/echelon-spec/sessions'])
    expect(() => SessionStore.open(folder)).toThrow(
      `Sessions cannot be kept in ${folder}: correct its owner or make room, or set ECHELON_DATA_DIR`,
    );
});

test('sessions are listed page by page, the last used first, and one that is deleted is gone', () => {
  const store = SessionStore.open(path.join(base, 'sessions'));
  for (const at of [1, 2, 3]) store.create({ id: `s${at}`, folder: '/work', at: new Date(at) });
  const first = store.list({ limit: 2 });
  expect(first.items.map(({ id }) => id)).toEqual(['s3', 's2']);
  expect(store.list({ limit: 2, cursor: first.next_cursor ?? '' }).items.map(({ id }) => id)).toEqual(['s1']);
  store.delete('s3');
  expect(store.findLatest('/work')?.id).toBe('s2');
  expect(() => store.get('s3')).toThrow('There is no session s3 on this machine.');
  store.close();
});
