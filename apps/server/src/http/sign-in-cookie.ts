import type { CookieOptions, Request } from 'express';

/** Carries an operator's token in a browser: unreadable for scripts, never sent with another site's requests. */
export const SIGN_IN_COOKIE = 'echelon_token';

/** Options that set the cookie, and that clear it. */
export function cookieOptions(request: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'strict', path: '/', secure: request.secure };
}

/** The token of the cookie, if there is one. */
export function cookieToken(request: Request): string | null {
  for (const pair of request.headers.cookie?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === SIGN_IN_COOKIE && value) return value;
  }
  return null;
}

/** A write with a cookie must come from a page of this very origin: a cookie ignores ports, and SameSite does too. */
export function isFromOwnPage(request: Request): boolean {
  const origin = URL.parse(request.headers.origin ?? '');
  return origin?.host !== undefined && origin.host === request.headers.host?.toLowerCase();
}
