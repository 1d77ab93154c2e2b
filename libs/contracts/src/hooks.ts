/** Hooks: commands and HTTP calls that operators and users run around prompts and tools (docs/hooks.md). */
import { z } from 'zod';

/** Seconds that a hook gets, unless it says otherwise. */
export const HOOK_TIMEOUT_SECONDS = 60;
const TIMEOUT_SECONDS_AT_MOST = 600;
const HOOKS_OF_EVENT = 20;
const ARGUMENTS = 100;

const Argument = z
  .string()
  .max(30_000)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'holds characters that no command may hold');

const Hook = z
  .strictObject({
    matcher: z
      .string()
      .max(1_000)
      .regex(/^[\w.:*-]+(\|[\w.:*-]+)*$/, 'must be names with * for any characters, separated by |')
      .optional()
      .meta({ description: 'Names with `*` for any characters, separated by `|`; without it, all. Its event says what is named.' }),
    command: z
      .union([Argument.min(1), z.array(Argument).min(1).max(ARGUMENTS)], { error: 'must be a command or a list of program and arguments' })
      .optional()
      .meta({ description: 'A shell command, or a program and its arguments, which no shell reads.' }),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .regex(/^[^/]+\/\/[!-?A-~]+(\/[!-~]*)?$/, 'must have no user name, no password and no blanks')
      .optional()
      .meta({ description: 'Where the input is posted to, in place of a command.' }),
    headers: z
      .record(
        z.string().regex(/^[\w-]+$/),
        z
          .string()
          .max(4_000)
          .regex(/^[ -~]*$/),
      )
      .optional()
      .meta({ description: 'Headers of the POST; `${NAME}` stands for a variable that `env` names.' }),
    env: z
      .array(z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable'))
      .max(50)
      .optional()
      .meta({ description: 'Variables of the process that runs the agent, for the command or the headers. No others are passed on.' }),
    timeout_seconds: z
      .int()
      .min(1)
      .max(TIMEOUT_SECONDS_AT_MOST)
      .optional()
      .meta({ description: `Default ${HOOK_TIMEOUT_SECONDS}.` }),
    on_failure: z
      .enum(['continue', 'block'])
      .optional()
      .meta({ description: 'What a hook that breaks means: go on (the default), or the same as a block.' }),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), 'must have either a command or a url')
  .refine(({ url, headers }) => url !== undefined || headers === undefined, { message: 'go with a url only', path: ['headers'] })
  .meta({ id: 'Hook' });
export type Hook = z.infer<typeof Hook>;

const Hooks = z.array(Hook).max(HOOKS_OF_EVENT).optional();

/** Which hooks run, by event, in this order; at an event without hooks nothing runs. */
export const HooksConfig = z
  .strictObject({
    prompt_submit: Hooks.meta({ description: 'Before a request to the model; a matcher names send types, such as `user`.' }),
    before_tool: Hooks.meta({ description: 'Before a tool; a matcher names tools.' }),
    after_tool: Hooks.meta({ description: 'After a tool; a matcher names tools.' }),
    after_batch: Hooks.meta({ description: 'After all calls of a response; a matcher names tools, one of which was called.' }),
    stop: Hooks.meta({ description: 'Where the turn would end; a matcher names finish reasons.' }),
  })
  .meta({ id: 'HooksConfig', description: 'All off unless set. Hooks run where and as whom the agent runs.' });
export type HooksConfig = z.infer<typeof HooksConfig>;
export type HookEvent = keyof HooksConfig;
