import { expect, test } from '@jest/globals';
import { describeRoots } from './workspace-roots.js';

const ROOT = { id: '0190', host: 'a-host', path: '/folders', created_at: '', seen_at: '' };
const describe = (counts: { readonly workers: number; readonly waiting_sessions: number }) =>
  describeRoots({ items: [{ ...ROOT, ...counts }] })[0];

test('a root that no worker reaches is wrong as soon as a session waits there', () => {
  expect(describe({ workers: 0, waiting_sessions: 2 })).toEqual({
    name: 'workspace root',
    ok: false,
    detail: '0190, /folders on a-host: 2 sessions waiting, and no worker reaches it: start one there, or where its folder was moved to',
  });
  expect(describe({ workers: 0, waiting_sessions: 0 })).toMatchObject({ ok: true });
});

test('a root that a worker reaches is fine, whatever waits', () => {
  expect(describe({ workers: 1, waiting_sessions: 7 })).toMatchObject({
    ok: true,
    detail: '0190, /folders on a-host: 1 worker, 7 sessions waiting',
  });
});
