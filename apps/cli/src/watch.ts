/** Follows a tree live: redrawn on a terminal, one line a change elsewhere, JSON lines for programs. */
import type { ApiClient } from '@echelon/api-client';
import type { DurableEvent } from '@echelon/contracts';
import { drawTree, isAtRest, readTree } from './task-tree.js';
import type { Terminal } from './terminal.js';

export interface WatchOptions {
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly signal?: AbortSignal;
}

/** Returns once the whole tree rests: it has ended, waits for review, or waits for a person. */
export async function watchTask(api: ApiClient, rootId: string, options: WatchOptions): Promise<void> {
  const ending = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, ending.signal]) : ending.signal;
  const { workspace_id } = await api.tasks.get(rootId);
  const screen = new Screen(options);
  const look = async (): Promise<void> => {
    const tree = await readTree(api, rootId, signal);
    screen.draw(drawTree(tree));
    if (await isAtRest(api, tree, signal)) ending.abort();
  };
  try {
    for await (const followed of api.events.follow({ workspace_id, signal })) {
      if (followed.kind === 'live') continue;
      if (followed.kind === 'durable') screen.tell(followed.event);
      if (followed.kind !== 'durable' || changesTree(followed.event)) await look();
    }
  } catch (error) {
    if (!ending.signal.aborted) throw error;
  } finally {
    screen.end();
  }
}

function changesTree({ type }: DurableEvent): boolean {
  return type.startsWith('task.') || type.startsWith('question.') || type.startsWith('turn.') || type.startsWith('session.');
}

class Screen {
  #shown: readonly string[] = [];

  constructor(private readonly options: WatchOptions) {}

  tell(event: DurableEvent): void {
    if (this.options.json) this.options.terminal.out.write(`${JSON.stringify(event)}\n`);
  }

  draw(lines: readonly string[]): void {
    const { terminal, json } = this.options;
    if (json) return;
    if (terminal.interactive) {
      const up = this.#shown.length > 0 ? `\u001b[${this.#shown.length}A\u001b[0J` : '';
      terminal.out.write(`${up}${lines.join('\n')}\n`);
    } else {
      const fresh = lines.filter((line) => !this.#shown.includes(line));
      if (fresh.length > 0) terminal.out.write(`${fresh.join('\n')}\n`);
    }
    this.#shown = lines;
  }

  end(): void {
    this.#shown = [];
  }
}
