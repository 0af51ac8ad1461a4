import { parseCookie, stringifySetCookie } from 'cookie';
import type { Cookie } from '../../kit/access/keys/identify.ts';
import { SESSION_LIFE_MS } from './sessions.ts';

/** The parts of a request that reading and writing the cookie need. */
interface CookieRequest {
  protocol: string;
  headers: { cookie?: string | undefined; 'sec-fetch-site'?: string | string[] | undefined };
}

/** Over https, the `__Host-` prefix prevents other hosts and http pages from setting the cookie. */
const cookieName = ({ protocol }: CookieRequest) => (protocol === 'https' ? '__Host-rollcall' : 'rollcall');

export function readCookie(request: CookieRequest): Cookie | undefined {
  const { cookie, 'sec-fetch-site': site } = request.headers;
  const session = cookie === undefined ? undefined : parseCookie(cookie)[cookieName(request)];
  return session ? { session, isSameOrigin: site === 'same-origin' } : undefined;
}

/** The Set-Cookie header that stores a session; without a secret, the one that removes it. */
export function setCookie(request: CookieRequest, secret: string | undefined): string {
  return stringifySetCookie({
    name: cookieName(request),
    value: secret ?? '',
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    maxAge: secret === undefined ? 0 : SESSION_LIFE_MS / 1_000,
    secure: request.protocol === 'https',
  });
}
