import { refuse, type Refusal, type RuntimeKind } from '@echelon/domain';

export interface GivenAgent {
  readonly runtime: RuntimeKind;
  readonly command?: readonly string[] | null | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

export interface ProfileAgent {
  readonly command: readonly string[] | null;
  readonly provider: string;
  readonly model: string;
}

/**
 * What runs a profile's agent: with runtime `acp` a command, and only there; otherwise a provider's model. An agent of its own brings
 * its model along, so that there both are only names to show: `acp` and the program where nothing else is given.
 */
export function resolveAgent({ runtime, command = null, provider, model }: GivenAgent): ProfileAgent | Refusal {
  if (runtime !== 'acp' && command) return refuse('INVALID_INPUT', { field: 'command', rule: 'only with runtime acp' });
  if (runtime === 'acp') {
    const [program] = command ?? [];
    if (program === undefined) return refuse('INVALID_INPUT', { field: 'command', rule: 'required with runtime acp' });
    return { command, provider: provider ?? 'acp', model: model ?? program.slice(0, 200) };
  }
  if (provider === undefined) return refuse('INVALID_INPUT', { field: 'provider', rule: 'required' });
  if (model === undefined) return refuse('INVALID_INPUT', { field: 'model', rule: 'required' });
  return { command: null, provider, model };
}
