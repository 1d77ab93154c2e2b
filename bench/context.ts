import type { MeasuredProgram } from './measured-program.js';
import type { BenchOptions } from './options.js';

/** What a measurement is given. */
export interface BenchContext {
  readonly options: BenchOptions;
  readonly model: MeasuredProgram;
  /** Base URL of the scripted model. */
  readonly modelUrl: string;
  /** Creates an empty database on the run's private Postgres (fsync on) and gives its address. */
  createDatabase(name: string): Promise<string>;
  /** A folder of this run; deleted at its end. */
  readonly folder: string;
  /** Why the peers are not installed; `null` where they are. */
  readonly peersFailure: string | null;
  /** Says on stderr what is going on. */
  progress(what: string): void;
}
