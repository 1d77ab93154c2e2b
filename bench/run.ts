/** npm run bench: measures, prints one table, keeps it under bench/results. Absolute times mean little; ratios of one run do. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import type { BenchContext } from './context.js';
import { MeasuredProgram } from './measured-program.js';
import { measureAskResume } from './measurements/ask-resume.js';
import { measureJournaledLoop } from './measurements/journaled-loop.js';
import { measureLoopOverhead } from './measurements/loop-overhead.js';
import { measureManyLoops } from './measurements/many-loops.js';
import { measureQuestionTree } from './measurements/question-tree.js';
import { measureQueueStart } from './measurements/queue-start.js';
import { measureWaitingSessions } from './measurements/waiting-sessions.js';
import { type BenchOptions, type MeasurementId, readOptions } from './options.js';
import { installPeers } from './peers.js';
import { openPostgres } from './postgres.js';
import { isMet, ratioOf, REFERENCES, type Row } from './row.js';
import { formatTable } from './table.js';

const MEASURE: Readonly<Record<MeasurementId, (context: BenchContext) => Promise<readonly Row[]>>> = {
  B1: measureLoopOverhead,
  B2: measureJournaledLoop,
  B3: measureAskResume,
  B4: measureQueueStart,
  B6: measureWaitingSessions,
  B8: measureManyLoops,
  B11: measureQuestionTree,
};

const RESULTS = path.join(import.meta.dirname, 'results');
const NOTES = 'bare: the least that the same work takes, by a program of ours. cold: in a fresh process.';
/** Measurements that take place without peers. */
const WITHOUT_PEERS: readonly MeasurementId[] = ['B11'];

await main();

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const startedAt = new Date();
  const peersFailure = options.only.every((id) => WITHOUT_PEERS.includes(id)) ? null : await installPeers(progress);
  const rows = await measureAll(options, peersFailure);
  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1_000);
  const result = {
    started_at: startedAt.toISOString(),
    seconds,
    ...options,
    peers_failure: peersFailure,
    machine: describeMachine(),
    rows: rows.map(toResult),
  };
  const json = JSON.stringify(result, null, 2);
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(path.join(RESULTS, `${startedAt.toISOString().replaceAll(':', '-')}.json`), `${json}\n`);
  process.stdout.write(
    options.json
      ? `${json}\n`
      : `${formatTable(rows)}\n\n${NOTES}\n${peersFailure === null ? '' : `The peers are not installed: ${peersFailure}\n`}`,
  );
}

async function measureAll(options: BenchOptions, peersFailure: string | null): Promise<readonly Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'echelon-bench-'));
  const postgres = await openPostgres(folder);
  const model = new MeasuredProgram('model');
  try {
    const modelUrl = await model.call<string>('url');
    const { createDatabase } = postgres;
    const context: BenchContext = { options, model, modelUrl, createDatabase, folder, peersFailure, progress };
    const rows: Row[] = [];
    for (const id of options.only) rows.push(...(await MEASURE[id]({ ...context, progress: (what) => progress(`${id}: ${what}`) })));
    return rows;
  } finally {
    await model.close();
    await postgres.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function progress(what: string): void {
  process.stderr.write(`${what}\n`);
}

function toResult(row: Row): object {
  return { ...row, ratios: Object.fromEntries(REFERENCES.map((name) => [name, ratioOf(row, name)])), met: isMet(row) };
}

/** The load tells how far the figures can be trusted. */
function describeMachine(): object {
  return { cores: cpus().length, load: loadavg(), node: process.version, platform: `${process.platform}-${process.arch}` };
}
