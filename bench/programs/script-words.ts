/** What prompts of the measurements say to the scripted model. */

/** A turn whose prompt says so ends with a question to the parent. */
export const ASK = 'Ask your parent.';

/** Model name: so many rounds with one call, or with so many calls at once. */
export const LINES = /^lines-(\d+)(?:x(\d+))?$/;

/** Model name: an answer in so many pieces. */
export const PIECES = /^pieces-(\d+)$/;

/** Model name: no answer until all that wait are released. */
export const HELD = 'held';

/** In a parent's prompt: answers so many questions of its child, under a mark. */
export const HOPS = /Answer (\d+) questions under ([\w-]+)\./;

export function hopsPrompt(hops: number, mark: string): string {
  return `Answer ${hops} questions under ${mark}.`;
}

export function markedPrompt(mark: string, text: string): string {
  return `bench-mark:${mark}; ${text}`;
}

export function findMark(text: string): string | null {
  return /bench-mark:([\w-]+);/.exec(text)?.[1] ?? null;
}

export interface QuestionAddress {
  readonly task_id: string;
  readonly session_id: string;
  readonly reply_to_question_id: string;
}

/** Where an answer to the question in a parent's entry goes, as its text says. */
export function findQuestion(text: string): QuestionAddress | null {
  const found = /\{"task_id":"([\w-]+)","session_id":"([\w-]+)","reply_to_question_id":"([\w-]+)"/.exec(text);
  const [, task_id, session_id, reply_to_question_id] = found ?? [];
  return task_id && session_id && reply_to_question_id ? { task_id, session_id, reply_to_question_id } : null;
}
