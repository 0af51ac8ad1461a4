import { createHash, randomBytes } from 'node:crypto';
import type { Insertable } from 'kysely';
import { z } from 'zod';
import type { StoreAuthorizationsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import type { Work } from '../../kit/operation/work.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { ApiError, notFound, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { checkStore, type NewStore } from './connections/connect.ts';

async function insertAuthorization(db: Db, row: Insertable<StoreAuthorizationsTable>): Promise<void> {
  await db.insertInto('storeAuthorizations').values(row).execute();
}

/** Stores the keys of a callback, once, before the link expires. Returns false otherwise. */
async function storeKeysOnce(db: Db, tokenHash: Buffer, keys: Buffer, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('storeAuthorizations')
    .set({ keys })
    .where('tokenHash', '=', tokenHash)
    .where('keys', 'is', null)
    .where('expiresAt', '>', now)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

async function findAuthorization(db: Db, brandId: string, id: string, now: Date) {
  return await db
    .selectFrom('storeAuthorizations')
    .select(['id', 'baseUrl', 'tokenHash', 'keys'])
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('expiresAt', '>', now)
    .executeTakeFirst();
}

/** Deletes an authorization. Returns false if it did not exist. */
async function deleteAuthorization(db: Db, brandId: string, id: string): Promise<boolean> {
  const deletion = await db
    .deleteFrom('storeAuthorizations')
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirst();
  return deletion.numDeletedRows > 0n;
}

export async function deleteExpired(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('storeAuthorizations').where('expiresAt', '<=', now).execute();
}

const EXPIRES_AFTER_MS = HOUR_MS;
const TOKEN_BYTES = 32;

const hashToken = (token: string) => createHash('sha256').update(token).digest();
const toSealContext = (tokenHash: Buffer) => `authorization ${tokenHash.toString('hex')}`;

/** Callback path on the links host, followed by a token that allows its holder to hand over keys once. */
export const KEYS_PATH = '/ingest/woocommerce/keys/';

/** WooCommerce calls back over https only. */
export function assertCallable(linksUrl: string): void {
  if (linksUrl.startsWith('https:')) return;
  const message = `cannot hand over its keys: WooCommerce sends them to an https address only, and LINKS_URL is ${linksUrl}. Enter a key and its secret instead.`;
  throw validationError([{ field: 'url', code: 'not_callable', message }]);
}

/** Creates a link on which the owner of a store lets it hand over its keys. */
export async function createAuthorization(
  work: Work,
  linksUrl: string,
  { url, returnUrl }: { url: string; returnUrl: string },
): Promise<{ id: string; authorize_url: string; expires_at: string }> {
  const { db, now, brandId } = work;
  const id = newId('sau', now.getTime());
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const expiresAt = new Date(now.getTime() + EXPIRES_AFTER_MS);
  const row = { id, brandId, baseUrl: url, tokenHash: hashToken(token), expiresAt, keys: null, createdAt: now };
  await insertAuthorization(db, row);
  work.audit({ resourceId: id, old: null, new: { id, url, expiresAt } });
  const page = new URL(`${url}/wc-auth/v1/authorize`);
  page.search = new URLSearchParams({
    app_name: 'Rollcall',
    scope: 'read_write',
    user_id: id,
    return_url: returnUrl,
    callback_url: `${linksUrl}${KEYS_PATH}${token}`,
  }).toString();
  return { id, authorize_url: page.href, expires_at: expiresAt.toISOString() };
}

/** WooCommerce sends these keys once the owner has approved. */
const HandedKeys = z.object({
  consumer_key: z.string().regex(/^[^\s:]{1,200}$/),
  consumer_secret: z.string().regex(/^[^\s:]{1,200}$/),
});

/** Accepts the keys of a store. Returns false if the link does not exist, expired or was used before. */
export async function acceptAuthorizationCallback(
  { postgres, secrets, clock }: Context,
  token: string,
  body: unknown,
): Promise<boolean> {
  const { data } = HandedKeys.safeParse(body);
  if (!data) return false;
  const tokenHash = hashToken(token);
  const keys = secrets.seal(`${data.consumer_key}:${data.consumer_secret}`, toSealContext(tokenHash));
  return await storeKeysOnce(postgres.db, tokenHash, keys, clock.now());
}

/** Checks the store with the keys that it handed over. */
export async function checkAuthorizedStore(context: Context, brandId: string, id: string): Promise<NewStore> {
  const { postgres, secrets, clock } = context;
  const row = await findAuthorization(postgres.db, brandId, id, clock.now());
  if (!row) throw notFound('authorization');
  if (!row.keys)
    throw new ApiError('CONFLICT', 'The store has not sent its keys yet; approve the access in the store.');
  const token = secrets.open(row.keys, toSealContext(row.tokenHash));
  const webhookSecret = randomBytes(TOKEN_BYTES).toString('base64url');
  return await checkStore(context, { provider: 'woocommerce', baseUrl: row.baseUrl, token, webhookSecret });
}

export async function consumeAuthorization({ db, brandId }: Work, id: string): Promise<void> {
  if (!(await deleteAuthorization(db, brandId, id))) throw notFound('authorization');
}

export const forgetStoreAuthorizations: Job = {
  name: 'forget-store-authorizations',
  everyMs: HOUR_MS,
  asksFor: 'links to WooCommerce that expired, with the keys that nobody used',
  run: ({ postgres, clock }) => deleteExpired(postgres.db, clock.now()),
};
