/** Structured logs: facts, then the event's name. Pino satisfies it. */
export interface Logger {
  info(facts: object, event: string): void;
  warn(facts: object, event: string): void;
  error(facts: object, event: string): void;
}
