/** Runs one scenario on one surface and looks at what came of it. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LoopStop } from '@echelon/agent-loop';
import { waitFor } from '@echelon/testkit';
import { normalizeRequests } from './normalize.js';
import type { ParityModel } from './parity-model.js';
import type { CancelPoint, Observed, Scenario, Surface } from './scenario.js';

let runs = 0;

export async function runScenario(surface: Surface, scenario: Scenario, model: ParityModel): Promise<Observed> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'echelon-parity-')));
  const name = `${scenario.name}@${surface.name}-${++runs}`;
  try {
    for (const [file, text] of Object.entries(scenario.files ?? {})) write(path.join(folder, file), text);
    model.play(name, scenario);
    const due = (point: CancelPoint): Promise<void> => untilDue(point, { folder, name, model });
    const told = await surface.run({ scenario, folder, model: name, due });
    return { ...told, requests: normalizeRequests(model.requestsOf(name), folder), files: readFiles(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function untilDue(
  point: CancelPoint,
  { folder, name, model }: { readonly folder: string; readonly name: string; readonly model: ParityModel },
): Promise<void> {
  if ('request' in point) return model.untilRequest(name, point.request);
  await waitFor(`${point.once} is there`, () => Promise.resolve(existsSync(path.join(folder, point.once)) || undefined));
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function readFiles(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  return Object.fromEntries(
    names.filter((name) => statSync(path.join(folder, name)).isFile()).map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]),
  );
}

interface Compared {
  readonly reference: Observed;
  readonly seen: Observed;
  readonly surface: Surface;
}

/** Names what differs from the reference; empty where nothing does. How much a person saw before they cancelled is theirs. */
export function compare(scenario: Scenario, { reference, seen, surface }: Compared): readonly (keyof Observed)[] {
  const stops = reference.stops.map((stop) => JSON.parse(stop) as LoopStop);
  const expected = {
    ...reference,
    stops: stops.map((stop) => surface.stopsAs(stop)),
    texts: reference.texts.map((text, at) => (stops[at] && surface.says?.(stops[at])) ?? text),
  };
  const compared = scenario.cancel ? (['requests', 'stops', 'files'] as const) : (['requests', 'stops', 'texts', 'files'] as const);
  return compared.filter((what) => inWords(expected[what]) !== inWords(seen[what]));
}

/** White space at the ends of a text is its screen's. */
function inWords(seen: Observed[keyof Observed]): string {
  return JSON.stringify(seen, (_, value: unknown) => (typeof value === 'string' ? value.trim() : value));
}
