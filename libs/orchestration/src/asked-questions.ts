/** Questions as an agent wrote them become questions as they are stored (autopilot-contract.md §4). */
import type { AskQuestions, StoredQuestion } from '@echelon/contracts';
import { canonicalText, type Limits, refuse, type Refusal } from '@echelon/domain';
import { checkBytes } from './limit-checks.js';

export interface Asked {
  readonly questions: readonly StoredQuestion[];
  readonly context: string | null;
}

/** Canonical texts, an id for each question; refuses duplicate ids and what is over a limit. */
export function prepareQuestions(input: AskQuestions, limits: Limits): Asked | Refusal {
  const canonical = canonicalTexts(input);
  const given = canonical.questions.flatMap(({ id }) => (id === undefined ? [] : [id]));
  if (new Set(given).size < given.length) return refuse('INVALID_INPUT', { field: 'questions', rule: 'ids must be unique' });
  const asked = { questions: withIds(canonical.questions, given), context: canonical.context ?? null };
  return checkSizes(asked, limits) ?? asked;
}

function canonicalTexts(input: AskQuestions): AskQuestions {
  return JSON.parse(JSON.stringify(input), (_key, value: unknown) =>
    typeof value === 'string' ? canonicalText(value) : value,
  ) as AskQuestions;
}

/** Missing ids become q1, q2, … by position; one that the agent gave to another question is passed over. */
function withIds(questions: readonly AskQuestions['questions'][number][], given: readonly string[]): StoredQuestion[] {
  const taken = new Set(given);
  return questions.map(({ id, ...question }, index) => {
    if (id !== undefined) return { ...question, id };
    let number = index + 1;
    while (taken.has(`q${number}`)) number++;
    taken.add(`q${number}`);
    return { ...question, id: `q${number}` };
  });
}

function checkSizes({ questions, context }: Asked, limits: Limits): Refusal | null {
  const texts = [
    ...(context === null ? [] : [['question_bytes', 'context', context] as const]),
    ...questions.flatMap((question, index) => [
      ['question_bytes', `questions.${index}.prompt`, question.prompt] as const,
      ...(question.options ?? []).flatMap((option, place) => [
        ['option_bytes', `questions.${index}.options.${place}.label`, option.label] as const,
        ['option_bytes', `questions.${index}.options.${place}.description`, option.description ?? ''] as const,
      ]),
    ]),
  ];
  for (const [limit, field, text] of texts) {
    const refusal = checkBytes(limits, limit, field, text);
    if (refusal) return refusal;
  }
  return null;
}
