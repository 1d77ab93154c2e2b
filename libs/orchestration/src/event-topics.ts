/** Topics of the event bus. */

/** Durable events of a workspace, as they are stamped. */
export function eventTopic(workspaceId: string): string {
  return `event.${workspaceId}`;
}
export const EVENT_TOPICS = 'event.*';

/** What streams live from a session's turn: payloads are `LiveEvent` as JSON. */
export function liveTopic(sessionId: string): string {
  return `live.${sessionId}`;
}
export const LIVE_TOPICS = 'live.*';
