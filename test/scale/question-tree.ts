/** A tree of tasks on the product, and questions that climb it and come back answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRefusal } from '@echelon/domain';
import type { OperatorActor, Outcome } from '@echelon/orchestration';
import type { Platform } from '@echelon/platform';
import { climbPrompt, endOfChain } from './climbing-script.js';

export interface TreeSize {
  readonly tasks: number;
  /** Tasks on the longest way from the root, both ends included. */
  readonly levels: number;
  readonly questions: number;
}

type Product = Pick<Platform, 'services' | 'database'>;

const CLIENTS = 16;
const POLL_MS = 100;

interface Place {
  readonly parent: number | null;
  readonly depth: number;
}

interface Chain {
  readonly from: number;
  readonly levels: number;
  readonly mark: string;
}

export class QuestionTree {
  readonly chains: readonly Chain[];
  readonly #product: Product;
  readonly #operator: OperatorActor;
  readonly #places: readonly Place[];
  readonly #ids: string[] = [];

  constructor(product: Product, operator: OperatorActor, size: TreeSize) {
    this.#product = product;
    this.#operator = operator;
    this.#places = planTree(size);
    this.chains = planChains(this.#places, size.questions);
  }

  get rootId(): string {
    return this.#ids[0] ?? '';
  }

  get levels(): number {
    return Math.max(...this.#places.map(({ depth }) => depth)) + 1;
  }

  /** Creates all tasks, level by level; none of them starts. */
  async grow(place: { readonly workspace_id: string; readonly profile_id: string }): Promise<void> {
    for (let depth = 0; depth < this.levels; depth++) {
      const level = this.#places.flatMap((one, number) => (one.depth === depth ? [{ ...one, number }] : []));
      await eachAtOnce(level, async ({ parent, number }) => {
        const where = parent === null ? { workspace_id: place.workspace_id } : { parent_id: this.#ids[parent] ?? '' };
        const given = { ...where, title: `Task ${number}`, prompt: 'Wait for orders.', profile_id: place.profile_id };
        const start = { autopilot: parent !== null, blocked_by: [], start_agent: false };
        this.#ids[number] = accepted(await this.#product.services.tasks.create(this.#operator, { ...given, ...start }, null)).id;
      });
    }
  }

  /** Lets every chain climb at once; resolves when nothing runs any more. */
  async climb(): Promise<void> {
    await eachAtOnce(this.chains, async ({ from, levels, mark }) => {
      const message = { prompt: climbPrompt(levels, mark), delivery_mode: 'queued' } as const;
      accepted(await this.#product.services.messages.send(this.#operator, this.#ids[from] ?? '', message));
    });
    do await sleep(POLL_MS);
    while (!(await this.#isQuiet()));
  }

  /** What must hold once all is quiet, and does not: lines for a person, none when every answer arrived exactly once where it belongs. */
  async listFaults(): Promise<readonly string[]> {
    const expected = this.chains.reduce((sum, { levels }) => sum + levels, 0);
    const questions = await this.#product.database.query<AskedRow>(QUESTIONS, [this.rootId]);
    const ends = await this.#product.database.query<{ mark: string; ends: number }>(ENDS, [this.rootId]);
    const endsOf = new Map(ends.map((row) => [row.mark, row.ends]));
    return [
      ...(questions.length === expected ? [] : [`${questions.length} questions instead of ${expected}`]),
      ...questions.filter(({ right }) => !right).map((question) => `question ${JSON.stringify(question)}`),
      ...this.chains.filter(({ mark }) => endsOf.get(endOfChain(mark)) !== 1).map(({ mark }) => `chain ${mark} did not end exactly once`),
    ];
  }

  async #isQuiet(): Promise<boolean> {
    const [row] = await this.#product.database.query<{ busy: boolean }>(
      'SELECT EXISTS (SELECT 1 FROM session WHERE runnable OR lease_owner IS NOT NULL) AS busy',
    );
    return row?.busy === false;
  }
}

interface AskedRow {
  readonly id: string;
  readonly right: boolean;
}

const TREE = `WITH RECURSIVE tree AS (SELECT id FROM task WHERE id = $1 UNION ALL SELECT t.id FROM tree JOIN task t ON t.parent_id = tree.id)`;

/** A question is right when the answer of its own chain came to it in one entry, which opened one turn of the session that asked. */
const QUESTIONS = `
${TREE}
SELECT q.id, q.metadata->>'status' AS status, count(e.id)::int AS entries, count(t.id)::int AS turns,
  q.metadata->>'status' = 'answered' AND count(e.id) = 1 AND count(t.id) = 1
    AND substring(q.metadata->'questions'->0->>'prompt' FROM 'for ([^.]+)\\.') = substring(q.metadata->'answer'->>'text' FROM 'for ([^.]+)\\.') AS right
FROM tree JOIN session s ON s.task_id = tree.id JOIN message q ON q.session_id = s.id AND q.type = 'parent_question'
  LEFT JOIN queue_entry e ON e.question_id = q.id AND e.kind = 'answer'
  LEFT JOIN turn t ON t.opening_entry_id = e.id AND t.session_id = q.session_id AND t.outcome = 'completed'
GROUP BY q.id, q.metadata ORDER BY q.id`;

/** How often each agent that began a chain said that it has its answer. */
const ENDS = `
${TREE}
SELECT part->>'text' AS mark, count(*)::int AS ends FROM tree JOIN session s ON s.task_id = tree.id
  JOIN message m ON m.session_id = s.id AND m.type = 'response', jsonb_array_elements(m.content::jsonb->'parts') AS part
WHERE part->>'type' = 'text' AND part->>'text' LIKE 'I have the answer for %' GROUP BY part->>'text'`;

/** A tree as narrow as its levels allow: the parent of task `n` is `(n - 1) / branching`. */
function planTree({ tasks, levels }: TreeSize): readonly Place[] {
  for (let branching = 1.05; ; branching += 0.05) {
    const places: Place[] = [{ parent: null, depth: 0 }];
    for (let number = 1; number < tasks; number++) {
      const parent = Math.floor((number - 1) / branching);
      places.push({ parent, depth: (places[parent]?.depth ?? 0) + 1 });
    }
    if ((places.at(-1)?.depth ?? 0) < levels) return places;
  }
}

/** Chains of one level, two, and so on to the root, from leaves all over the tree, until there are so many questions. */
function planChains(places: readonly Place[], questions: number): readonly Chain[] {
  const parents = new Set(places.map(({ parent }) => parent));
  const leaves = places.map((place, number) => ({ ...place, number })).filter(({ number }) => !parents.has(number));
  const chains: Chain[] = [];
  for (let left = questions; left > 0;) {
    const leaf = leaves[(chains.length * 7) % leaves.length];
    if (!leaf) throw new Error('a tree without leaves');
    const levels = Math.min(left, (chains.length % leaf.depth) + 1);
    chains.push({ from: leaf.number, levels, mark: `chain-${chains.length}` });
    left -= levels;
  }
  return chains;
}

async function eachAtOnce<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const work = async () => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
}

function accepted<T extends object>(outcome: Outcome<T>): T {
  if (isRefusal(outcome)) throw new Error(`refused: ${outcome.code} ${JSON.stringify(outcome.details)}`);
  return outcome;
}
