/** `echelon task …`: what an operator does with tasks. */
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '@echelon/api-client';
import { type Task, TaskState } from '@echelon/contracts';
import { type Command, Option } from 'commander';
import { PROFILE, QUESTION, SESSION, TASK, TASKS, textOf, WORKFLOW, WORKSPACE } from './arguments.js';
import { connect, type ConnectionOptions } from './connection.js';
import { describeTurn, findLastTurn } from './last-turn.js';
import { addPaging, describePage, type PagingOptions, toPageQuery } from './paging.js';
import { addTaskDependencies } from './task-dependency.js';
import { addTaskLife } from './task-life.js';
import { addTaskPlan, summarizePlan } from './task-plan.js';
import { addTaskStep } from './task-step.js';
import { print, table, type Terminal } from './terminal.js';
import { watchTask } from './watch.js';

interface Common extends ConnectionOptions {
  readonly json?: boolean;
}

interface CreateOptions extends Common {
  readonly title?: string;
  readonly parent?: string;
  readonly profile?: string;
  readonly workspace?: string;
  readonly autopilot?: boolean;
  readonly blockedBy?: readonly string[];
  readonly workflow?: string;
  readonly start: boolean;
  readonly key?: string;
  readonly watch?: boolean;
}

export function addTaskCommand(program: Command, terminal: Terminal): void {
  const task = program.command('task').description('create, follow and steer tasks');
  addCreate(task, terminal);
  addReading(task, terminal);
  addSteering(task, terminal);
  addTaskLife(task, terminal);
  addTaskPlan(task, terminal);
  addTaskStep(task, terminal);
  addTaskDependencies(task, terminal);
}

function addCreate(task: Command, terminal: Terminal): void {
  task
    .command('create')
    .description('create a task and start its agent')
    .argument('<prompt>', 'what the agent is to do', textOf('The prompt'))
    .option('--title <title>', 'a title; the prompt’s first words where left out', textOf('--title'))
    .option('--parent <task>', 'make it a subtask of this task', TASK)
    .option('--profile <id>', 'agent profile; the parent’s or the workspace’s first where left out', PROFILE)
    .option('--workspace <id>', 'workspace; the only one, or the one named default, where left out', WORKSPACE)
    .option('--autopilot', 'decide alone, and ask the parent task instead of a person; cannot be changed later')
    .option('--blocked-by <task...>', 'wait until these tasks have completed', TASKS)
    .option('--workflow <workflow>', 'workflow id, or default for the workspace’s own choice; it starts in the first step', workflowOf)
    .option('--no-start', 'create it without starting its agent')
    .option('--key <key>', 'idempotency key: the same key creates once', textOf('--key'))
    .option('--watch', 'follow it until it rests')
    .action(async (prompt: string, _options: unknown, command: Command) => {
      const options: CreateOptions = command.optsWithGlobals();
      const api = connect(options);
      const created = await api.tasks.create(toCreate(prompt, options), { idempotencyKey: options.key ?? randomUUID() });
      await noteScriptedModel(api, created, terminal);
      if (options.watch) return watchTask(api, created.id, { terminal, json: options.json === true });
      print(terminal, options.json, created, () => [`${created.id}  ${created.title}${created.deduplicated ? '  (existed)' : ''}`]);
    });
}

/** The scripted model plays the demo and nothing else: whoever runs into it is told. */
async function noteScriptedModel(api: ApiClient, { profile_id }: Task, terminal: Terminal): Promise<void> {
  const profile = await api.profiles.get(profile_id);
  if (profile.provider !== 'scripted') return;
  terminal.err.write('This task runs on the scripted model, which plays only the demo: set a provider’s key (README, Models).\n');
}

function workflowOf(given: string): string {
  return given === 'default' ? given : WORKFLOW(given);
}

function toCreate(prompt: string, options: CreateOptions) {
  return {
    prompt,
    autopilot: options.autopilot === true,
    start_agent: options.start,
    blocked_by: [...(options.blockedBy ?? [])],
    ...(options.workflow ? { workflow_id: options.workflow } : {}),
    ...(options.title ? { title: options.title } : {}),
    ...(options.parent ? { parent_id: options.parent } : {}),
    ...(options.profile ? { profile_id: options.profile } : {}),
    ...(options.workspace ? { workspace_id: options.workspace } : {}),
  };
}

function addReading(task: Command, terminal: Terminal): void {
  addPaging(task.command('list').description('list tasks, newest first'))
    .addOption(new Option('--state <state>', 'only tasks in this state').choices(TaskState.options))
    .option('--parent <task>', 'only children of this task', TASK)
    .option('--workspace <id>', 'only those of this workspace', WORKSPACE)
    .action(async (_options: unknown, command: Command) => {
      const options: Common & PagingOptions & { state?: Task['state']; parent?: string; workspace?: string } = command.optsWithGlobals();
      const page = await connect(options).tasks.list({
        ...toPageQuery(options),
        ...(options.state ? { state: options.state } : {}),
        ...(options.parent ? { parent_id: options.parent } : {}),
        ...(options.workspace ? { workspace_id: options.workspace } : {}),
      });
      print(terminal, options.json, page, () => describePage(page, summarize, 'No tasks.'));
    });
  task
    .command('show')
    .description('show one task')
    .argument('<task>', 'task id', TASK)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const api = connect(options);
      const shown = await api.tasks.get(id);
      const [plan, turn] = await Promise.all([summarizePlan(api, id), findLastTurn(api, shown)]);
      const words = { plan: plan && `${plan.title} (revision ${plan.revision})`, last_turn: turn && describeTurn(turn) };
      const found = { ...shown, plan, last_turn: turn };
      print(terminal, options.json, found, () =>
        table(Object.entries({ ...found, ...words }).map(([name, value]) => [name, describe(value)])),
      );
    });
  task
    .command('watch')
    .description('draw the live tree below a task until everything in it rests')
    .argument('<task>', 'task id', TASK)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      await watchTask(connect(options), id, { terminal, json: options.json === true });
    });
}

function addSteering(task: Command, terminal: Terminal): void {
  task
    .command('message')
    .description('send a message to a task’s agent')
    .argument('<task>', 'task id', TASK)
    .argument('<text>', 'what to say', textOf('The message'))
    .option('--session <id>', 'a session other than the primary one', SESSION)
    .option('--reply-to <question>', 'answer this question of the task; only with a token of its parent', QUESTION)
    .option('--key <key>', 'idempotency key: the same key sends once', textOf('--key'))
    .action(async (id: string, text: string, _options: unknown, command: Command) => {
      const options: Common & { session?: string; replyTo?: string; key?: string } = command.optsWithGlobals();
      const input = {
        prompt: text,
        ...(options.session ? { session_id: options.session } : {}),
        ...(options.replyTo ? { reply_to_question_id: options.replyTo } : {}),
        idempotency_key: options.key ?? randomUUID(),
      };
      const sent = await connect(options).tasks.sendMessage(id, input);
      print(terminal, options.json, sent, () => [`${sent.status}  delivery ${sent.delivery_id}`]);
    });
  task
    .command('stop')
    .description('stop a task’s sessions; what they had not read is kept for the next one (echelon task spawn)')
    .argument('<task>', 'task id', TASK)
    .option('--cascade', 'stop every task below it, too')
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common & { cascade?: boolean } = command.optsWithGlobals();
      const stopped = await connect(options).tasks.stop(id, { cascade: options.cascade === true });
      const others =
        options.cascade || stopped.descendants.length === 0 ? [] : [`still there below it: ${stopped.descendants.length} (use --cascade)`];
      print(terminal, options.json, stopped, () => [stopped.status, ...others]);
    });
}

function summarize(task: Task): readonly string[] {
  return [
    task.id,
    task.pending_action ? `${task.state} (${task.pending_action})` : task.state,
    task.autopilot ? 'autopilot' : '',
    task.title,
  ];
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return value;
  return JSON.stringify(value);
}
