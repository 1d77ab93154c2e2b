import type { Scenario } from '../scenario.js';
import { BATCHES } from './batches.js';
import { ROUNDS } from './rounds.js';
import { TURNS } from './turns.js';

export const SCENARIOS: readonly Scenario[] = [...ROUNDS, ...BATCHES, ...TURNS];
