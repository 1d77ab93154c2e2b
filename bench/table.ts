import { type Goal, isMet, type Row, ratioOf } from './row.js';

const HEADER = ['id', 'work', 'unit', 'ours', 'reference', 'figure', 'ratio', 'goal', 'met'];
const NUMERIC = new Set(['ours', 'figure', 'ratio']);

/** The table as text, columns aligned. */
export function formatTable(rows: readonly Row[]): string {
  const lines = [HEADER, ...rows.map(toCells)];
  const widths = HEADER.map((_name, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines.map((cells) => formatLine(cells, widths)).join('\n');
}

function formatLine(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, column) => {
    const width = widths[column] ?? 0;
    return NUMERIC.has(HEADER[column] ?? '') ? cell.padStart(width) : cell.padEnd(width);
  });
  return padded.join('  ').trimEnd();
}

function toCells(row: Row): readonly string[] {
  const met = isMet(row);
  return [
    row.id,
    row.work,
    row.unit,
    formatFigure(row.ours),
    row.reference.name,
    formatFigure(row.reference.figure),
    formatFigure(ratioOf(row)),
    row.goal === null ? '–' : formatGoal(row.goal),
    met === null ? '–' : met ? 'yes' : 'no',
  ];
}

function formatGoal({ of, bound, value }: Goal): string {
  return `${of} ${bound === 'at most' ? '≤' : '≥'} ${value}`;
}

/** Three significant digits. */
function formatFigure(value: number): string {
  return Number(value.toPrecision(3)).toString();
}
