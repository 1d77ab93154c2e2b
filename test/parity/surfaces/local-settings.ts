/** What a scenario wants of a local surface, as its settings file says it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fallbackOf } from '../parity-model.js';
import type { Run } from '../scenario.js';

/** Writes the settings of one run and returns the file. */
export function writeSettings(data: string, { scenario, model }: Run): string {
  const file = path.join(data, `${model.replaceAll(/\W+/g, '-')}.json`);
  mkdirSync(data, { recursive: true });
  writeFileSync(
    file,
    JSON.stringify({
      mode: scenario.mode ?? 'full_access',
      fallback_models: scenario.fallback ? [fallbackOf(model)] : [],
      context_window: scenario.contextWindow,
      hooks: scenario.hooks,
      limits: { max_turns: scenario.turnCap, max_tool_calls: scenario.launches, max_tokens: scenario.tokens },
    }),
  );
  return file;
}
