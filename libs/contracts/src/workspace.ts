import { LIMITS, RUNTIME_KINDS } from '@echelon/domain';
import { z } from 'zod';
import { Id, Instant, PositiveNumber } from './common.js';
import { HooksConfig } from './hooks.js';

export const Workspace = z.object({ id: Id, name: z.string(), created_at: Instant }).meta({ id: 'Workspace' });
export type Workspace = z.infer<typeof Workspace>;
export const CreateWorkspace = z
  .strictObject({ name: z.string().trim().min(1).max(LIMITS.name_characters.default) })
  .meta({ id: 'CreateWorkspace' });
export type CreateWorkspace = z.infer<typeof CreateWorkspace>;

/** Tasks of a workspace may send messages to tasks of another one, and nothing else. */
export const WorkspaceGrant = z.object({ workspace_id: Id, to_workspace_id: Id, created_at: Instant }).meta({ id: 'WorkspaceGrant' });
export type WorkspaceGrant = z.infer<typeof WorkspaceGrant>;

const Runtime = z.enum(RUNTIME_KINDS);
const Provider = z.string().trim().min(1).max(60);
const Model = z.string().trim().min(1).max(200);
const AgentCommand = z
  .array(z.string().min(1).max(4_096))
  .min(1)
  .max(64)
  .describe('Program and arguments that start the agent; required with runtime acp, refused with any other. No shell reads them.');
const ContextWindow = PositiveNumber.describe(
  'Tokens that the model reads and writes together; null: 128,000. A conversation that fills them is compacted.',
);

const Budgets = z
  .strictObject({
    max_rounds: PositiveNumber.optional(),
    max_tool_launches: PositiveNumber.optional(),
    max_wall_seconds: PositiveNumber.optional(),
    max_tokens: PositiveNumber.optional(),
  })
  .meta({ id: 'Budgets', description: 'All off unless set.' });

export const AgentProfile = z
  .object({
    id: Id,
    workspace_id: Id,
    name: z.string(),
    runtime: Runtime,
    command: z.array(z.string()).nullable(),
    provider: z.string(),
    model: z.string(),
    system_prompt: z.string(),
    max_output_tokens: z.int().nullable(),
    context_window: z.int().nullable(),
    fallback_models: z.array(z.string()),
    budgets: Budgets,
    hooks: HooksConfig,
    parent_question_timeout_seconds: z.int().nullable(),
    user_question_timeout_seconds: z.int().nullable(),
    created_at: Instant,
    updated_at: Instant,
    archived_at: Instant.nullable(),
  })
  .meta({ id: 'AgentProfile' });
export type AgentProfile = z.infer<typeof AgentProfile>;

export const CreateProfile = z
  .strictObject({
    workspace_id: Id,
    name: z.string().trim().min(1).max(LIMITS.name_characters.default),
    runtime: Runtime.default('loop'),
    command: AgentCommand.optional(),
    provider: Provider.optional().describe('Required unless the runtime is acp.'),
    model: Model.optional().describe('Required unless the runtime is acp.'),
    system_prompt: z.string().default(''),
    max_output_tokens: PositiveNumber.nullable().default(null),
    context_window: ContextWindow.nullable().default(null),
    fallback_models: z.array(z.string().trim().min(1)).max(3).default([]),
    budgets: Budgets.default({}),
    hooks: HooksConfig.default({}),
    parent_question_timeout_seconds: PositiveNumber.nullable().default(null),
    user_question_timeout_seconds: PositiveNumber.nullable().default(null),
  })
  .meta({ id: 'CreateProfile' });
export type CreateProfile = z.infer<typeof CreateProfile>;
export const UpdateProfile = z
  .strictObject({
    name: z.string().trim().min(1).max(LIMITS.name_characters.default).optional(),
    runtime: Runtime.optional(),
    command: AgentCommand.nullable().optional(),
    provider: Provider.optional(),
    model: Model.optional(),
    system_prompt: z.string().optional(),
    max_output_tokens: PositiveNumber.nullable().optional(),
    context_window: ContextWindow.nullable().optional(),
    fallback_models: z.array(z.string().trim().min(1)).max(3).optional(),
    budgets: Budgets.optional(),
    hooks: HooksConfig.optional(),
    parent_question_timeout_seconds: PositiveNumber.nullable().optional(),
    user_question_timeout_seconds: PositiveNumber.nullable().optional(),
  })
  .meta({ id: 'UpdateProfile' });
export type UpdateProfile = z.infer<typeof UpdateProfile>;

/** A token as it is listed: never with its secret. */
export const Token = z
  .object({
    id: Id,
    kind: z.enum(['operator', 'session']),
    label: z.string(),
    workspace_id: Id.nullable(),
    session_id: Id.nullable(),
    created_at: Instant,
    expires_at: Instant.nullable(),
    revoked_at: Instant.nullable(),
    last_used_at: Instant.nullable(),
  })
  .meta({ id: 'Token' });
export type Token = z.infer<typeof Token>;
/** The only time that the secret is shown. */
export const IssuedToken = Token.extend({ secret: z.string() }).meta({ id: 'IssuedToken' });
export type IssuedToken = z.infer<typeof IssuedToken>;
export const IssueToken = z
  .strictObject({
    kind: z.enum(['operator', 'session']),
    label: z.string().trim().min(1).max(LIMITS.name_characters.default),
    session_id: Id.optional(),
    task_id: Id.optional(),
    expires_in_seconds: PositiveNumber.optional(),
  })
  .meta({ id: 'IssueToken' });
export type IssueToken = z.infer<typeof IssueToken>;
