/** How a turn ends for the person at the terminal: every reason for which the loop stops, in one table (agent-loop.md §3). */
import type { Budget, LoopStop, StopReason } from '@echelon/agent-loop';
import type { Level } from './chat-item.js';

export interface TurnEnd {
  readonly level: Level;
  readonly text: string;
}

type Ends = { readonly [Reason in StopReason]: (stop: Extract<LoopStop, { reason: Reason }>) => TurnEnd };

const info = (text: string): TurnEnd => ({ level: 'info', text });
const warning = (text: string): TurnEnd => ({ level: 'warning', text });
const error = (text: string): TurnEnd => ({ level: 'error', text });

const BUDGETS: Readonly<Record<Budget, string>> = {
  rounds: 'model requests',
  launches: 'tool calls',
  wall_time: 'time',
  tokens: 'tokens',
  cost: 'cost',
};

const ENDS: Ends = {
  completed: () => info('Done.'),
  completed_empty: () => warning('The model ended without a text.'),
  tool_ended_turn: ({ tool }) => info(`${tool} ended the turn.`),
  surface_ended: () => info('The turn was ended here.'),
  cancelled: () => warning('Stopped.'),
  next_round: () => warning('The turn stopped between two requests.'),
  loop_detected: ({ explanation }) => error(`The model runs in circles: ${explanation}.`),
  duplicate_provider_call: () => error('The model repeats calls that were handled already; none of them ran again.'),
  turn_cap: ({ cap }) => warning(`The session has used its ${cap} model requests (settings file, limits.max_turns).`),
  token_limit: ({ limit }) => warning(`The conversation has reached its limit of ${limit} tokens. /clear begins a new one.`),
  prompt_blocked: ({ explanation }) => warning(`A hook blocked the prompt: ${explanation}`),
  output_limit: () => error('The answer was cut off at the output limit.'),
  content_filtered: () => error('The provider filtered the answer.'),
  tool_format: () => error('The model called its tools in a form that cannot be read, twice.'),
  budget_exhausted: ({ budget }) => warning(`The budget of ${BUDGETS[budget]} is spent.`),
  parked: () => warning('The turn waits for something that takes too long. /retry asks again.'),
  handed_over: () => warning('The turn was given up because its process ends.'),
  error: ({ message }) => error(`The turn failed: ${message} (/retry asks again)`),
};

export function describeEnd(stop: LoopStop): TurnEnd {
  const end = ENDS[stop.reason] as (stop: LoopStop) => TurnEnd;
  return end(stop);
}
