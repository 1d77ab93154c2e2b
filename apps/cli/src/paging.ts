/** Options and lines of a list that comes page by page. */
import type { Page } from '@echelon/contracts';
import type { Command } from 'commander';
import { textOf, wholeNumber } from './arguments.js';
import { table } from './terminal.js';

export interface PagingOptions {
  readonly limit: number;
  readonly cursor?: string;
}

export function addPaging(command: Command): Command {
  return command
    .option('--limit <n>', 'items at most, up to 200', wholeNumber('--limit', 200), 50)
    .option('--cursor <cursor>', 'go on where the last page ended', textOf('--cursor'));
}

/** The part of a request that asks for the page. */
export function toPageQuery({ limit, cursor }: PagingOptions): { readonly limit: number; readonly cursor?: string } {
  return { limit, ...(cursor ? { cursor } : {}) };
}

/** A table of the items, `none` where there are none, and how to get the next page. */
export function describePage<T>(
  { items, next_cursor: cursor }: Page<T>,
  summarize: (item: T) => readonly string[],
  none: string,
): readonly string[] {
  return [...(items.length === 0 ? [none] : table(items.map(summarize))), ...(cursor ? [`more: --cursor ${cursor}`] : [])];
}
