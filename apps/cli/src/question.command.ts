/** `echelon question …`: what waits for an answer, and answering what a normal task asked. */
import type { ParentQuestion, UserQuestion } from '@echelon/contracts';
import type { Command } from 'commander';
import { QUESTION, textOf, usage } from './arguments.js';
import { connect, type ConnectionOptions } from './connection.js';
import { print, table, type Terminal } from './terminal.js';

interface Common extends ConnectionOptions {
  readonly json?: boolean;
}

export function addQuestionCommand(program: Command, terminal: Terminal): void {
  const question = program.command('question').description('read questions, answer those for the operator');
  question
    .command('list')
    .description('list questions: for the operator, or with --parent between tasks')
    .option('--parent', 'questions that children asked their parents')
    .option('--all', 'ended ones, too')
    .action(async (_options: unknown, command: Command) => {
      const options: Common & { parent?: boolean; all?: boolean } = command.optsWithGlobals();
      const page = await connect(options).questions.list({
        kind: options.parent ? 'parent' : 'user',
        ...(options.all ? {} : { status: 'pending' }),
      });
      print(terminal, options.json, page, () => (page.items.length === 0 ? ['No questions.'] : table(page.items.map(summarize))));
    });
  question
    .command('show')
    .description('show a question with the chain of questions that it caused or that caused it')
    .argument('<question>', 'question id', QUESTION)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const found = await connect(options).questions.get(id);
      print(terminal, options.json, found, () => [
        ...describe(found),
        ...found.chain.map((hop, index) => `  hop ${index + 1}: ${hop.id}  ${hop.task_id} → ${hop.parent_task_id}  ${hop.status}`),
      ]);
    });
  question
    .command('answer')
    .description('answer a question that a normal task asked the operator')
    .argument('<question>', 'question id', QUESTION)
    .argument('[answers...]', 'id=text for each question; only text where there is one')
    .option('--reject <reason>', 'refuse to answer', textOf('--reject'))
    .action(async (id: string, answers: readonly string[], _options: unknown, command: Command) => {
      const options: Common & { reject?: string } = command.optsWithGlobals();
      const api = connect(options);
      const input = options.reject
        ? { rejected: true, reject_reason: options.reject }
        : { answers: parseAnswers(await api.questions.get(id), answers) };
      const answered = await api.questions.answer(id, input);
      print(terminal, options.json, answered, () => [answered.claimed ? answered.status : `somebody was first: ${answered.status}`]);
    });
  question
    .command('cancel')
    .description('take back a question to the operator: whoever asked goes on without an answer')
    .argument('<question>', 'question id', QUESTION)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options: Common = command.optsWithGlobals();
      const cancelled = await connect(options).questions.cancel(id);
      print(terminal, options.json, cancelled, () => [cancelled.claimed ? cancelled.status : `somebody was first: ${cancelled.status}`]);
    });
}

function parseAnswers({ questions }: ParentQuestion | UserQuestion, given: readonly string[]): Record<string, string> {
  const only = questions.length === 1 ? questions[0] : undefined;
  if (only && given.length === 1 && !given[0]?.startsWith(`${only.id}=`)) return { [only.id]: given[0] ?? '' };
  const pairs = given.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)] as const);
  const unknown = pairs.find(([id]) => !questions.some((question) => question.id === id));
  if (given.length === 0 || unknown) throw usage(`Give id=text for each of: ${questions.map(({ id }) => id).join(', ')}.`);
  return Object.fromEntries(pairs);
}

function summarize(question: ParentQuestion | UserQuestion): readonly string[] {
  return [question.id, question.status, question.task_id, question.questions.map(({ prompt }) => prompt).join(' / ')];
}

function describe(question: ParentQuestion | UserQuestion): readonly string[] {
  return [
    `${question.id}  ${question.status}`,
    ...question.questions.flatMap(({ id, prompt, options = [] }) => [
      `${id}: ${prompt}`,
      ...options.map(({ label, description }) => `   - ${label}${description ? `: ${description}` : ''}`),
    ]),
    ...(question.context ? [`context: ${question.context}`] : []),
    ...('answer' in question && question.answer ? [`answer: ${question.answer.text}`] : []),
  ];
}
