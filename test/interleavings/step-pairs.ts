/** Pairs of operations that race for the step that a task is in. */
import { isRefusal } from '@echelon/domain';
import type { Workflow } from '@echelon/contracts';
import { ASK } from '../support/waiting-child.js';
import { Workflows } from '../support/workflows.js';
import type { TestTask, World } from '../support/world.js';
import type { Pair } from './pairs.js';

interface Ground {
  readonly workflow: Workflow;
  readonly task: TestTask;
}

/** An autopilot child in the first of two steps; the second has instructions. */
async function set(world: World): Promise<Ground> {
  const workflows = new Workflows(world);
  const workflow = await workflows.define({ name: 'A' }, { name: 'B', instructions: 'Do B.' });
  return { workflow, task: await workflows.taskIn(workflow, 'A', { parent: await world.task(), autopilot: true }) };
}

function move(through: World, { task, workflow }: Ground): Promise<object> {
  return new Workflows(through).move(through.operator, task, workflow, 'B');
}

/** Why the task moved, `none` where it did not; fails where its step or its instructions say otherwise. */
async function causeOf(world: World, { task }: Ground): Promise<string> {
  const workflows = new Workflows(world);
  const moves = await workflows.told(task, 'task.moved');
  const notices = (await world.entries(task.sessionId)).filter(({ kind }) => kind === 'notice');
  const step = await workflows.stepOf(task);
  if (moves.length > 1 || notices.length !== moves.length || step !== (moves.length === 1 ? 'B' : 'A'))
    throw new Error(`${moves.length} moves and ${notices.length} instructions left the task in ${step}`);
  const cause = moves[0]?.['cause'];
  return typeof cause === 'string' ? cause : 'none';
}

export const STEP_PAIRS: Readonly<Record<string, Pair>> = {
  'move and end of the turn [K5]': {
    outcomes: ['request', 'deferred_request'],
    async set(world) {
      const ground = await set(world);
      const claimed = await world.openTurn(ground.task.sessionId);
      return {
        first: (through) => move(through, ground),
        second: (through) => through.endTurn(claimed),
        async judge(moved) {
          if (isRefusal(moved as object)) throw new Error('a move was refused');
          const cause = await causeOf(world, ground);
          const { deferred } = moved as { readonly deferred: boolean };
          return deferred === (cause === 'deferred_request') ? cause : `${cause}, but told ${deferred}`;
        },
      };
    },
  },

  'move and ask [A17]': {
    outcomes: ['request', 'none'],
    async set(world) {
      const ground = await set(world);
      const claimed = await world.openTurn(ground.task.sessionId);
      return {
        first: (through) => move(through, ground),
        second: (through) => through.services.questions.askParent(through.agent(ground.task), ASK, 'call-1'),
        async judge(moved) {
          await world.endTurn(claimed);
          const cause = await causeOf(world, ground);
          const voided = (await new Workflows(world).told(ground.task, 'task.move_voided')).length;
          const { deferred } = moved as { readonly deferred: boolean };
          return deferred === (cause === 'none') && voided === (deferred ? 1 : 0)
            ? cause
            : `${cause}, but told ${deferred}, voided ${voided}`;
        },
      };
    },
  },

  'move and removal of the step [K20]': {
    outcomes: ['moved', 'removed'],
    async set(world) {
      const ground = await set(world);
      const only = { name: 'A', on_turn_complete: 'none' as const, requires_signal: false, instructions: '' };
      return {
        first: (through) => move(through, ground),
        second: (through) => new Workflows(through).service.update(through.operator, ground.workflow.id, { steps: [only] }),
        async judge(...outcomes) {
          const [moved, removed] = outcomes.map((outcome) => !isRefusal(outcome as object));
          const step = await new Workflows(world).stepOf(ground.task);
          if (moved === removed || step !== (moved ? 'B' : 'A')) throw new Error(`moved ${moved}, removed ${removed}, in ${step}`);
          return moved ? 'moved' : 'removed';
        },
      };
    },
  },
};
