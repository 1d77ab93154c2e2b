/** What `npm run parity` prints: a line per scenario, a column per surface, then the reasons of differences. */
import type { Scenario } from './scenario.js';

export type Verdict = 'same' | 'intended' | 'missing' | 'differs';

export class ParityTable {
  private readonly verdicts = new Map<string, Verdict>();
  private readonly reasons = new Map<string, string[]>();

  note(scenario: Scenario, surface: string, verdict: Verdict): void {
    this.verdicts.set(`${scenario.name}/${surface}`, verdict);
    process.stderr.write(`${surface}: ${scenario.name}: ${verdict}\n`);
  }

  explain(scenario: Scenario, surface: string, reason: string): void {
    const key = `${surface}: ${reason}`;
    this.reasons.set(key, [...(this.reasons.get(key) ?? []), scenario.name]);
  }

  render(scenarios: readonly Scenario[], surfaces: readonly string[]): string {
    const width = Math.max(...scenarios.map(({ name }) => name.length));
    const line = (row: string, name: string, cells: readonly string[]): string =>
      [row.padEnd(6), name.padEnd(width), ...cells.map((cell) => cell.padEnd(9))].join('  ').trimEnd();
    const lines = scenarios.map(({ row, name }) =>
      line(
        row,
        name,
        surfaces.map((surface) => this.verdicts.get(`${name}/${surface}`) ?? 'not run'),
      ),
    );
    const counts = (['same', 'intended', 'missing', 'differs'] as const).map(
      (verdict) => `${[...this.verdicts.values()].filter((one) => one === verdict).length} ${verdict}`,
    );
    const reasons = [...this.reasons].map(([reason, names]) => `- ${reason} (${names.join(', ')})`);
    return [line('row', 'scenario', surfaces), ...lines, '', counts.join(', '), '', 'Differences:', ...reasons].join('\n');
  }
}
