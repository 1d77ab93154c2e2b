import { parseArgs } from 'node:util';

const MEASUREMENTS = ['B1', 'B2', 'B3', 'B4', 'B6', 'B8', 'B11'] as const;
export type MeasurementId = (typeof MEASUREMENTS)[number];

export interface BenchOptions {
  readonly json: boolean;
  /** Fewer and smaller samples, for CI. */
  readonly quick: boolean;
  readonly only: readonly MeasurementId[];
  /** How often ours and the reference take turns. */
  readonly runs: number;
}

const RUNS = { full: 4, quick: 1 };

/** Reads the command line; throws one sentence for a person where it means nothing. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: MEASUREMENTS.join(',') },
      runs: { type: 'string' },
    },
  });
  const { json, quick } = values;
  const runs = values.runs === undefined ? RUNS[quick ? 'quick' : 'full'] : Number(values.runs);
  if (!(Number.isInteger(runs) && runs >= 1)) throw new Error(`--runs takes a whole number from 1 on, not ${values.runs}`);
  return { json, quick, runs, only: values.only.split(',').map(toMeasurement) };
}

function toMeasurement(text: string): MeasurementId {
  const id = MEASUREMENTS.find((known) => known === text.trim().toUpperCase());
  if (!id) throw new Error(`There is no measurement ${text}; there are ${MEASUREMENTS.join(', ')}.`);
  return id;
}
