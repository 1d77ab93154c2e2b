/** A finite machine as data: `table[state][event]` is the next state; an event that is absent is refused. */
export type MachineTable = Readonly<Record<string, Readonly<Record<string, string>>>>;

type ClosedTable<T extends MachineTable> = { readonly [S in keyof T]: { readonly [E in keyof T[S]]: keyof T & string } };

/** Names of the states of a machine's table. */
export type StateOf<M> = M extends Machine<infer S, string> ? S : never;
/** Names of the events of a machine's table. */
export type EventOf<M> = M extends Machine<string, infer E> ? E : never;

export interface Machine<State extends string, Event extends string> {
  readonly states: readonly State[];
  readonly events: readonly Event[];
  /** The state after `event`, or `undefined` where the event is refused. */
  next(state: State, event: Event): State | undefined;
  /** A state that no event leaves. */
  isTerminal(state: State): boolean;
  transitions(): readonly { readonly from: State; readonly event: Event; readonly to: State }[];
}

type TableEvent<T extends MachineTable> = { [S in keyof T]: keyof T[S] & string }[keyof T];

/** Types a table as a machine; a target that is no state of the table does not compile. */
export function defineMachine<const T extends MachineTable>(table: T & ClosedTable<T>): Machine<keyof T & string, TableEvent<T>> {
  type State = keyof T & string;
  const rows = table as MachineTable;
  const states = Object.keys(table) as State[];
  const transitions = states.flatMap((from) => Object.entries(rows[from] ?? {}).map(([event, to]) => ({ from, event, to })));
  return {
    states,
    events: [...new Set(transitions.map(({ event }) => event))],
    next: (state, event) => rows[state]?.[event],
    isTerminal: (state) => Object.keys(rows[state] ?? {}).length === 0,
    transitions: () => transitions,
  };
}
