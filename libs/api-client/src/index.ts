export { createApiClient, type ApiClient, type MessagesInput, type PageInput, type Question, type QuestionsInput } from './client.js';
export type { FollowedEvent, FollowOptions } from './events.js';
export { ApiError, ConnectionError } from './problem.js';
export type { CallOptions, ClientOptions, CreateOptions } from './transport.js';
