import { type ErrorCode, ERRORS, Problem } from '@echelon/contracts';

/** The server refused or failed, and said how. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly code: ErrorCode,
    readonly problem: Problem,
    /** Seconds to wait before another try, where the server named them. */
    readonly retryAfterSeconds: number | null,
  ) {
    super(describe(problem));
  }
}

/** Nobody answered: wrong address, nothing listens there, or the connection broke. `cause` says what happened. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  constructor(url: string, cause: unknown) {
    super(`No answer from ${url}`, { cause });
  }
}

/** Reads a failed response. Whatever is not a problem of ours (a proxy's page) becomes INTERNAL with its status. */
export async function toApiError(response: Response): Promise<ApiError> {
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const problem = Problem.safeParse(await response.json().catch(() => null)).data ?? foreign(response);
  const code = problem.code in ERRORS ? (problem.code as ErrorCode) : 'INTERNAL';
  return new ApiError(code, problem, Number.isFinite(retryAfter) ? retryAfter : null);
}

function foreign({ status, url }: Response): Problem {
  return { type: 'about:blank', title: `${url} answered with HTTP ${status}, and not as Echelon does.`, status, code: 'INTERNAL' };
}

function describe({ code, title, detail, errors, details }: Problem): string {
  const facts = [
    ...(errors ?? []).map(({ path, rule }) => `${path}: ${rule}`),
    ...Object.entries(details ?? {}).map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(' → ') : value}`),
  ];
  return [`${code}: ${title}`, ...(detail === undefined ? [] : [detail]), ...(facts.length > 0 ? [`(${facts.join('; ')})`] : [])].join(' ');
}
