import { RequestError } from '@agentclientprotocol/sdk/unstable';
import { SessionError } from '@echelon/agent-session';

/** A refusal of the session room as a JSON-RPC error: `data.code` is its code. Everything else stays what it is. */
export async function asRequestError<Result>(sessionId: string | null, run: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SessionError)) throw error;
    const code = error.code === 'session_not_found' ? -32002 : -32600;
    throw new RequestError(code, error.message, { code: error.code, ...(sessionId === null ? {} : { sessionId }) });
  }
}
