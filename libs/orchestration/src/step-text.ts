/** What an agent is told when its task enters a step with instructions. */
import type { StepView } from '@echelon/persistence';
import { quote, quoteInline } from './peer-text.js';

export function stepEnteredText(step: StepView): string {
  const place = `${step.position} of ${step.steps}`;
  return [
    `Notice from the system: your task has moved to the step ${quoteInline(step.name)} (${place}) of the workflow ${quoteInline(step.workflow_name)}.`,
    'Whoever defined the workflow gave these instructions for the step:',
    '',
    quote(step.instructions),
    '',
    step.requires_signal
      ? 'Work on your task in this step now, and call step_complete_kandev when the step is done: it requires that.'
      : 'Work on your task in this step now.',
  ].join('\n');
}
