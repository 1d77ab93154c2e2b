/** What the demo's four agents are told, by a script and by a real model alike; each prompt holds the next one. */

export const DEMO_MODEL = 'scripted-demo';

export const LEAF = `[demo:writer] Write the greeting of a small welcome page into the file greeting.txt of your task folder: one friendly sentence. The language of the greeting matters and is not yours to guess: ask your parent with ask_parent_question_kandev which language it should be. When you know, write the file, then finish with step_complete_kandev.`;

export const BUILDER = `[demo:builder] Build a small welcome page. Delegate the writing to one subtask with create_task_kandev (parent_id "self", autopilot true), with exactly this prompt:

${LEAF}

You do not know the language of the greeting: when your subtask asks, relay the question to your own parent with ask_parent_question_kandev, and pass its answer on with message_task_kandev. When your subtask has ended, finish with step_complete_kandev.`;

export const LEAD = `[demo:lead] You are responsible for a small welcome page in German. Delegate the building to one subtask with create_task_kandev (parent_id "self", autopilot true), with exactly this prompt:

${BUILDER}

When your subtask asks for the language, answer it with message_task_kandev. When it has ended, finish with step_complete_kandev.`;

/** Prompt of the root task, for a scripted and for a real model alike. */
export const DEMO_PROMPT = `[demo:root] See to it that a small welcome page is made. Delegate it to one subtask with create_task_kandev (parent_id "self", autopilot true), with exactly this prompt:

${LEAD}

When your subtask has ended, finish with step_complete_kandev.`;
