/** Every scenario on every surface, held against the bare loop (agent-loop.md §8). `npm run parity` prints the table. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findDifference } from './differences.js';
import { ParityModel } from './parity-model.js';
import { ParityTable } from './parity-table.js';
import { compare, runScenario } from './run-scenario.js';
import type { Observed, Scenario, Surface } from './scenario.js';
import { SCENARIOS } from './scenarios/index.js';
import { createLoopSurface } from './surfaces/loop.js';
import { SURFACES } from './surfaces/index.js';

const table = new ParityTable();
const references = new Map<string, Promise<Observed>>();
let model: ParityModel;
let data: string;

beforeAll(async () => {
  model = await ParityModel.start();
  data = mkdtempSync(path.join(tmpdir(), 'echelon-parity-data-'));
});
afterAll(async () => {
  await model.close();
  rmSync(data, { recursive: true, force: true });
  process.stderr.write(
    `\n${table.render(
      SCENARIOS,
      chosen.map(([name]) => name),
    )}\n`,
  );
});

/** What the bare loop does with it; run once. */
function referenceOf(scenario: Scenario): Promise<Observed> {
  const known = references.get(scenario.name) ?? runScenario(createLoopSurface(model.url), scenario, model);
  references.set(scenario.name, known);
  return known;
}

/** `npm run parity -- --surface acp` runs one. */
const chosen = Object.entries(SURFACES).filter(([name]) => [undefined, name].includes(process.env.ECHELON_PARITY_SURFACE));

describe.each(chosen)('%s', (name, open) => {
  let surface: Surface;
  beforeAll(async () => {
    surface = await open({ modelUrl: model.url, data: path.join(data, name) });
  });
  afterAll(() => surface.close());

  test.each(SCENARIOS)('$name [$row]', async (scenario) => {
    const intended = findDifference(name, scenario.name);
    if (intended) table.explain(scenario, name, intended.reason);
    if (intended?.absent) return table.note(scenario, name, intended.missing ? 'missing' : 'intended');
    const seen = await runScenario(surface, scenario, model);
    const reference = await referenceOf(scenario);
    const differs = compare(scenario, { reference, seen, surface });
    if (differs.length > 0 && !intended) table.note(scenario, name, 'differs');
    if (intended) {
      expect(differs).not.toEqual([]);
      return table.note(scenario, name, 'intended');
    }
    for (const what of differs) expect({ [what]: seen[what] }).toEqual({ [what]: reference[what] });
    table.note(scenario, name, 'same');
  });
});
