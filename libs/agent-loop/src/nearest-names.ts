/** The names that are most like an unknown one, best first, `count` at most. */
export function nearestNames(wanted: string, names: Iterable<string>, count = 3): string[] {
  return [...names]
    .map((name) => ({ name, distance: editDistance(wanted.toLowerCase(), name.toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance || (one.name < other.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}

/** Levenshtein distance, one row at a time. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let to = 1; to <= other.length; to++) {
      const replaced = cell(row, to - 1) + (one[at - 1] === other[to - 1] ? 0 : 1);
      next.push(Math.min(replaced, cell(row, to) + 1, cell(next, to - 1) + 1));
    }
    row = next;
  }
  return cell(row, other.length);
}

function cell(row: readonly number[], at: number): number {
  return row[at] ?? 0;
}
