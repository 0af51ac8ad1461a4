import { ensurePersonToSignIn } from '../../../src/platform/people/people.ts';
import { createSignInPath } from '../../../src/platform/people/sessions.ts';
import { type Answer, call, type TestApp } from '../app.ts';

/** A person, signed in as a browser is. */
export interface SignedIn {
  secret: string;
  get(path: string): Promise<Answer>;
  send(method: string, path: string, body?: object, more?: Record<string, string>): Promise<Answer>;
}

export async function openSession(url: string, token: string): Promise<SignedIn> {
  const own = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const answer = await call(`${url}/app/session`, undefined, {
    method: 'POST',
    headers: own,
    body: JSON.stringify({ token }),
  });
  const secret = /rollcall=(svs_\w+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1];
  if (!secret) throw new Error(`Signing in answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  const cookie = `rollcall=${secret}`;
  return {
    secret,
    get: (path) => call(`${url}${path}`, undefined, { headers: { cookie } }),
    send: (method, path, body, more = {}) => {
      const { 'content-type': type, ...site } = own;
      const headers = { cookie, ...site, ...(body ? { 'content-type': type } : {}), ...more };
      return call(`${url}${path}`, undefined, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    },
  };
}

/** A link for one of the brand's people, as the terminal prints it; by default for the first owner. */
export async function signInToken({ context }: TestApp, brandId: string, email?: string): Promise<string> {
  const { postgres, redis, clock } = context;
  const person = await ensurePersonToSignIn({ db: postgres.db, redis, clock }, brandId, email);
  const path = await createSignInPath(postgres.db, clock.now(), { brandId, personId: person.id });
  return path.split('#')[1] ?? '';
}

export const signIn = async (app: TestApp, brandId: string, email?: string): Promise<SignedIn> =>
  await openSession(app.url, await signInToken(app, brandId, email));
