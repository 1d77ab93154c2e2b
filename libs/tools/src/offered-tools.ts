/** Which tools a capability offers, in the order in which models see them (autopilot-contract.md §3). Tools of the task's folder are not named here. */
import type { Capability } from '@echelon/domain';

export const OFFERED_TOOLS: Readonly<Record<Exclude<Capability, 'workspace'>, readonly string[]>> = {
  task_tools: [
    'create_task_kandev',
    'list_tasks_kandev',
    'list_related_tasks_kandev',
    'get_task_kandev',
    'update_task_kandev',
    'message_task_kandev',
    'get_message_delivery_kandev',
    'stop_task_kandev',
    'spawn_session_kandev',
    'archive_task_kandev',
    'create_task_plan_kandev',
    'get_task_plan_kandev',
    'update_task_plan_kandev',
    'delete_task_plan_kandev',
    'get_task_conversation_kandev',
    'list_task_sessions_kandev',
    'list_agents_kandev',
  ],
  inbox: ['list_task_inbox_kandev', 'wait_for_messages_kandev'],
  step_completion: ['step_complete_kandev'],
  user_question: ['ask_user_question_kandev'],
  parent_question: ['ask_parent_question_kandev'],
  configuration: [
    'list_tasks_kandev',
    'get_task_kandev',
    'get_task_conversation_kandev',
    'list_task_sessions_kandev',
    'list_agents_kandev',
  ],
  external: [
    'create_task_kandev',
    'list_tasks_kandev',
    'get_task_kandev',
    'message_task_kandev',
    'get_message_delivery_kandev',
    'stop_task_kandev',
    'spawn_session_kandev',
    'archive_task_kandev',
    'reparent_task_kandev',
    'create_task_plan_kandev',
    'get_task_plan_kandev',
    'update_task_plan_kandev',
    'delete_task_plan_kandev',
    'get_task_conversation_kandev',
    'list_task_sessions_kandev',
    'list_agents_kandev',
    'list_pending_questions_kandev',
    'answer_question_kandev',
  ],
};

/** Known by name to every agent: a call out of the contract is answered with its typed refusal, not as an unknown tool (D3). */
export const QUESTION_TOOLS: ReadonlySet<string> = new Set(['ask_parent_question_kandev', 'ask_user_question_kandev']);
