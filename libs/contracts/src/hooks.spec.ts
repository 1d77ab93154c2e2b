import { describe, expect, test } from '@jest/globals';
import { HooksConfig } from '@echelon/contracts';

function refusal(hook: object): string {
  const parsed = HooksConfig.safeParse({ before_tool: [hook] });
  return parsed.success ? 'taken' : parsed.error.issues.map(({ path, message }) => `${path.slice(2).join('.')}: ${message}`).join('; ');
}

describe('hooks', () => {
  test('are commands, programs with arguments or addresses, and stay as they were given', () => {
    const given = {
      prompt_submit: [{ matcher: 'user|answer', command: './check.sh' }],
      before_tool: [{ command: ['node', 'check.mjs', ''], env: ['CHECK_TOKEN'], timeout_seconds: 600, on_failure: 'block' as const }],
      stop: [{ url: 'https://hooks.example.org/stop?a=b@c', headers: { authorization: 'Bearer ${CHECK_TOKEN}' } }],
    };
    expect(HooksConfig.parse(given)).toEqual(given);
    expect(HooksConfig.parse({})).toEqual({});
  });

  test.each([
    [{}, ': must have either a command or a url'],
    [{ command: 'a', url: 'http://localhost' }, ': must have either a command or a url'],
    [{ command: 'a', headers: {} }, 'headers: go with a url only'],
    [{ command: 7 }, 'command: must be a command or a list of program and arguments'],
    [{ command: 'a\0' }, 'command: holds characters that no command may hold'],
    [{ command: 'a', matcher: '(a+)+' }, 'matcher: must be names with * for any characters, separated by |'],
    [{ command: 'a', env: ['A=B'] }, 'env.0: must be the name of a variable'],
    [{ url: 'https://me:secret@example.org/' }, 'url: must have no user name, no password and no blanks'],
  ])('%j is refused in plain words', (hook, words) => expect(refusal(hook)).toBe(words));

  test.each([
    { url: 'file:///etc/passwd' },
    { url: 'http://localhost', headers: { 'x\r\ny': 'a' } },
    { url: 'http://localhost', headers: { x: 'a\r\nb: c' } },
    { command: [] },
    { command: ['a', '\ud800'] },
    { command: 'a', timeout_seconds: 601 },
    { command: 'a', timeout_seconds: 0 },
    { command: 'a', on_failure: 'ignore' },
    { command: 'a', when: 'always' },
  ])('%j is refused', (hook) => expect(refusal(hook)).not.toBe('taken'));

  test('of an unknown event, or more than twenty of one, are refused', () => {
    expect(HooksConfig.safeParse({ beforeTool: [] }).success).toBe(false);
    const many = (count: number) => HooksConfig.safeParse({ stop: Array.from({ length: count }, () => ({ command: 'a' })) }).success;
    expect([many(20), many(21)]).toEqual([true, false]);
  });
});
