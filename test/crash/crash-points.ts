/** The committed list of crash points: every statement of every operation, with a moment before and a moment after it. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Stage } from './stage.js';
import type { CrashPoint } from './statements.js';

const FILE = path.join(import.meta.dirname, 'crash-points.json');

export interface Recorded {
  /** Ordinal and label of each statement that the operation gives to Postgres. */
  readonly statements: readonly string[];
  /** The story's end, whether its process died or not. */
  readonly end: readonly string[];
}

export type Recording = Readonly<Record<string, Recorded>>;

export function readRecording(): Recording {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Recording;
}

export function writeRecording(recording: Recording): void {
  writeFileSync(FILE, `${JSON.stringify(recording, null, 2)}\n`);
}

export function pointsOf({ statements }: Recorded): readonly CrashPoint[] {
  return statements.flatMap((statement) => [{ when: 'before', statement } as const, { when: 'after', statement } as const]);
}

/** One operation of a doomed process, and where it stands when the process dies. */
export interface Crash {
  readonly operation: string;
  readonly stage: Stage;
  readonly point: CrashPoint;
}

/** What a doomed process is told: its database, and its crashes. */
export interface Doom {
  readonly url: string;
  readonly crashes: readonly Crash[];
  /** A fault: every statement commits by itself. */
  readonly withoutTransactions?: true;
}

export const DOOM_VARIABLE = 'ECHELON_TEST_DOOM';

/** What Postgres shows of a doomed process's connections. */
export const DOOMED = 'doomed';
