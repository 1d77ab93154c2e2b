import type { Services } from '@echelon/orchestration';

/** The intentions that tools translate calls into. */
export type ToolServices = Pick<
  Services,
  'attached' | 'messages' | 'plans' | 'profiles' | 'questions' | 'sessions' | 'tasks' | 'turns' | 'workflows'
>;
