import type { Db } from '../../kit/engines/postgres/open.ts';
import { keyedHash, type Secrets } from '../../kit/values/secrets.ts';

/** Reads the sealed salt; undefined before the first order. */
async function findSalt(db: Db): Promise<Buffer | undefined> {
  return (await db.selectFrom('customerSalt').select('salt').executeTakeFirst())?.salt;
}

/** Inserts the salt, and returns the stored one: another process may have been first. */
async function insertSaltIfAbsent(db: Db, salt: Buffer): Promise<Buffer> {
  await db
    .insertInto('customerSalt')
    .values({ salt })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await findSalt(db)) ?? salt;
}

/** Context under which the salt is sealed. */
export const SALT_CONTEXT = 'customer salt';

const committedSalts = new WeakMap<Secrets, Buffer>();

/**
 * Creates the salt before the first order and before a change of the secret. Earlier releases derived the key from the
 * installation's secret, so the first salt is that key.
 */
export async function ensureSalt(db: Db, secrets: Secrets): Promise<Buffer> {
  const first = secrets.previousKey('customer') ?? secrets.key('customer');
  return (await findSalt(db)) ?? (await insertSaltIfAbsent(db, secrets.seal(first, SALT_CONTEXT)));
}

/** Returns the key of customer hashes. A salt that was created just now may be rolled back, so it is not cached. */
export async function getSalt(db: Db, secrets: Secrets): Promise<Buffer> {
  const cached = committedSalts.get(secrets);
  if (cached) return cached;
  const sealedSalt = await findSalt(db);
  const salt = secrets.openBytes(sealedSalt ?? (await ensureSalt(db, secrets)), SALT_CONTEXT);
  if (sealedSalt) committedSalts.set(secrets, salt);
  return salt;
}

/**
 * Hashes an address, so that the same customer is recognized in every spelling: case, surrounding spaces and a `+` suffix
 * do not matter. The hash is never shown, and useless without the salt.
 */
export function hashEmail(salt: Buffer, email: string): Buffer {
  const text = email.trim().toLowerCase();
  const at = text.lastIndexOf('@');
  const mailbox = at < 0 ? text : `${text.slice(0, at).replace(/(?<=.)\+.*$/s, '')}${text.slice(at)}`;
  return keyedHash(salt, mailbox);
}

/** An id says something at one store only, so that the same one of another store has another hash. */
export const hashCustomerId = (salt: Buffer, integrationId: string, id: string): Buffer =>
  keyedHash(salt, `${integrationId} ${id}`);

/** Shows the first character of the local part and of the domain, and the last label: `j***@e***.com`. */
export function maskEmail(email: string): string {
  const match = /^(.).*@(.).*?(\.[^.@]*)?$/su.exec(email.replaceAll('\0', '').toWellFormed().trim());
  if (!match) return '***';
  const [, local, domain, suffix = ''] = match;
  return `${local}***@${domain}***${suffix}`;
}
