import type { Services } from '@echelon/orchestration';

/** The intentions that tools translate calls into. */
export type ToolServices = Pick<Services, 'attached' | 'messages' | 'profiles' | 'questions' | 'sessions' | 'tasks' | 'turns'>;
