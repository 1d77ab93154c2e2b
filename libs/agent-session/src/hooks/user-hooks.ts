/**
 * The hooks of a user or an operator, as the loop calls them (docs/hooks.md).
 *
 * H1  The hooks of an event run one after the other, in their order; the first that blocks decides, and the others do not run.
 * H2  A hook that breaks is told to `onFailure`, always; it blocks where its `on_failure` says so, and only there.
 * H3  After an abort no hook speaks, for what was to come does not come any more; but a result that a hook guards is withheld.
 */
import type { LoopHooks, ModelResponse, PlannedCall, SendType, SettledCall } from '@echelon/agent-loop';
import { HOOK_TIMEOUT_SECONDS, type Hook, type HookEvent, type HooksConfig } from '@echelon/contracts';
import { askHook, nameHook } from './ask-hook.js';
import { type HookAnswer, NO_OBJECTION, readAnswer } from './hook-answer.js';
import { HOOK_INPUT_VERSION, type HookInput, type HookInputHead, toCall, toResult } from './hook-input.js';
import type { HookReply } from './hook-reply.js';
import { matches } from './match.js';

export interface HookFailure {
  readonly event: HookEvent;
  /** The command, or the address. */
  readonly hook: string;
  /** One sentence that names the hook. */
  readonly message: string;
  /** It counted as a block. */
  readonly blocked: boolean;
}

/** Runs a command when one may start; rejects when the signal aborts before that. */
export type CommandSlot = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

export interface UserHooksOptions {
  /** Where commands run; absolute. */
  readonly folder: string;
  readonly sessionId: string;
  /** The turn that a prompt opened. */
  readonly turnId: string;
  readonly taskId?: string;
  /** Ends hooks that run, with all that they started. */
  readonly signal: AbortSignal;
  readonly onFailure: (failure: HookFailure) => void;
  /** Default: commands start at once. */
  readonly commandSlot?: CommandSlot;
}

/** The loop's hooks for one turn; an event without hooks is left out. Hooks never make the loop throw. */
export function createUserHooks<Context>(config: HooksConfig, options: UserHooksOptions): LoopHooks<Context> {
  const hooks = new UserHooks(config, options);
  const { prompt_submit, before_tool, after_tool, after_batch, stop } = config;
  return {
    ...(prompt_submit?.length ? { promptSubmit: (prompt) => hooks.promptSubmit(prompt) } : {}),
    ...(before_tool?.length ? { beforeTool: (planned) => hooks.beforeTool(planned) } : {}),
    ...(after_tool?.length ? { afterTool: (planned, result) => hooks.afterTool(planned, result) } : {}),
    ...(after_batch?.length ? { afterBatch: (results) => hooks.afterBatch(results) } : {}),
    ...(stop?.length ? { stop: (response) => hooks.stop(response) } : {}),
  } satisfies LoopHooks<Context>;
}

class UserHooks {
  readonly #head: HookInputHead;

  constructor(
    private readonly config: HooksConfig,
    private readonly options: UserHooksOptions,
  ) {
    const { folder, sessionId, turnId, taskId } = options;
    this.#head = { version: HOOK_INPUT_VERSION, session_id: sessionId, turn_id: turnId, task_id: taskId ?? null, cwd: folder };
  }

  async promptSubmit({ sendType, text }: { readonly sendType: SendType; readonly text: string }): Promise<{ block: string } | null> {
    return this.#firstBlock([sendType], { event: 'prompt_submit', send_type: sendType, prompt: text });
  }

  async beforeTool(planned: PlannedCall<never>): Promise<{ input: unknown } | { deny: string } | null> {
    let input = planned.input;
    for (const hook of this.#hooksOf('before_tool', [planned.call.name])) {
      const answer = await this.#ask(hook, { event: 'before_tool', ...toCall(planned), input });
      if (answer.block !== null) return { deny: `Not executed: ${answer.block}` };
      input = answer.input ?? input;
    }
    return input === planned.input ? null : { input };
  }

  async afterTool(planned: PlannedCall<never>, settled: SettledCall): Promise<{ text: string } | null> {
    let { text } = settled;
    const added: string[] = [];
    for (const hook of this.#hooksOf('after_tool', [planned.call.name])) {
      const result = toResult({ ...settled, text });
      const answer = await this.#ask(hook, { event: 'after_tool', ...toCall(planned), input: planned.input, result });
      if (answer.block !== null) return { text: `The result is withheld: ${answer.block}` };
      text = answer.result ?? text;
      if (answer.additional_context !== undefined) added.push(answer.additional_context);
    }
    const whole = [text, ...added].join('\n\n');
    return whole === settled.text ? null : { text: whole };
  }

  async afterBatch(settled: readonly SettledCall[]): Promise<{ text: string } | null> {
    const results = settled.map((each) => ({ call_id: each.callId, tool_name: each.name, ...toResult(each) }));
    const added: string[] = [];
    const names = settled.map(({ name }) => name);
    for (const hook of this.#hooksOf('after_batch', names)) {
      const { block, additional_context } = await this.#ask(hook, { event: 'after_batch', results });
      // Nothing is left to be blocked: what was meant to is told.
      added.push(...[block, additional_context].filter((text) => text !== null && text !== undefined));
    }
    return added.length === 0 ? null : { text: added.join('\n\n') };
  }

  async stop({ reason, text }: ModelResponse): Promise<{ block: string } | null> {
    return this.#firstBlock([reason], { event: 'stop', finish_reason: reason, text });
  }

  async #firstBlock(names: readonly string[], input: HookInput & { readonly event: 'prompt_submit' | 'stop' }) {
    for (const hook of this.#hooksOf(input.event, names)) {
      const { block } = await this.#ask(hook, input);
      if (block !== null) return { block };
    }
    return null;
  }

  #hooksOf(event: HookEvent, names: readonly string[]): readonly Hook[] {
    return (this.config[event] ?? []).filter(({ matcher }) => names.some((name) => matches(matcher, name)));
  }

  async #ask(hook: Hook, input: HookInput): Promise<HookAnswer> {
    const reply = await this.#run(hook, JSON.stringify({ ...this.#head, ...input }));
    if (this.options.signal.aborted) return withoutWord(hook, input.event);
    if ('failure' in reply) return this.#fail(hook, input.event, reply.failure);
    if ('block' in reply) return { block: reply.block };
    const read = readAnswer(input.event, reply.text);
    return 'wrong' in read ? this.#fail(hook, input.event, read.wrong) : read.answer;
  }

  async #run(hook: Hook, input: string): Promise<HookReply> {
    const { folder, signal, commandSlot } = this.options;
    const timeoutMs = (hook.timeout_seconds ?? HOOK_TIMEOUT_SECONDS) * 1_000;
    const ask = (): Promise<HookReply> => askHook(hook, { input, folder, timeoutMs, signal });
    if (signal.aborted) return { failure: CUT_OFF };
    if (commandSlot === undefined || hook.command === undefined) return ask();
    return commandSlot(ask, signal).catch((error: unknown) => {
      if (signal.aborted) return { failure: CUT_OFF };
      throw error;
    });
  }

  #fail(hook: Hook, event: HookEvent, failure: string): HookAnswer {
    const name = nameHook(hook);
    const blocked = hook.on_failure === 'block';
    const message = `The ${event} hook "${name}" failed: ${failure}.`.toWellFormed();
    this.options.onFailure({ event, hook: name, message, blocked });
    return blocked ? { block: message } : NO_OBJECTION;
  }
}

const CUT_OFF = 'the run was cancelled';

/** What a hook that was cut off counts as. */
function withoutWord(hook: Hook, event: HookEvent): HookAnswer {
  if (event !== 'after_tool' || hook.on_failure !== 'block') return NO_OBJECTION;
  return { block: `${CUT_OFF} before its hook had seen it.` };
}
