import { pino } from 'pino';
import type { Logger } from '@echelon/orchestration';
import type { Config } from './config.js';
import { SECRETS } from './variables.js';

/** Structured logs on stderr, so that a command's own output stays clean; values of secret variables never appear (architecture.md §7). */
export function createLogger(config: Pick<Config, 'logLevel' | 'env'>): Logger {
  const secrets = SECRETS.flatMap((name) => config.env[name] ?? []).filter((value) => value.length > 3);
  const hide = (line: string): string => secrets.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), line);
  return pino(
    {
      level: config.logLevel,
      serializers: { error: pino.stdSerializers.err },
      redact: ['token', 'secret', '*.token', '*.secret', 'authorization', '*.authorization'],
      hooks: { streamWrite: hide },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}
