/** Plays a sequence of commands in the product and in the model, and compares what both answer and what both are then. */
import { findViolations } from '../support/invariants.js';
import type { World } from '../support/world.js';
import type { NamedCommand } from './commands.js';
import type { Draw } from './draw.js';
import { factsOf, outcomeFact } from './facts.js';
import { emptyModel, type Model, nextWork } from './model.js';
import { predict } from './predict.js';
import { Product } from './product.js';
import { Rows } from './rows.js';
import { DRAINED_AFTER, nextToDrain, PREFIX, understand } from './steps.js';

const TABLES = ['task_dependency', 'tool_call', 'message', 'turn', 'queue_entry', 'session', 'outbox', 'event'];

/** How many commands ran, and in how many sequences each fact came about, or a command had an outcome. */
export interface Tally {
  commands: number;
  readonly sequences: Map<string, number>;
}

/** Fails where product and model part; the database is empty again afterwards. */
export async function play(world: World, steps: readonly (readonly Draw[])[], tally: Tally): Promise<void> {
  const player = new Player(new Product(world));
  try {
    for (const command of PREFIX) await player.step([command]);
    for (const [at, draws] of steps.entries()) await player.step(player.understand(draws, at));
    await player.drain();
    const violations = await findViolations(world.database);
    if (Object.keys(violations).length > 0) player.fail(`an invariant is broken: ${JSON.stringify(violations)}`);
  } finally {
    player.count(tally);
    await empty(world);
  }
}

/** Deletes what a sequence made, what refers before what is referred to; a twentieth of what TRUNCATE costs. */
async function empty(world: World): Promise<void> {
  await world.database.transaction(async (tx) => {
    await Promise.all(TABLES.map((table) => tx.query(`DELETE FROM ${table}`)));
    const deleteLeaves = () =>
      tx.query('DELETE FROM task t WHERE NOT EXISTS (SELECT 1 FROM task child WHERE child.parent_id = t.id) RETURNING t.id');
    while ((await deleteLeaves()).length > 0);
  });
}

class Player {
  #model: Model = emptyModel();
  #rows: Rows | null = null;
  readonly #story: string[] = [];
  readonly #seen = new Set<string>();

  constructor(private readonly product: Product) {}

  understand(draws: readonly Draw[], at: number): readonly NamedCommand[] {
    return understand(this.#model, draws, at);
  }

  /** Runs the commands at once; some order of them must explain what they answered and what is there afterwards. */
  async step(commands: readonly NamedCommand[]): Promise<void> {
    const { world } = this.product;
    const announcedBefore = world.announced.length;
    this.product.see(this.#rows ?? (await Rows.read(world, this.product.claims)));
    const outcomes = await Promise.all(commands.map((command) => this.product.perform(command)));
    const rows = await Rows.read(world, this.product.claims);
    commands.forEach((command, index) => this.#tell(command, outcomes[index] ?? ''));
    this.#explain(commands, outcomes, rows);
    this.#checkWork(rows, new Set(world.announced.slice(announcedBefore)));
    this.#model = rows.model;
    for (const fact of factsOf(rows.model)) this.#seen.add(fact);
    this.#rows = rows;
  }

  #tell(command: NamedCommand, outcome: string): void {
    this.#story.push(`${JSON.stringify(command)} → ${outcome}`);
    this.#seen.add(outcomeFact(command, outcome));
  }

  #explain(commands: readonly NamedCommand[], outcomes: readonly string[], rows: Rows): void {
    const found = fingerprint(rows.model);
    const tried: string[] = [];
    for (const order of ordersOf(commands.length)) {
      const model = structuredClone(this.#model);
      const predicted = commands.map(() => '');
      for (const index of order) predicted[index] = predict(model, commands[index] as NamedCommand);
      const expected = fingerprint(model);
      if (predicted.join() === outcomes.join() && expected === found) return;
      tried.push(predicted.join() === outcomes.join() ? difference(expected, found) : `the model answers ${predicted.join(', ')}`);
    }
    this.fail(`no order of the last ${commands.length} explains what happened:\n${tried.join('\n')}`);
  }

  /** K1, K10: the stored mark says what admission says, and work that nobody holds was announced by the commit that made it. */
  #checkWork(rows: Rows, announced: ReadonlySet<string>): void {
    for (const session of rows.model.sessions) {
      const isFree = session.lease === 'none';
      const hasWork = isFree && nextWork(rows.model, session) !== null;
      if (isFree && rows.runnable.has(session.name) !== hasWork)
        this.fail(`${session.name} is marked wrongly: it has ${hasWork ? '' : 'no '}work`);
      const before = this.#model.sessions.find(({ name }) => name === session.name);
      const hadWork = before?.lease === 'none' && nextWork(this.#model, before) !== null;
      if (hasWork && !hadWork && !announced.has(rows.sessionId(session.name))) this.fail(`${session.name} got work and was not announced`);
    }
  }

  /** Lets workers do what is left, until nobody has work. */
  async drain(): Promise<void> {
    for (let at = 0; at < DRAINED_AFTER; at++) {
      const command = nextToDrain(this.#model, at);
      if (!command) return;
      await this.step([command]);
    }
    this.fail('the work does not end');
  }

  count(tally: Tally): void {
    tally.commands += this.#story.length;
    for (const fact of this.#seen) tally.sequences.set(fact, (tally.sequences.get(fact) ?? 0) + 1);
  }

  fail(what: string): never {
    throw new Error(`${what}\n\nthe sequence:\n${this.#story.join('\n')}`);
  }
}

function ordersOf(count: number): readonly (readonly number[])[] {
  if (count <= 1) return [count === 0 ? [] : [0]];
  return ordersOf(count - 1).flatMap((order) => Array.from({ length: count }, (_, at) => order.toSpliced(at, 0, count - 1)));
}

/** The state as lines, one for each thing in it, whatever the order in which they were made. */
function fingerprint({ tasks, sessions, questions, userQuestions }: Model): string {
  const things = [...tasks, ...sessions, ...questions, ...userQuestions].map((thing) => canonical(thing));
  return things.toSorted().join('\n');
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).toSorted()) : inner,
  );

function difference(expected: string, found: string): string {
  const [ours, theirs] = [expected.split('\n'), found.split('\n')];
  const only = (lines: readonly string[], others: readonly string[]) => lines.filter((line) => !others.includes(line)).join('\n    ');
  return `  expected:\n    ${only(ours, theirs)}\n  found:\n    ${only(theirs, ours)}`;
}
