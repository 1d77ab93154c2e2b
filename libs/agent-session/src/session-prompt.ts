/** The system prompt of a session of this machine; equal facts give equal bytes (W10). */
export interface SessionPromptFacts {
  readonly folder: string;
  /** Added by whoever starts the session. */
  readonly instructions?: string | undefined;
}

const ROLE = `You are a coding agent and work for one person, in one folder. Use your tools to look, to change files and to run commands; do not guess what you can look up, and do not describe a change instead of making it. Before you say that something is done, check it.

Work in small steps. Keep to what was asked for. When the work is finished, or you need a decision that only the person can make, end your turn with a short text: a response that calls no tool ends the turn.

A call may need the person's approval. A call that was declined was not executed: do not try it again in another form; go on without it, or say what you need.`;

export function buildSessionPrompt({ folder, instructions }: SessionPromptFacts): string {
  const sections = [
    ROLE,
    `The folder is ${folder}. Paths of the file tools are relative to it; nothing outside it can be read or written with them.`,
  ];
  if (instructions) sections.push(`## Instructions\n\n${instructions}`);
  return sections.join('\n\n');
}
