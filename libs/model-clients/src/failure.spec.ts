import { describe, expect, test } from '@jest/globals';
import { APICallError } from '@ai-sdk/provider';
import { classifyError, parseRetryAfter, redact } from './failure.js';

const NOW = Date.parse('2026-11-29T10:00:00Z');

describe('parseRetryAfter', () => {
  test.each([
    ['0', 0],
    ['1.5', 1_500],
    ['-3', 0],
    ['Sun, 29 Nov 2026 10:00:30 GMT', 30_000],
    ['Sun, 29 Nov 2026 09:59:00 GMT', 0],
    ['soon', null],
    ['', null],
    [undefined, null],
  ])('%s is %s milliseconds', (value, milliseconds) => {
    expect(parseRetryAfter(value, NOW)).toBe(milliseconds);
  });
});

describe('classifyError', () => {
  const call = (statusCode: number, isRetryable?: boolean) =>
    new APICallError({ message: 'm', url: 'u', requestBodyValues: {}, statusCode, ...(isRetryable === undefined ? {} : { isRetryable }) });

  test('a used-up quota is not retryable although its status is 429', () => {
    expect(classifyError(call(429, false), NOW)).toMatchObject({ kind: 'http', status: 429, retryable: false });
  });

  test('a response that cannot be read is a protocol failure', () => {
    expect(classifyError(call(200), NOW)).toMatchObject({ kind: 'protocol', status: null, retryable: false });
  });

  test('an error event that names a status is a failure with that status', () => {
    expect(classifyError({ message: 'upstream', code: 502 }, NOW)).toMatchObject({
      kind: 'http',
      status: 502,
      retryable: true,
      message: 'upstream',
    });
    expect(classifyError({ message: 'used up', code: 'insufficient_quota', statusCode: 429, isRetryable: false }, NOW)).toMatchObject({
      retryable: false,
    });
  });

  test('an error event without a status is a protocol failure', () => {
    expect(classifyError({ message: 'odd', code: 'server_error' }, NOW)).toMatchObject({ kind: 'protocol', message: 'odd' });
    expect(classifyError('plain', NOW)).toMatchObject({ kind: 'protocol', message: 'plain' });
    expect(classifyError({}, NOW)).toMatchObject({ kind: 'protocol', message: '{}' });
  });

  test('a network code anywhere in the causes is a lost connection', () => {
    const reset = Object.assign(new Error('read'), { code: 'ECONNRESET' });
    expect(classifyError(new Error('outer', { cause: reset }), NOW)).toMatchObject({
      kind: 'connection',
      message: 'outer: read',
      retryable: true,
    });
  });
});

describe('redact', () => {
  test('every occurrence of a secret is replaced and the text is bounded', () => {
    expect(redact('a secret, a secret', ['secret'])).toBe('a [redacted], a [redacted]');
    expect(redact('x'.repeat(5_000), [])).toHaveLength(2_001);
  });

  test('a value too short to be a secret stays', () => {
    expect(redact('a 1 b', ['1'])).toBe('a 1 b');
  });
});
