/** What a scenario wants of a surface that runs in the suite's own process. */
import type { LoopLimits } from '@echelon/agent-loop';
import type { Approve, SessionSettings } from '@echelon/agent-session';
import { createModelClient } from '@echelon/model-clients';
import { fallbackOf } from '../parity-model.js';
import type { Run, Scenario } from '../scenario.js';
import { DENIED } from './loop.js';

/** `rename` gives the models another name for a surface that asks more of them than the scenario. */
export function settingsOf({ scenario, model }: Run, modelUrl: string, rename = (name: string): string => name): SessionSettings {
  const client = createModelClient({ dialect: 'chat_completions', baseUrl: modelUrl });
  const window = scenario.contextWindow === undefined ? {} : { contextWindow: scenario.contextWindow };
  return {
    models: [model, ...(scenario.fallback ? [fallbackOf(model)] : [])].map((name) => ({ client, model: rename(name), ...window })),
    rules: [],
    mode: scenario.mode ?? 'full_access',
    hooks: scenario.hooks,
  };
}

export function limitsOf({ turnCap, launches, tokens }: Scenario): LoopLimits {
  return {
    ...(turnCap === undefined ? {} : { turnCap }),
    budgets: { ...(launches === undefined ? {} : { launches }), ...(tokens === undefined ? {} : { tokens }) },
  };
}

/** Whoever is asked, as the scenario has it. */
export function approverOf({ answers = {} }: Scenario): Approve {
  return ({ tool }) => {
    const answer = answers[tool] ?? 'allow';
    return Promise.resolve(answer === 'deny' ? { decision: 'deny', reason: DENIED } : { decision: 'allow', always: answer === 'always' });
  };
}
