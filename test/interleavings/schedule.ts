/**
 * Every order in which the statements of two operations can reach Postgres: a search without memory that plays each schedule from
 * its beginning, and takes at the last choice with an alternative the next one.
 *
 * E1  A statement that waits for a lock of the other actor leaves one choice: the other actor.
 * E2  Of two neighbours that commute, one order stands for both: an actor that was passed over sleeps until the other runs a
 *     statement that does not commute with the sleeper's next one (sleep sets).
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Tx } from '@echelon/persistence';
import type { Actor } from './gate.js';
import { commute } from './statement-kind.js';

interface Choice {
  readonly taken: number;
  readonly of: number;
}

/** One schedule that was played. */
export interface Played {
  /** Who ran what, in order. */
  readonly steps: readonly string[];
  readonly choices: readonly Choice[];
  /** Its order is another's, up to neighbours that commute. */
  readonly repeats: boolean;
}

/** Plays schedules until there is none left; `play` sets the stage, plays one and checks it. Returns how many differ. */
export async function exploreAll(play: (prefix: readonly number[]) => Promise<Played>): Promise<number> {
  let prefix: readonly number[] | null = [];
  let played = 0;
  while (prefix) {
    const { choices, repeats }: Played = await play(prefix);
    if (!repeats) played++;
    prefix = nextPrefix(choices);
  }
  return played;
}

function nextPrefix(choices: readonly Choice[]): readonly number[] | null {
  const last = choices.findLastIndex(({ taken, of }) => taken + 1 < of);
  if (last < 0) return null;
  return [...choices.slice(0, last).map(({ taken }) => taken), choices[last]!.taken + 1];
}

/** Plays the actors' operations to their end: the choices of `prefix` first, then always the first actor that can go on. */
export async function playSchedule(watch: Tx, actors: readonly Actor[], prefix: readonly number[]): Promise<Played> {
  const steps: string[] = [];
  const choices: Choice[] = [];
  const asleep = new Set<Actor>();
  let repeats = false;
  for (;;) {
    await untilSettled(watch, actors);
    const ready = actors.filter(({ standing }) => standing === 'waits');
    if (ready.length === 0) {
      if (actors.every(({ standing }) => standing === 'over')) return { steps, choices, repeats };
      await Promise.race(actors.map((actor) => actor.changed()));
      continue;
    }
    const awake = ready.filter((actor) => !asleep.has(actor));
    if (awake.length === 0) repeats = true;
    const options = awake.length === 0 ? ready : awake;
    const taken = options.length === 1 ? 0 : choose(choices, prefix, options.length);
    const chosen = options[taken]!;
    for (const passedOver of options.slice(0, taken)) asleep.add(passedOver);
    for (const sleeper of asleep) if (sleeper === chosen || !commute(sleeper.next, chosen.next)) asleep.delete(sleeper);
    steps.push(`${actors.indexOf(chosen)}: ${chosen.next.trim().slice(0, 80)}`);
    chosen.step();
  }
}

function choose(choices: Choice[], prefix: readonly number[], of: number): number {
  const taken = prefix[choices.length] ?? 0;
  choices.push({ taken, of });
  return taken;
}

/** Resolves when nobody computes, and whoever is in Postgres waits there for a lock. */
async function untilSettled(watch: Tx, actors: readonly Actor[]): Promise<void> {
  for (;;) {
    const computing = actors.filter(({ standing }) => standing === 'computes');
    const inPostgres = actors.filter(({ standing }) => standing === 'in_postgres');
    if (computing.length === 0 && inPostgres.length === 0) return;
    if (computing.length > 0) await Promise.race(actors.map((actor) => actor.changed()));
    else if (!(await Promise.race([...inPostgres.map((actor) => actor.changed().then(() => true)), delay(2, false)]))) {
      if (await allWait(watch, inPostgres)) return;
    }
  }
}

async function allWait(watch: Tx, actors: readonly Actor[]): Promise<boolean> {
  const pids = actors.filter(({ standing }) => standing === 'in_postgres').map(({ pid }) => pid);
  const [row] = await watch.query<{ count: number }>(
    `SELECT count(DISTINCT pid)::int AS count FROM pg_locks WHERE NOT granted AND pid = ANY ($1::int[])`,
    [pids],
  );
  return pids.length > 0 && row?.count === pids.length;
}
