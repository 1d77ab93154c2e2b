/** Tells a database that cannot be reached from a statement that is wrong (operations.md, Outages). */

/** SQLSTATE classes and codes: connection exceptions, the server starting or stopping, no connection left. */
const SQLSTATE = /^(08...|57P0[1-5]|53300)$/;
const SYSTEM = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
]);
/** What the driver throws without a code. */
const MESSAGES = /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Whether an error says that the database is out of reach: the same call may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return SQLSTATE.test(code) || (SYSTEM.has(code) && 'syscall' in error) || MESSAGES.test(error.message);
}
