import type { Caller } from '../../kit/access/keys/callers.ts';
import { hashKey, newApiKey } from '../../kit/access/keys/key-form.ts';
import type { PageLinks } from '../../kit/access/page-tokens.ts';
import { isFound } from '../../kit/engines/postgres/count.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Clock } from '../../kit/values/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { getBrandSubscriptionId } from '../brands/brands.ts';
import { insertKey } from '../keys/keys.ts';

interface SessionSelection extends ListWindow {
  personId: string;
  now: Date;
}

/** The valid sessions of one person. */
export const sessions = listing({
  noun: 'session',
  table: 'api_keys',
  time: 'createdAt',
  changed: ['createdAt'],
  matching: (db, _brandId, { personId, now }: SessionSelection) =>
    db
      .selectFrom('apiKeys')
      .where('personId', '=', personId)
      .where('revokedAt', 'is', null)
      .where('expiresAt', '>', now),
  rows: (db) => db.selectFrom('apiKeys').select(['id', 'name', 'createdAt', 'expiresAt', 'lastUsedAt']),
});

/** Ends every session of this person and returns how many there were. API keys are not affected. */
export async function endPersonSessions(db: Db, brandId: string, personId: string, at: Date): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('apiKeys')
    .set({ revokedAt: at })
    .where('brandId', '=', brandId)
    .where('kind', '=', 'session')
    .where('personId', '=', personId)
    .where('revokedAt', 'is', null)
    .where('expiresAt', '>', at)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Ends one session of this person, or of anyone in the brand if `personId` is undefined; false if there is none. */
export async function endSession(db: Db, brandId: string, id: string, personId: string | undefined, at: Date) {
  const row = await db
    .updateTable('apiKeys')
    .set((eb) => ({ revokedAt: eb.fn.coalesce('revokedAt', eb.val(at)) }))
    .where('brandId', '=', brandId)
    .where('kind', '=', 'session')
    .where('id', '=', id)
    .$if(personId !== undefined, (query) => query.where('personId', '=', personId ?? ''))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Uses a link once: only one of several concurrent callers gets its person. */
async function claimSignInLink(db: Db, link: { hash: Buffer } | { id: string }, now: Date) {
  return await db
    .updateTable('signInLinks')
    .from('people')
    .set({ usedAt: now })
    .whereRef('people.id', '=', 'signInLinks.personId')
    .where('people.removedAt', 'is', null)
    .$if('hash' in link, (query) => query.where('signInLinks.hash', '=', 'hash' in link ? link.hash : Buffer.alloc(0)))
    .$if('id' in link, (query) => query.where('signInLinks.id', '=', 'id' in link ? link.id : ''))
    .where('signInLinks.usedAt', 'is', null)
    .where('signInLinks.expiresAt', '>', now)
    .returning(['signInLinks.personId', 'signInLinks.brandId'])
    .executeTakeFirst();
}

/** True if a link was created for this person after `since`. Prevents others from flooding the mailbox. */
export const hasLinkSince = (db: Db, brandId: string, personId: string, since: Date): Promise<boolean> =>
  isFound(
    db
      .selectFrom('signInLinks')
      .select('id')
      .where('brandId', '=', brandId)
      .where('personId', '=', personId)
      .where('createdAt', '>', since)
      .limit(1),
  );

export const LINK_LIFE_MS = 15 * MINUTE_MS;
export const INVITATION_LIFE_MS = 3 * DAY_MS;
export const SESSION_LIFE_MS = 30 * DAY_MS;

interface PersonRef {
  brandId: string;
  personId: string;
}

/**
 * Creates a link that signs in once. Its token is in the fragment, which browsers do not send, so that neither logs nor
 * mail scanners can use it: the page posts it when its button is pressed.
 */
export async function createSignInPath(db: Db, now: Date, person: PersonRef): Promise<string> {
  return (await createSignInLink(db, now, person, LINK_LIFE_MS)).path;
}

/**
 * Creates a sign-in link and returns its id too. A mail derives its own token from the id when it is sent, so that no
 * token is stored.
 */
export async function createSignInLink(db: Db, now: Date, person: PersonRef, lifeMs: number) {
  const id = newId('sil', now.getTime());
  const expiresAt = new Date(now.getTime() + lifeMs);
  const token = newApiKey('svs_').slice(4);
  await db
    .insertInto('signInLinks')
    .values({
      ...person,
      id,
      hash: hashKey(token),
      createdAt: now,
      expiresAt,
      usedAt: null,
    })
    .execute();
  return { id, expiresAt, path: `/app/sign-in#${token}` };
}

/** Creates a session. Its secret is only in the result, and then in one browser's cookie. */
export async function createSession(db: Db, clock: Clock, { brandId, personId }: PersonRef, device: string) {
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

/** So long after signing in may a session make what outlives it. */
const FRESH_MS = 15 * MINUTE_MS;

/** True for a session that began a moment ago, and for callers that are none. */
export async function isFresh(
  { db, brandId, now }: Pick<Work, 'db' | 'brandId' | 'now'>,
  { kind, keyId }: Pick<Caller, 'kind' | 'keyId'>,
): Promise<boolean> {
  if (kind !== 'session') return true;
  const since = new Date(now.getTime() - FRESH_MS);
  const own = db.selectFrom('apiKeys').select('id').where('brandId', '=', brandId).where('id', '=', keyId);
  return await isFound(own.where('createdAt', '>', since));
}

/**
 * Refuses a session that began a while ago: whoever took it must not make a passkey, a key or a webhook of it, let an agent
 * in, nor invite or remove people, which would stay when its person signs out everywhere. Keys and agents may go on.
 */
export async function assertFresh(work: Work, caller: Pick<Caller, 'kind' | 'keyId'>): Promise<void> {
  if (await isFresh(work, caller)) return;
  const message = `You signed in more than ${FRESH_MS / MINUTE_MS} minutes ago. Sign out and in again, then repeat this.`;
  throw new ApiError('SIGN_IN_AGAIN', message);
}

/** Signs in by a token that was displayed, or by one from a mail. */
export async function signInByLink(db: Db, clock: Clock, pageLinks: PageLinks, token: string, device: string) {
  const now = clock.now();
  const mailToken = pageLinks.read('enter', token, now);
  const person = await claimSignInLink(db, mailToken ? { id: mailToken.rowId } : { hash: hashKey(token) }, now);
  if (!person) throw new ApiError('LINK_USED', 'This link was already used or has expired; request a new one.');
  return await createSession(db, clock, person, device);
}
