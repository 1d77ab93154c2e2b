/** The model's own list of what is left to do: a tool, and a stop policy that reminds it of what it left undone. */
import type { StopPolicy, ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';

const Todo = z.strictObject({
  content: z.string().min(1).max(1_000).describe('What is to be done.'),
  status: z.enum(['pending', 'in_progress', 'completed']),
});
export type Todo = z.output<typeof Todo>;

const UpdateTodosInput = z.strictObject({
  todos: z.array(Todo).max(100).describe('The whole list, in order; it replaces the one before.'),
});

export const TODOS_TOOL = 'update_todos';

/** How often an unfinished list keeps a prompt going. */
const ATTEMPTS = 2;

/** `update_todos`: replaces the list. */
export function updateTodosTool<Context>(store: (todos: readonly Todo[]) => void): ToolDefinition<typeof UpdateTodosInput, Context> {
  return {
    name: TODOS_TOOL,
    title: 'Update the list of steps',
    description:
      'Keeps the list of steps of work that has several. Send the whole list each time: mark a step in_progress when you begin it and completed ' +
      'once it is done. The person sees the list. Do not use it for work of one or two steps.',
    input: UpdateTodosInput,
    effect: 'read',
    concurrencySafe: false,
    idempotent: true,
    execute: ({ todos }) => {
      store(todos);
      const left = todos.filter(({ status }) => status !== 'completed').length;
      return Promise.resolve({
        text: `The list has ${todos.length} steps, ${left} of them to be done.`,
        isError: false,
        structured: { todos },
      });
    },
  };
}

/** Goes on while steps are left, twice per prompt; not in a session that only plans. */
export function createTodoPolicy(facts: () => { readonly todos: readonly Todo[]; readonly plans: boolean }): StopPolicy {
  let attempts = 0;
  return {
    name: 'todos',
    decide: () => {
      const { todos, plans } = facts();
      const left = todos.filter(({ status }) => status !== 'completed');
      if (plans || left.length === 0 || attempts >= ATTEMPTS) return Promise.resolve(null);
      attempts++;
      const steps = left.map(({ content, status }) => `- [${status}] ${content}`).join('\n');
      return Promise.resolve({
        continueWith: `Host note: these steps of your list are not completed:\n${steps}\nGo on with them, or update the list if they are done or no longer needed.`,
      });
    },
  };
}
