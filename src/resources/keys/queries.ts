import type { ListWindow, Page } from '../../api/page.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { cutTo, inWindow } from '../../engines/postgres/window.ts';

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

function keysOf(db: Db, brandId: string) {
  return db.selectFrom('apiKeys').where('brandId', '=', brandId).where('kind', '!=', 'session');
}

export async function listApiKeys(db: Db, brandId: string, where: KeyWhere, page: Page) {
  const matching = () =>
    keysOf(db, brandId)
      .where(inWindow('createdAt', where))
      .$if(where.type !== undefined, (query) => query.where('kind', '=', where.type ?? 'brand'));
  const { total } = await matching()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await cutTo(
    matching().select(COLUMNS),
    { time: 'createdAt', id: 'id', sort: where.sort },
    page,
  ).execute();
  return { rows, total };
}

/** Locked until the transaction ends. */
export async function lockApiKey(db: Db, brandId: string, id: string) {
  return await keysOf(db, brandId).where('id', '=', id).select(COLUMNS).forUpdate().executeTakeFirst();
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
