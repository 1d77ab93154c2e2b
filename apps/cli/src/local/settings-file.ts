/** The settings file of the surfaces that run the loop in this process (docs/local.md). */
import { existsSync, readFileSync } from 'node:fs';
import { HooksConfig } from '@echelon/contracts';
import { PERMISSION_MODES } from '@echelon/domain';
import { z } from 'zod';
import { CommandError, EXIT } from '../exit-code.js';

export const PermissionModeName = z.enum(PERMISSION_MODES);

const PermissionRuleSetting = z.strictObject({
  decision: z.enum(['allow', 'ask', 'deny']),
  tool: z.string().min(1).optional(),
  effect: z.enum(['read', 'write', 'execute', 'agent']).optional(),
  command: z.string().min(1).optional(),
  path: z.string().min(1).optional(),
});

const LimitSetting = z.int().min(1).optional();

const SettingsFile = z.strictObject({
  provider: z.enum(['openai', 'anthropic', 'compatible', 'scripted']).optional(),
  model: z.string().min(1).optional(),
  fallback_models: z.array(z.string().min(1)).max(3).default([]),
  max_output_tokens: LimitSetting,
  /** Tokens that the model reads and writes together. */
  context_window: LimitSetting,
  mode: PermissionModeName.optional(),
  rules: z.array(PermissionRuleSetting).max(200).default([]),
  instructions: z.string().max(65_536).optional(),
  hooks: HooksConfig.optional(),
  /** Whether the likely next prompt is run ahead (docs/speculation.md). */
  speculate: z.boolean().default(false),
  limits: z
    .strictObject({ max_turns: LimitSetting, max_tool_calls: LimitSetting, max_wall_seconds: LimitSetting, max_tokens: LimitSetting })
    .prefault({}),
});
export type SettingsFile = z.output<typeof SettingsFile>;

/** Reads and checks the file; a missing one that nobody named is empty. Throws `CommandError` with one sentence. */
export function readSettingsFile(file: string, named: boolean): SettingsFile {
  if (!existsSync(file)) {
    if (named) throw new CommandError(`There is no settings file ${file}.`, EXIT.usage);
    return SettingsFile.parse({});
  }
  const parsed = SettingsFile.safeParse(parseJson(file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue?.path.length ? ` at ${issue.path.join('.')}` : '';
  throw new CommandError(`The settings file ${file} is wrong${at}: ${issue?.message ?? 'it is not understood'}.`, EXIT.usage);
}

function parseJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandError(
      `The settings file ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      EXIT.usage,
    );
  }
}
