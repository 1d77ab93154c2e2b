/** Random sequences: single draws, and stories of what seldom comes about by itself. */
import fc from 'fast-check';
import type { Command } from './commands.js';
import type { Draw } from './draw.js';
import { ALONE } from './steps.js';

type Kind = Command['do'];

/** How often each kind is drawn; the prefix of every sequence makes a root and two levels below it. */
const WEIGHTS: Readonly<Record<Kind, number>> = {
  claim: 16,
  end: 14,
  ask: 14,
  answer: 14,
  message: 12,
  create: 6,
  lose_lease: 5,
  sweep: 5,
  signal: 4,
  ask_user: 4,
  answer_user: 4,
  stop_turn: 4,
  auto_run: 3,
  back_off_passes: 2,
  time_out: 2,
  open_session: 2,
  end_session: 1,
  stop_task: 1,
  archive: 1,
  unarchive: 1,
  set_state: 1,
  spawn: 2,
  reparent: 3,
  delete: 2,
  add_dependency: 3,
  remove_dependency: 2,
  edit_entry: 1,
  move_entry: 2,
  remove_entry: 1,
};

/** A step of a story: a kind with what is likely, or with picks of its own. */
type StoryStep = Kind | readonly [Kind, ...number[]];
const ASKED: readonly StoryStep[] = ['claim', 'ask', 'end'];
const LOST: readonly StoryStep[] = ['claim', 'lose_lease', 'sweep'];

const STORIES: Readonly<Record<string, readonly StoryStep[]>> = {
  'a question that is relayed': [...ASKED, ...ASKED, 'claim', 'answer', 'end', 'claim', 'answer'],
  'a turn that no worker finishes': [...LOST, ...LOST, 'back_off_passes', ...LOST],
  'a parked turn that goes on': ['claim', 'ask_user', 'end', 'answer_user', 'claim', 'end'],
  'a question told anew': [...ASKED, 'open_session', 'end_session'],
  'a child that is taken away': [...ASKED, 'reparent', 'claim'],
  'a child that asks and is deleted': [...ASKED, 'delete'],
  'a parent that is asked and deleted': [...ASKED, ['delete', 1, 1]],
  'a parent that is asked and archived': [...ASKED, 'archive', 'message'],
  'a child that asks and is archived': [...ASKED, ['archive', 1]],
  'a child that asks and is over': [...ASKED, 'set_state'],
  'a child that asks in vain': [...ASKED, 'time_out'],
  'a child that asks and is told otherwise': [...ASKED, ['message', 0, 1, 0, 0, 2]],
  'a question answered too early, and wrongly': [
    'claim',
    'ask',
    ['answer', 0, 1, 2],
    ['answer', 0, 0, 0, 9],
    ['answer', 0, 0, 0, 7],
    'answer',
    'ask',
  ],
  'a child that has nobody to ask': [
    ['reparent', 0, 0, 2],
    ['ask', 0, 0, 0, 0, 2],
  ],
  'a child that is interrupted': [
    ['claim', 1],
    ['message', 0, 0, 0, 2],
    ['message', 0, 1, 0, 2],
  ],
  'a task that waits for another': [['create', 0, 1, 3], 'add_dependency', 'message', 'set_state', 'remove_dependency'],
  'a queue that another session takes over': ['message', 'stop_task', 'spawn', 'claim'],
  'a queue that is rearranged': ['message', 'message', 'move_entry', 'edit_entry', 'remove_entry'],
  'a turn that nobody holds beside one that runs': [['claim', 1], 'spawn', ['end', 0, 5], ['claim', 2], 'end'],
  'a turn without a worker beside one that runs': [['claim', 1], 'spawn', 'lose_lease', 'sweep', ['claim', 2], 'end'],
};

const kinds = Object.entries(WEIGHTS) as readonly (readonly [Kind, number])[];
const kind = fc.oneof(...kinds.map(([name, weight]) => ({ weight, arbitrary: fc.constant(name) })));
const pick = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(11) });
const picks = fc.tuple(pick, pick, pick, pick, pick);
const single: fc.Arbitrary<Draw> = fc.record({ do: kind, picks, joins: fc.nat(2).map((one) => one > 0) });

function stepOf(step: StoryStep): fc.Arbitrary<Draw> {
  const [name, ...given] = typeof step === 'string' ? ([step] as const) : step;
  const mostly = fc.oneof({ weight: 6, arbitrary: fc.constant(given) }, { weight: 1, arbitrary: picks });
  return fc.record({ do: fc.constant(name), picks: mostly, joins: fc.nat(5).map((one) => one === 5) });
}

const stories = Object.values(STORIES).map((steps) => fc.tuple(...steps.map(stepOf)));
const part = fc.oneof({ weight: 20, arbitrary: fc.tuple(single) }, ...stories.map((arbitrary) => ({ weight: 1, arbitrary })));

/** Steps of one command each, or of up to so many that run at once. */
export function sequences(atOnce: number): fc.Arbitrary<readonly (readonly Draw[])[]> {
  return fc.array(part, { minLength: 4, maxLength: 14, size: 'max' }).map((parts) => inSteps(parts.flat(), atOnce));
}

function inSteps(draws: readonly Draw[], atOnce: number): readonly (readonly Draw[])[] {
  const steps: Draw[][] = [];
  for (const draw of draws) {
    const last = steps.at(-1);
    const hasRoom = last !== undefined && last.length < atOnce && ![...last, draw].some((one) => ALONE.includes(one.do));
    if (draw.joins && hasRoom) last.push(draw);
    else steps.push([draw]);
  }
  return steps;
}
