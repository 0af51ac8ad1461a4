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
  const name = nameOf(request);
  for (const pair of cookie?.split(';') ?? []) {
    const [found, value] = pair.trim().split('=', 2);
    if (found === name && value) return { session: value, isSameOrigin: site === 'same-origin' };
  }
  return undefined;
}

/** The header that keeps a session in the browser; without a secret, the one that takes it out. */
export function setCookie(request: Requested, secret: string | undefined): string {
  const secure = request.protocol === 'https' ? '; Secure' : '';
  const age = secret === undefined ? 0 : SESSION_LIFE_MS / 1_000;
  return `${nameOf(request)}=${secret ?? ''}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${secure}`;
}
