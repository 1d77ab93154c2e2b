import { WORKSPACE_LIMITS } from './limits.js';
import type { SandboxChoice } from './sandbox.js';

/** How commands run in this process; set by the deployment, never by a model. */
export interface CommandPolicy {
  readonly defaultTimeoutSeconds: number;
  readonly maxTimeoutSeconds: number;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** `HOME` of commands; null: the task folder, so that no credentials of the worker's account are in reach by name. */
  readonly home: string | null;
  /** Names of further variables of this process that commands may see. */
  readonly inheritedVariables: readonly string[];
  /** Further variables, with their values. */
  readonly variables: Readonly<Record<string, string>>;
  readonly sandbox: SandboxChoice;
  /** Absolute folders that a sandboxed command does not see, such as the data folder with the database's password. */
  readonly hiddenFolders: readonly string[];
}

const DEFAULT_POLICY: CommandPolicy = {
  defaultTimeoutSeconds: WORKSPACE_LIMITS.commandTimeoutSeconds,
  maxTimeoutSeconds: WORKSPACE_LIMITS.commandMaxTimeoutSeconds,
  graceMs: 2_000,
  home: null,
  inheritedVariables: [],
  variables: {},
  sandbox: 'auto',
  hiddenFolders: [],
};

export function commandPolicy(given: Partial<CommandPolicy> = {}): CommandPolicy {
  return { ...DEFAULT_POLICY, ...given };
}

/** Everything else of this process's environment, provider keys and database URLs above all, stays here. */
const INHERITED_VARIABLES = ['PATH', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'USER', 'LOGNAME'] as const;

/** Nobody is at the terminal: no pager, no prompt, no colours. Reading git commands take no lock; root does not keep an archive's owners. */
const FIXED_VARIABLES = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  DEBIAN_FRONTEND: 'noninteractive',
  TAR_OPTIONS: '--no-same-owner',
} as const;

/** The whole environment of a command that runs in the task folder `root`: an allow-list (operations.md, "Commands"). */
export function commandEnvironment(policy: CommandPolicy, root: string, own: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const names = [...INHERITED_VARIABLES, ...policy.inheritedVariables];
  const inherited = names.flatMap((name): [string, string][] => (own[name] === undefined ? [] : [[name, own[name]]]));
  const defaults = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };
  const home = { HOME: policy.home ?? root };
  return Object.fromEntries([
    ...Object.entries(defaults),
    ...inherited,
    ...Object.entries({ ...FIXED_VARIABLES, ...home, ...policy.variables }),
  ]);
}
