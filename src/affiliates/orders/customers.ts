import type { Db } from '../../kit/engines/postgres/open.ts';
import { keyedHash, type Secrets } from '../../kit/values/secrets.ts';

/** The sealed value; undefined before the first order. */
export async function findSalt(db: Db): Promise<Buffer | undefined> {
  return (await db.selectFrom('customerSalt').select('salt').executeTakeFirst())?.salt;
}

/** Returns the stored one: this, or what another process stored first. */
export async function insertSaltIfAbsent(db: Db, salt: Buffer): Promise<Buffer> {
  await db
    .insertInto('customerSalt')
    .values({ salt })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await findSalt(db)) ?? salt;
}

/** The context under which the salt is sealed. */
export const SALT_CONTEXT = 'customer salt';

const committed = new WeakMap<Secrets, Buffer>();

/**
 * Makes the salt before the first order, and before a new secret. Releases without it derived the key from the
 * installation's secret, so the first salt is that key.
 */
export async function ensureSalt(db: Db, secrets: Secrets): Promise<Buffer> {
  const first = secrets.previousKey('customer') ?? secrets.key('customer');
  return (await findSalt(db)) ?? (await insertSaltIfAbsent(db, secrets.seal(first, SALT_CONTEXT)));
}

/** The key of customers' hashes. */
export async function getSalt(db: Db, secrets: Secrets): Promise<Buffer> {
  const known = committed.get(secrets);
  if (known) return known;
  const found = await findSalt(db);
  const salt = secrets.openBytes(found ?? (await ensureSalt(db, secrets)), SALT_CONTEXT);
  // One that was made just now may be rolled back.
  if (found) committed.set(secrets, salt);
  return salt;
}

/** The same text for every spelling of a mailbox: without case, surrounding spaces and any `+` suffix. */
function normalizeMailbox(email: string): string {
  const text = email.trim().toLowerCase();
  const at = text.lastIndexOf('@');
  return at < 0 ? text : `${text.slice(0, at).replace(/(?<=.)\+.*$/s, '')}${text.slice(at)}`;
}

/** Recognizes the same person again. It is never shown, and useless without the salt. */
export const hashEmail = (salt: Buffer, email: string): Buffer => keyedHash(salt, normalizeMailbox(email));
