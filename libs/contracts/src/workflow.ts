import { LIMITS } from '@echelon/domain';
import { z } from 'zod';
import { Id, Instant, PositiveNumber } from './common.js';

const StepName = z.string().trim().min(1).max(LIMITS.step_name_characters.default);
const OnTurnComplete = z.enum(['none', 'move_to_next', 'move_to_step']);

export const WorkflowStep = z
  .object({
    id: Id,
    position: z.int().meta({ description: 'From 1 on.' }),
    name: z.string(),
    on_turn_complete: OnTurnComplete.meta({ description: 'What a completed turn of the task’s primary session does.' }),
    move_to: z.string().nullable().meta({ description: 'Name of the step that `move_to_step` leads to.' }),
    requires_signal: z.boolean().meta({ description: 'Only a turn with a completion signal ends the step.' }),
    instructions: z
      .string()
      .meta({ description: 'Told to the agent in this step; they open a turn when its task enters the step. May be empty.' }),
  })
  .meta({ id: 'WorkflowStep' });
export type WorkflowStep = z.infer<typeof WorkflowStep>;

export const Workflow = z
  .object({
    id: Id,
    workspace_id: Id,
    name: z.string(),
    is_default: z.boolean(),
    revision: z.int(),
    steps: z.array(WorkflowStep),
    created_at: Instant,
    updated_at: Instant,
    archived_at: Instant.nullable(),
  })
  .meta({ id: 'Workflow' });
export type Workflow = z.infer<typeof Workflow>;

const StepInput = z.strictObject({
  name: StepName,
  on_turn_complete: OnTurnComplete.default('none'),
  move_to: StepName.optional(),
  requires_signal: z.boolean().default(false),
  instructions: z.string().trim().default(''),
});

/** Steps in their order; the last one is where a completion signal completes the task. */
export const CreateWorkflow = z
  .strictObject({
    workspace_id: Id,
    name: z.string().trim().min(1).max(LIMITS.name_characters.default),
    is_default: z.boolean().default(false),
    steps: z.array(StepInput).min(1).max(LIMITS.steps_per_workflow.default),
  })
  .meta({ id: 'CreateWorkflow' });
export type CreateWorkflow = z.infer<typeof CreateWorkflow>;

const StepChange = StepInput.extend({
  id: Id.optional().meta({ description: 'A step to keep under another name; one of the same name is kept without it.' }),
});

/** `steps` is the whole new list: what it names stays, in its order; steps that it leaves out are archived. */
export const UpdateWorkflow = z
  .strictObject({
    name: z.string().trim().min(1).max(LIMITS.name_characters.default).optional(),
    is_default: z.boolean().optional(),
    steps: z.array(StepChange).min(1).max(LIMITS.steps_per_workflow.default).optional(),
    expected_revision: PositiveNumber.optional(),
  })
  .meta({ id: 'UpdateWorkflow' });
export type UpdateWorkflow = z.infer<typeof UpdateWorkflow>;
