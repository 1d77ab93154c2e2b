/** What a scenario of the parity suite says, and what is seen of it on a surface (agent-loop.md §8). */
import type { LoopStop } from '@echelon/agent-loop';
import type { HooksConfig } from '@echelon/contracts';
import type { ScriptedRequest, ScriptedResponse } from '@echelon/scripted-model';

/** How a response is made: as it stands, or from its request. */
export type Reply = ScriptedResponse | ((request: ScriptedRequest) => ScriptedResponse);

export interface Scenario {
  /** Row of the requirement, such as `G8.3`. */
  readonly row: string;
  /** Unique; also the name of its model. */
  readonly name: string;
  /** The n-th request gets the n-th reply, the last one also every later. */
  readonly replies: readonly Reply[];
  /** What a person says, one turn each; default one. */
  readonly prompts?: readonly string[];
  /** In the folder before the first prompt. */
  readonly files?: Readonly<Record<string, string>>;
  readonly mode?: 'ask' | 'plan' | 'full_access';
  /** By tool: what whoever is asked says. A tool that is not named is allowed. */
  readonly answers?: Readonly<Record<string, 'allow' | 'always' | 'deny'>>;
  readonly hooks?: HooksConfig;
  readonly turnCap?: number;
  readonly launches?: number;
  readonly tokens?: number;
  readonly contextWindow?: number;
  /** A second model is there to fall back to. */
  readonly fallback?: boolean;
  readonly cancel?: CancelPoint;
  /** Said while the first turn runs, once this file is there. */
  readonly input?: { readonly once: string; readonly text: string };
  /** The process is killed, and the turn is gone on with in another. */
  readonly kill?: CancelPoint;
  /** The last turn is asked for anew. */
  readonly retries?: number;
  /** JSON schema of the result, where a surface gives one. */
  readonly resultSchema?: Readonly<Record<string, unknown>>;
}

/** When the turn is cancelled: with its n-th request out, or once a file is there. */
export type CancelPoint = { readonly request: number } | { readonly once: string };

/** What was seen of one run. */
export interface Observed {
  /** Messages of each request that the model got, normalized. */
  readonly requests: readonly unknown[];
  /** How each turn ended, in the words of the surface; of the bare loop as JSON. */
  readonly stops: readonly string[];
  /** The last text of each turn. */
  readonly texts: readonly string[];
  /** What is in the folder afterwards. */
  readonly files: Readonly<Record<string, string>>;
}

export interface Run {
  readonly scenario: Scenario;
  readonly folder: string;
  /** Name of the model that plays the scenario on this surface. */
  readonly model: string;
  /** Resolves when the scenario's cancel, input or kill is due. */
  readonly due: (point: CancelPoint) => Promise<void>;
}

/** What a surface tells of a run beside what the model and the folder show. */
export type Told = Pick<Observed, 'texts' | 'stops'>;

export interface Surface {
  readonly name: string;
  /** The surface's word for a loop that stopped so. */
  readonly stopsAs: (stop: LoopStop) => string;
  /** What the surface itself says last of a turn that stopped so; `null`: nothing. */
  readonly says?: (stop: LoopStop) => string | null;
  run(run: Run): Promise<Told>;
  close(): Promise<void>;
}
