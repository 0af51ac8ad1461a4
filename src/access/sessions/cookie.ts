import { parseCookie, stringifySetCookie } from 'cookie';
import type { Cookie } from '../keys/identify.ts';
import { SESSION_LIFE_MS } from './actions.ts';

/** What both readers and writers of the cookie need of a request. */
interface Requested {
  protocol: string;
  headers: { cookie?: string | undefined; 'sec-fetch-site'?: string | string[] | undefined };
}

/** Under https a name that no other host and no http page can set; a browser takes it nowhere else. */
const nameOf = ({ protocol }: Requested) => (protocol === 'https' ? '__Host-rollcall' : 'rollcall');

export function readCookie(request: Requested): Cookie | undefined {
  const { cookie, 'sec-fetch-site': site } = request.headers;
  const session = cookie === undefined ? undefined : parseCookie(cookie)[nameOf(request)];
  return session ? { session, isSameOrigin: site === 'same-origin' } : undefined;
}

/** The header that keeps a session in the browser; without a secret, the one that takes it out. */
export function setCookie(request: Requested, secret: string | undefined): string {
  return stringifySetCookie({
    name: nameOf(request),
    value: secret ?? '',
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    maxAge: secret === undefined ? 0 : SESSION_LIFE_MS / 1_000,
    secure: request.protocol === 'https',
  });
}
