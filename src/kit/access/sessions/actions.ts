import type { Db } from '../../engines/postgres/open.ts';
import type { Clock } from '../../values/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../values/duration.ts';
import { ApiError } from '../../values/errors.ts';
import { newId } from '../../values/ids.ts';
import { hashKey, newApiKey } from '../keys/key-form.ts';
import { insertKey } from '../keys/queries.ts';
import type { PageLinks } from '../page-tokens.ts';
import { getBrandSubscriptionId, insertSignInLink, takeSignInLink } from './queries.ts';

export const LINK_LIFE_MS = 15 * MINUTE_MS;
export const INVITATION_LIFE_MS = 3 * DAY_MS;
export const SESSION_LIFE_MS = 30 * DAY_MS;

interface Who {
  brandId: string;
  personId: string;
}

/**
 * Creates a link that signs in once. Its token is in the fragment, which browsers do not send, so that neither logs nor
 * mail scanners can use it: the page posts it when its button is pressed.
 */
export async function createSignInPath(db: Db, now: Date, who: Who): Promise<string> {
  return (await createSignInLink(db, now, who, LINK_LIFE_MS)).path;
}

/**
 * Creates a sign-in link and returns its id too. A mail derives its own token from the id when it is sent, so that no
 * token is stored.
 */
export async function createSignInLink(db: Db, now: Date, who: Who, lifeMs: number) {
  const id = newId('sil', now.getTime());
  const expiresAt = new Date(now.getTime() + lifeMs);
  const token = newApiKey('svs_').slice(4);
  await insertSignInLink(db, {
    ...who,
    id,
    hash: hashKey(token),
    createdAt: now,
    expiresAt,
  });
  return { id, expiresAt, path: `/app/sign-in#${token}` };
}

/** Creates a session. Its secret is only in the result, and then in one browser's cookie. */
export async function createSession(db: Db, clock: Clock, { brandId, personId }: Who, device: string) {
  const secret = newApiKey('svs_');
  const createdAt = clock.now();
  const id = newId('key', createdAt.getTime());
  await insertKey(db, {
    id,
    brandId,
    personId,
    subscriptionId: await getBrandSubscriptionId(db, brandId),
    kind: 'session',
    name: device,
    hash: hashKey(secret),
    firstCharacters: secret.slice(0, 8),
    lastCharacters: secret.slice(-4),
    createdAt,
    expiresAt: new Date(createdAt.getTime() + SESSION_LIFE_MS),
  });
  return { id, secret };
}

/** Signs in by a token that was displayed, or by one from a mail. */
export async function signInByLink(db: Db, clock: Clock, pageLinks: PageLinks, token: string, device: string) {
  const now = clock.now();
  const mailed = pageLinks.read('enter', token, now);
  const who = await takeSignInLink(db, mailed ? { id: mailed.rowId } : { hash: hashKey(token) }, now);
  if (!who) throw new ApiError('LINK_USED', 'This link was already used or has expired; request a new one.');
  return await createSession(db, clock, who, device);
}
