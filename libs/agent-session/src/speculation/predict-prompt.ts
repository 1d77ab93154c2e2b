/** Asks the session's model what the person is likely to say next. */
import { type LoopInput, type ModelMessage, runLoop, type ToolRegistry } from '@echelon/agent-loop';
import type { SessionContext } from '../session-tool.js';

const CHARACTERS = 400;
const ASK = `Host note: the person has not said anything new. Guess what they will most likely say next to you in this conversation, in their own words and language: one instruction of at most 20 words, such as a next step that they announced, asked about or usually take. Answer with that instruction alone, without quotes and without a comment, and call no tool. If nothing is likely, answer with the single word NONE.`;

export type Prediction = Pick<LoopInput<SessionContext>, 'models' | 'system' | 'context' | 'signal' | 'promptId' | 'limits'> & {
  /** A copy, which the question is added to. */
  readonly history: ModelMessage[];
  readonly tools: ToolRegistry<SessionContext>;
};

/** One request through the loop; `null`: nothing is likely, or the answer is none that a person would send. */
export async function predictPrompt({ history, tools, ...run }: Prediction): Promise<string | null> {
  const { stop, lastResponse } = await runLoop<SessionContext>({
    ...run,
    start: { history, opening: { parts: [{ type: 'text', text: ASK }], sendType: 'user' } },
    // The calls of the conversation stay known to providers that want them declared; none runs.
    tools,
    policies: { select: (calls) => new Map(calls.map(({ callId }) => [callId, 'No tool runs here.'])) },
    limits: { ...run.limits, maxRounds: 1 },
    turn: 'ahead',
  });
  return stop.reason === 'completed' ? readPrompt(lastResponse?.text ?? '') : null;
}

function readPrompt(text: string): string | null {
  const prompt = text.trim();
  const isNone = prompt === '' || /^NONE\.?$/i.test(prompt);
  return isNone || prompt.length > CHARACTERS || prompt.includes('\n') ? null : prompt;
}
