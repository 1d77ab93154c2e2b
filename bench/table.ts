import { type Goal, isMet, type ReferenceName, REFERENCES, type Row, ratioOf } from './row.js';

const BEFORE_NUMBERS = ['id', 'work', 'unit'];
const AFTER_NUMBERS = ['goals', 'met'];
const NOTHING = '–';

/** The table as text, columns aligned; a reference that takes part in no row has none. */
export function formatTable(rows: readonly Row[]): string {
  const references = REFERENCES.filter((name) => rows.some((row) => name in row.references));
  const header = [...BEFORE_NUMBERS, 'ours', ...references.flatMap((name) => [name, `÷ ${name}`]), ...AFTER_NUMBERS];
  const lines = [header, ...rows.map((row) => toCells(row, references))];
  const widths = header.map((_name, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines.map((cells) => formatLine(cells, widths)).join('\n');
}

function formatLine(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, column) => {
    const width = widths[column] ?? 0;
    const isNumber = column >= BEFORE_NUMBERS.length && column < cells.length - AFTER_NUMBERS.length;
    return isNumber ? cell.padStart(width) : cell.padEnd(width);
  });
  return padded.join('  ').trimEnd();
}

function toCells(row: Row, references: readonly ReferenceName[]): readonly string[] {
  const { id, work, unit, ours, goals } = row;
  return [
    ...[id, work, unit, formatFigure(ours)],
    ...references.flatMap((name) => formatReference(row, name)),
    goals.length === 0 ? NOTHING : goals.map(formatGoal).join(', '),
    formatMet(row),
  ];
}

function formatReference(row: Row, name: ReferenceName): readonly [figure: string, ratio: string] {
  const figure = row.references[name];
  if (figure === undefined) return [NOTHING, NOTHING];
  if (figure === null) return ['not installed', NOTHING];
  const ratio = ratioOf(row, name);
  return [formatFigure(figure), ratio === null ? NOTHING : formatFigure(ratio)];
}

function formatGoal({ of, bound, value }: Goal): string {
  const sign = `${bound === 'at most' ? '≤' : '≥'} ${value}`;
  return of === 'figure' ? sign : `${sign} × ${of}`;
}

function formatMet(row: Row): string {
  const met = isMet(row);
  if (met === null) return row.goals.length === 0 ? NOTHING : 'open';
  return met ? 'yes' : 'no';
}

/** Three significant digits. */
function formatFigure(value: number): string {
  return Number(value.toPrecision(3)).toString();
}
