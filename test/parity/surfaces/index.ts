import type { Surface } from '../scenario.js';
import { createAcpSurface } from './acp.js';
import { createHeadlessSurface } from './headless.js';
import { createSpeculationSurface } from './speculation.js';
import { createSubagentSurface } from './subagent.js';
import { createTerminalSurface } from './terminal.js';
import { createWorkerSurface } from './worker.js';

export interface Stage {
  readonly modelUrl: string;
  /** A folder that is the surface's own. */
  readonly data: string;
}

/** In the order of the table's columns. */
export const SURFACES: Readonly<Record<string, (stage: Stage) => Promise<Surface>>> = {
  worker: createWorkerSurface,
  headless: createHeadlessSurface,
  acp: createAcpSurface,
  terminal: createTerminalSurface,
  subagent: createSubagentSurface,
  speculation: createSpeculationSurface,
};
