/** What a task is created or changed with, in canonical form, and its limits (K19, operations.md Limits). */
import type { CreateTask } from '@echelon/contracts';
import { canonicalText, type Limits, refuse, type Refusal } from '@echelon/domain';
import { checkBytes, checkGraphemes, takeGraphemes } from './limit-checks.js';

const PLACEHOLDER_WORDS = 6;

/** Equal requests have equal forms, so that their hash tells whether a key is used again for the same (K16). */
export interface TaskInput {
  readonly workspace_id: string | null;
  readonly parent_id: string | null;
  readonly title: string | null;
  readonly prompt: string;
  readonly autopilot: boolean;
  readonly profile_id: string | null;
  readonly workspace_mode: CreateTask['workspace_mode'] | null;
  readonly blocked_by: readonly string[];
  readonly start_agent: boolean;
  /** Absent where none is named, so that requests from before workflows keep their hash. */
  readonly workflow_id?: string;
  readonly workflow_step_id?: string;
}

/** The canonical form of a request. */
export function toTaskInput(given: CreateTask): TaskInput {
  const title = given.title === undefined ? null : canonicalText(given.title).trim();
  const prompt = canonicalText(given.prompt);
  return {
    workspace_id: given.workspace_id ?? null,
    parent_id: given.parent_id ?? null,
    title,
    prompt,
    autopilot: given.autopilot,
    profile_id: given.profile_id ?? null,
    workspace_mode: given.workspace_mode ?? null,
    blocked_by: [...new Set(given.blocked_by)].toSorted(),
    start_agent: given.start_agent,
    ...(given.workflow_id === undefined ? {} : { workflow_id: given.workflow_id }),
    ...(given.workflow_step_id === undefined ? {} : { workflow_step_id: given.workflow_step_id }),
  };
}

/** Refuses texts over their limits, and a title of white space only. */
export function checkTaskTexts(texts: { readonly title: string | null; readonly prompt: string | null }, limits: Limits): Refusal | null {
  if (texts.title === '') return refuse('INVALID_INPUT', { field: 'title', rule: 'not empty' });
  const title = texts.title && checkGraphemes(limits, 'title_graphemes', 'title', texts.title);
  const prompt = texts.prompt && checkBytes(limits, 'prompt_bytes', 'prompt', texts.prompt);
  return title || prompt || null;
}

/** A placeholder at once: the first six words of the prompt, as many characters as a title may have (N1). */
export function placeholderTitle(prompt: string, limits: Limits): string {
  const words = prompt.trim().split(/\s+/, PLACEHOLDER_WORDS).join(' ');
  return takeGraphemes(words, limits.title_graphemes).trimEnd();
}
