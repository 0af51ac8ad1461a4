import { createHash, randomBytes } from 'node:crypto';
import type { Context } from '../../../kit/operation/context.ts';
import type { Work } from '../../../kit/operation/work.ts';
import { HOUR_MS } from '../../../kit/values/duration.ts';
import { ApiError, notFound, validationError } from '../../../kit/values/errors.ts';
import { newId } from '../../../kit/values/ids.ts';
import { meetStore, type NewStore } from '../connections/actions.ts';
import { deleteAuthorization, findAuthorization, insertAuthorization, takeKeys } from './queries.ts';
import { HandedKeys } from './schema.ts';

const EXPIRES_AFTER_MS = HOUR_MS;
const TOKEN_BYTES = 32;

const hashOf = (token: string) => createHash('sha256').update(token).digest();
const contextOf = (tokenHash: Buffer) => `authorization ${tokenHash.toString('hex')}`;

/** Below the links host, followed by a token: the caller who knows it may hand over keys, once. */
export const KEYS_PATH = '/ingest/woocommerce/keys/';

/** WooCommerce calls back over https only. */
export function assertCallable(linksUrl: string): void {
  if (linksUrl.startsWith('https:')) return;
  const message = `cannot hand over its keys: WooCommerce sends them to an https address only, and LINKS_URL is ${linksUrl}. Enter a key and its secret instead.`;
  throw validationError([{ field: 'url', code: 'not_callable', message }]);
}

/** Makes a link on which a store's owner approves that the store hands over keys. */
export async function makeAuthorization(
  work: Work,
  linksUrl: string,
  { url, returnUrl }: { url: string; returnUrl: string },
): Promise<{ id: string; authorize_url: string; expires_at: string }> {
  const { db, now, brandId } = work;
  const id = newId('sau', now.getTime());
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const expiresAt = new Date(now.getTime() + EXPIRES_AFTER_MS);
  const row = { id, brandId, baseUrl: url, tokenHash: hashOf(token), expiresAt, keys: null, createdAt: now };
  await insertAuthorization(db, row);
  work.audit({ resourceId: id, old: null, new: { id, url, expiresAt } });
  const page = new URL(`${url}/wc-auth/v1/authorize`);
  page.search = new URLSearchParams({
    ...{ app_name: 'Rollcall', scope: 'read_write', user_id: id },
    ...{ return_url: returnUrl, callback_url: `${linksUrl}${KEYS_PATH}${token}` },
  }).toString();
  return { id, authorize_url: page.href, expires_at: expiresAt.toISOString() };
}

/** Takes the keys that a store hands over. False if there is no such link, it expired, or it was used before. */
export async function takeHandedKeys(
  { postgres, secrets, clock }: Context,
  token: string,
  body: unknown,
): Promise<boolean> {
  const { data } = HandedKeys.safeParse(body);
  if (!data) return false;
  const tokenHash = hashOf(token);
  const keys = secrets.seal(`${data.consumer_key}:${data.consumer_secret}`, contextOf(tokenHash));
  return await takeKeys(postgres.db, tokenHash, keys, clock.now());
}

/** Asks the store with the keys that it handed over. */
export async function meetAuthorizedStore(context: Context, brandId: string, id: string): Promise<NewStore> {
  const { postgres, secrets, clock } = context;
  const row = await findAuthorization(postgres.db, brandId, id, clock.now());
  if (!row) throw notFound('authorization');
  if (!row.keys)
    throw new ApiError('CONFLICT', 'The store has not sent its keys yet; approve the access in the store.');
  const token = secrets.open(row.keys, contextOf(row.tokenHash));
  const webhookSecret = randomBytes(TOKEN_BYTES).toString('base64url');
  return await meetStore(context, { provider: 'woocommerce', baseUrl: row.baseUrl, token, webhookSecret });
}

export async function useUp({ db, brandId }: Work, id: string): Promise<void> {
  if (!(await deleteAuthorization(db, brandId, id))) throw notFound('authorization');
}
