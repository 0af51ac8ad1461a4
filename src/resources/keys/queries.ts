import { listing } from '../../engines/postgres/listing.ts';
import type { Db } from '../../engines/postgres/open.ts';
import type { ListWindow } from '../../values/page.ts';
import { given } from '../../values/patch.ts';

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
] as const;

/** Sessions are stored as keys too, and are excluded. */
const keysOf = (db: Db) => db.selectFrom('apiKeys').where('kind', '!=', 'session');

export const apiKeys = listing({
  noun: 'key',
  table: 'api_keys',
  time: 'createdAt',
  matching: (db, _brandId, { type }: KeyWhere) => keysOf(db).where((eb) => eb.and(given({ kind: type }))),
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
  change: { revokedAt?: Date; expiresAt?: Date; replacedBy?: string },
): Promise<ApiKeyRow> {
  return await db
    .updateTable('apiKeys')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}
