import type { ParentQuestion, UserQuestion } from '@echelon/contracts';
import type { QuestionView, QuestionRow, UserQuestionRow } from '@echelon/persistence';

type OfTask<Row> = Row & { readonly task_id: string };

/** A parent question as a read-only record (V2). */
export function toParentQuestion(row: OfTask<QuestionRow>): ParentQuestion {
  const { metadata } = row;
  return {
    id: row.id,
    task_id: metadata.task_id,
    session_id: row.session_id,
    turn_id: row.turn_id,
    parent_task_id: metadata.parent_task_id,
    status: metadata.status,
    cause: metadata.cause ?? null,
    questions: metadata.questions.map(toStored),
    context: metadata.context,
    answer: metadata.answer ?? null,
    caused_by_question_id: metadata.caused_by_question_id,
    asked_at: row.created_at.toISOString(),
    ended_at: metadata.ended_at ?? null,
  };
}

/** A question to the operator. */
export function toUserQuestion(row: OfTask<UserQuestionRow>): UserQuestion {
  const { metadata } = row;
  return {
    id: row.id,
    task_id: row.task_id,
    session_id: row.session_id,
    status: metadata.status,
    questions: metadata.questions.map(toStored),
    context: metadata.context,
    answers: metadata.answers ? { ...metadata.answers } : null,
    reject_reason: metadata.reject_reason ?? null,
    asked_at: row.created_at.toISOString(),
    ended_at: metadata.ended_at ?? null,
  };
}

export function toQuestion(row: QuestionView): ParentQuestion | UserQuestion {
  return row.type === 'parent_question' ? toParentQuestion(row) : toUserQuestion(row);
}

function toStored({ options, ...question }: QuestionRow['metadata']['questions'][number]): ParentQuestion['questions'][number] {
  return options ? { ...question, options: options.map((option) => ({ ...option })) } : question;
}
