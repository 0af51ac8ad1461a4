import { sql } from 'kysely';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';

export interface KeyWhere extends ListWindow {
  type?: 'brand' | 'data' | undefined;
}

const COLUMNS = [
  'id',
  'kind',
  'name',
  'subscriptionId',
  'firstCharacters',
  'lastCharacters',
  'createdAt',
  'expiresAt',
  'revokedAt',
  'lastUsedAt',
  'replacedBy',
  'limits',
] as const;

/** Sessions are stored as keys too, and are excluded. */
const keysOf = (db: Db) => db.selectFrom('apiKeys').where('kind', '!=', 'session');

export const apiKeys = listing({
  noun: 'key',
  table: 'api_keys',
  time: 'createdAt',
  changed: ['createdAt', 'revokedAt'],
  matching: (db, _brandId, { type }: KeyWhere) => keysOf(db).where((eb) => eb.and(omitUndefined({ kind: type }))),
  rows: (db) => keysOf(db).select(COLUMNS),
});

/** The key, locked until the transaction ends. */
export async function lockApiKey(db: Db, brandId: string, id: string) {
  return await keysOf(db)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .select(COLUMNS)
    .forUpdate()
    .executeTakeFirst();
}
export type ApiKeyRow = NonNullable<Awaited<ReturnType<typeof lockApiKey>>>;

export async function updateApiKey(
  db: Db,
  brandId: string,
  id: string,
  change: { revokedAt?: Date; expiresAt?: Date; replacedBy?: string; name?: string; limits?: string | null },
): Promise<ApiKeyRow> {
  return await db
    .updateTable('apiKeys')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Keys of all brands that owners get mails about, and that were used since. */
export async function listKeysToAlert(db: Db, usedSince: Date) {
  return await db
    .selectFrom('apiKeys as key')
    .innerJoin('subscriptions as subscription', 'subscription.id', 'key.subscriptionId')
    .where('key.limits', 'is not', null)
    .where(sql<boolean>`key.limits ->> 'alert_at' is not null`)
    .where('key.revokedAt', 'is', null)
    .where('key.lastUsedAt', '>', usedSince)
    .select(['key.id', 'key.name', 'key.brandId', 'key.limits', 'key.subscriptionId', 'subscription.anchorAt'])
    .execute();
}
