/**
 * What actors do, as data: a command names everything by the command that made it, so that it means the same in the model and in the
 * product, whatever runs beside it. To add one: a case here, in the draws, in the model's `predict`, and in the product's
 * `perform`.
 */
import type { EndState } from './model.js';

/** The operator, or the agent of a session; `turn` is the turn that it believes to run, null where its call names none. */
export type Who = { readonly kind: 'operator' } | { readonly kind: 'agent'; readonly session: string; readonly turn: number | null };
type Agent = Extract<Who, { readonly kind: 'agent' }>;

export type Command =
  | { readonly do: 'create'; readonly by: Who; readonly parent: string | null; readonly autopilot: boolean; readonly starts: boolean }
  | { readonly do: 'ask'; readonly by: Agent; readonly key: string }
  | { readonly do: 'ask_user'; readonly by: Agent }
  | { readonly do: 'answer_user'; readonly question: string; readonly rejects: boolean }
  | { readonly do: 'message'; readonly by: Who; readonly task: string; readonly session: string | null; readonly interrupts: boolean }
  | { readonly do: 'answer'; readonly by: Who; readonly task: string; readonly session: string | null; readonly question: string | null }
  | { readonly do: 'claim'; readonly session: string }
  | { readonly do: 'end'; readonly session: string; readonly epoch: number; readonly how: TurnEnd; readonly drains: boolean }
  | { readonly do: 'signal'; readonly by: Agent }
  | { readonly do: 'stop_turn'; readonly by: Who; readonly session: string; readonly turn: number }
  | { readonly do: 'stop_task'; readonly by: Who; readonly task: string; readonly cascade: boolean }
  | { readonly do: 'archive'; readonly by: Who; readonly task: string }
  | { readonly do: 'unarchive'; readonly by: Who; readonly task: string }
  | { readonly do: 'set_state'; readonly task: string; readonly state: 'review' | EndState }
  | { readonly do: 'auto_run'; readonly by: Who; readonly session: string; readonly on: boolean }
  | { readonly do: 'time_out'; readonly question: string }
  | { readonly do: 'open_session'; readonly task: string }
  | { readonly do: 'end_session'; readonly session: string }
  | { readonly do: 'lose_lease'; readonly session: string }
  | { readonly do: 'sweep'; readonly session: string }
  | { readonly do: 'back_off_passes'; readonly session: string }
  | { readonly do: 'spawn'; readonly by: Who; readonly task: string; readonly primary: boolean; readonly repeats: boolean }
  | { readonly do: 'reparent'; readonly task: string; readonly parent: string | null }
  | { readonly do: 'delete'; readonly by: Who; readonly task: string; readonly cascade: boolean }
  | { readonly do: 'add_dependency'; readonly by: Who; readonly task: string; readonly blocker: string }
  | { readonly do: 'remove_dependency'; readonly by: Who; readonly task: string; readonly blocker: string }
  | { readonly do: 'edit_entry'; readonly session: string; readonly entry: number; readonly revision: number }
  | { readonly do: 'move_entry'; readonly session: string; readonly entry: number; readonly before: number | null }
  | { readonly do: 'remove_entry'; readonly session: string; readonly entry: number };

export type TurnEnd = 'completed' | 'tool_ended_turn' | 'loop_detected' | 'error' | 'handed_over' | 'parked';

/** A command under its own name. */
export type NamedCommand = Command & { readonly name: string };
