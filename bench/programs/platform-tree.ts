/** A tree of tasks on the product whose agents relay questions, and what reading it costs. */
import type { OperatorActor } from '@echelon/orchestration';
import type { Platform } from '@echelon/platform';
import { QuestionTree, type TreeSize } from '../../test/scale/question-tree.js';
import { now } from '../clock.js';
import { percentile } from '../statistics.js';

export interface TreeWork {
  /** Creates the tree; its tasks rest. Tells how many levels it has. */
  growTree(size: TreeSize): Promise<{ readonly levels: number }>;
  /** Lets the questions climb, and checks each answer; `faults` are lines for a person. */
  climbTree(work: object): Promise<{ readonly ms: number; readonly faults: readonly string[] }>;
  /** The 95th percentile of reading each kind of page so often. */
  readPages(work: { readonly samples: number }): Promise<readonly { readonly page: string; readonly ms: number }[]>;
}

interface Place {
  readonly operator: OperatorActor;
  readonly workspaceId: string;
  readonly profileId: string;
}

const LIMIT = 200;

export function createTreeWork(platform: Platform, { operator, workspaceId, profileId }: Place): TreeWork {
  let tree: QuestionTree | null = null;
  const grown = () => {
    if (!tree) throw new Error('there is no tree');
    return tree;
  };
  return {
    growTree: async (size) => {
      tree = new QuestionTree(platform, operator, size);
      await tree.grow({ workspace_id: workspaceId, profile_id: profileId });
      return { levels: tree.levels };
    },
    climbTree: async () => {
      const startedAt = now();
      await grown().climb();
      const ms = now() - startedAt;
      return { ms, faults: await grown().listFaults() };
    },
    readPages: async ({ samples }) => {
      const pages = pagesOf(platform, { operator, workspaceId, rootId: grown().rootId });
      const figures: { page: string; ms: number }[] = [];
      for (const [page, read] of Object.entries(pages)) figures.push({ page, ms: await measurePage(read, samples) });
      return figures;
    },
  };
}

function pagesOf(
  { services: { tasks, questions, sessions, events } }: Platform,
  { operator, workspaceId, rootId }: Pick<Place, 'operator' | 'workspaceId'> & { readonly rootId: string },
): Readonly<Record<string, () => Promise<unknown>>> {
  const page = { workspace_id: workspaceId, limit: LIMIT };
  return {
    'tasks, newest': () => tasks.list(operator, page),
    'children of a task': () => tasks.list(operator, { ...page, parent_id: rootId }),
    'roots of a workspace': () => tasks.list(operator, { ...page, roots_only: true }),
    'relations of a task': () => tasks.listRelated(operator, rootId),
    'questions, newest': () => questions.list(operator, { kind: 'parent', limit: LIMIT }),
    'questions that wait': () => questions.list(operator, { kind: 'parent', status: 'pending', limit: LIMIT }),
    'questions of a task': () => questions.list(operator, { kind: 'parent', task_id: rootId, limit: LIMIT }),
    'transcript of a task': () => sessions.listMessages(operator, { taskId: rootId, limit: LIMIT }),
    'events from the first on': () => events.read(operator, { after: null, limit: LIMIT }),
  };
}

async function measurePage(read: () => Promise<unknown>, samples: number): Promise<number> {
  await read();
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    const startedAt = now();
    await read();
    times.push(now() - startedAt);
  }
  return percentile(times, 0.95);
}
