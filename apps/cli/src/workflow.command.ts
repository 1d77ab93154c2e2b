/** `echelon workflow …`: the ordered steps that tasks go through. */
import { CreateWorkflow, type Workflow, type WorkflowStep } from '@echelon/contracts';
import type { Command } from 'commander';
import { textOf, usage, WORKFLOW, WORKSPACE } from './arguments.js';
import { connect, type ConnectionOptions } from './connection.js';
import { checkJson, readJson } from './json-file.js';
import { addPaging, describePage, type PagingOptions, toPageQuery } from './paging.js';
import { print, table, type Terminal } from './terminal.js';

interface Common extends ConnectionOptions {
  readonly json?: boolean;
}

interface CreateOptions extends Common {
  readonly workspace: string;
  readonly step?: string[];
  readonly file?: string;
  readonly default?: boolean;
}

export function addWorkflowCommand(program: Command, terminal: Terminal): void {
  const workflow = program.command('workflow').description('list, show and create workflows');
  addReading(workflow, terminal);
  workflow
    .command('create')
    .description('create a workflow; a completed turn moves a task to the next step, unless the file says otherwise')
    .argument('<name>', 'its name', textOf('The name'))
    .requiredOption('--workspace <id>', 'the workspace that it is for', WORKSPACE)
    .option('--step <name...>', 'its steps, in their order')
    .option('--file <path>', 'JSON: a list of steps with name, on_turn_complete, move_to, requires_signal and instructions')
    .option('--default', 'make it the workflow that a new task of the workspace gets by --workflow default')
    .action(async (name: string, _options: unknown, command: Command) => {
      const options: CreateOptions = command.optsWithGlobals();
      const steps = await readSteps(options);
      const input = { workspace_id: options.workspace, name, is_default: options.default === true, steps };
      const created = await connect(options).workflows.create(input);
      print(terminal, options.json, created, () => describeWorkflow(created));
    });
}

function addReading(workflow: Command, terminal: Terminal): void {
  addPaging(workflow.command('list').description('list workflows, newest first'))
    .option('--workspace <id>', 'only those of this workspace', WORKSPACE)
    .action(async (_options: unknown, command: Command) => {
      const options: Common & PagingOptions & { workspace?: string } = command.optsWithGlobals();
      const where = options.workspace ? { workspace_id: options.workspace } : {};
      const page = await connect(options).workflows.list({ ...toPageQuery(options), ...where });
      print(terminal, options.json, page, () => describePage(page, summarize, 'No workflows.'));
    });
  workflow
    .command('show')
    .description('show one workflow with its steps')
    .argument('<workflow>', 'workflow id', WORKFLOW)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const found = await connect(options).workflows.get(id);
      print(terminal, options.json, found, () => describeWorkflow(found));
    });
}

async function readSteps({ step, file }: CreateOptions): Promise<CreateWorkflow['steps']> {
  if ((step === undefined) === (file === undefined)) throw usage('Give the steps by --step or by --file.');
  const given: unknown = step
    ? step.map((name, place) => ({ name, on_turn_complete: place + 1 < step.length ? 'move_to_next' : 'none' }))
    : await readJson(file ?? '', 'steps');
  return checkJson(given, 'steps', CreateWorkflow.shape.steps);
}

function summarize({ id, name, is_default: isDefault, steps }: Workflow): readonly string[] {
  return [id, name, isDefault ? 'default' : '', steps.map((step) => step.name).join(' → ')];
}

function describeWorkflow(workflow: Workflow): readonly string[] {
  return [...table([summarize(workflow)]), ...table(workflow.steps.map(describeStep))];
}

function describeStep({
  id,
  position,
  name,
  on_turn_complete: rule,
  move_to: moveTo,
  requires_signal: signal,
}: WorkflowStep): readonly string[] {
  return [`${position}`, id, name, moveTo ? `moves to ${moveTo}` : RULES[rule], signal ? 'requires a signal' : ''];
}

const RULES: Readonly<Record<WorkflowStep['on_turn_complete'], string>> = {
  none: 'rests',
  move_to_next: 'moves on',
  move_to_step: 'moves',
};
