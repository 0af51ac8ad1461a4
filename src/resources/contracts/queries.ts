import type { Insertable, Selectable, Updateable } from 'kysely';
import type { ListWindow, Page } from '../../api/page.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import { lockOwn } from '../../engines/postgres/own.ts';
import { type Cut, cutTo, inWindow } from '../../engines/postgres/window.ts';
import type { ContractItemsTable, ContractStatus, ContractsTable } from '../../engines/postgres/work-tables.ts';
import { notFound } from '../../values/errors.ts';
import { isOfCreator } from '../creators/filter-queries.ts';

export type ContractRow = Selectable<ContractsTable>;
export type ItemRow = Pick<Selectable<ContractItemsTable>, 'type' | 'platform' | 'quantity' | 'dueDate'>;

export interface ContractWhere extends ListWindow {
  creator_email?: string | undefined;
  campaign_id?: string | undefined;
  status?: ContractStatus | undefined;
}

const withCreator = (db: Db, brandId: string) =>
  db
    .selectFrom('contracts')
    .innerJoin('creators', 'creators.id', 'contracts.creatorId')
    .selectAll('contracts')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName'])
    .where('contracts.brandId', '=', brandId);

type Row = ContractRow & { creatorEmail: string | null; creatorName: string | null };
/** A contract with what it promises. */
export type ContractFacts = Row & { items: ItemRow[] };

function matching(db: Db, brandId: string, where: ContractWhere) {
  const { creator_email, campaign_id, status } = where;
  let query = withCreator(db, brandId)
    .where(inWindow('contracts.createdAt', where))
    .where(isOfCreator('contracts.creatorId', brandId, creator_email));
  if (campaign_id !== undefined) query = query.where('contracts.campaignId', '=', campaign_id);
  if (status !== undefined) query = query.where('contracts.status', '=', status);
  return query;
}

async function withItems(db: Db, brandId: string, rows: Row[]): Promise<ContractFacts[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const items = await db
    .selectFrom('contractItems')
    .select(['contractId', 'type', 'platform', 'quantity', 'dueDate'])
    .where('brandId', '=', brandId)
    .where('contractId', 'in', ids)
    .orderBy('position')
    .execute();
  const byContract = Map.groupBy(items, ({ contractId }) => contractId);
  return rows.map((row) => ({
    ...row,
    items: (byContract.get(row.id) ?? []).map(({ contractId: _, ...item }) => item),
  }));
}

async function selectContracts(db: Db, brandId: string, where: ContractWhere, cut: Cut): Promise<ContractFacts[]> {
  const order = { time: 'contracts.createdAt', id: 'contracts.id', sort: where.sort };
  return await withItems(db, brandId, await cutTo(matching(db, brandId, where), order, cut).execute());
}

export async function listContracts(db: Db, brandId: string, where: ContractWhere, page: Page) {
  const { total } = await matching(db, brandId, where)
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectContracts(db, brandId, where, page), total };
}

export function eachContract(exports: Exports, brandId: string, where: ContractWhere) {
  return inBatches<ContractFacts>(exports, brandId, (trx, last, limit) =>
    selectContracts(trx, brandId, where, { limit, after: last && { at: last.createdAt, id: last.id } }),
  );
}

async function findContract(db: Db, brandId: string, id: string): Promise<ContractFacts | undefined> {
  const rows = await withCreator(db, brandId).where('contracts.id', '=', id).execute();
  return (await withItems(db, brandId, rows))[0];
}

export async function getContract(db: Db, brandId: string, id: string): Promise<ContractFacts> {
  const found = await findContract(db, brandId, id);
  if (!found) throw notFound('contract');
  return found;
}

/** By its id alone: who has its page's link needs no brand. */
export async function findContractOfLink(db: Db, id: string, version: number): Promise<ContractFacts | undefined> {
  const row = await db
    .selectFrom('contracts')
    .select('brandId')
    .where('id', '=', id)
    .where('linkVersion', '=', version)
    .executeTakeFirst();
  return row && (await findContract(db, row.brandId, id));
}

export const lockContract = (db: Db, brandId: string, id: string): Promise<ContractRow> =>
  lockOwn(db.selectFrom('contracts').selectAll(), 'contract', brandId, id);

export async function insertContract(db: Db, row: Insertable<ContractsTable>): Promise<void> {
  await db.insertInto('contracts').values(row).execute();
}

export async function replaceItems(
  db: Db,
  brandId: string,
  contractId: string,
  items: readonly ItemRow[],
): Promise<void> {
  await db.deleteFrom('contractItems').where('brandId', '=', brandId).where('contractId', '=', contractId).execute();
  const rows = items.map((item, position) => ({ ...item, brandId, contractId, position }));
  if (rows.length > 0) await db.insertInto('contractItems').values(rows).execute();
}

export async function updateContract(
  db: Db,
  brandId: string,
  id: string,
  change: Updateable<ContractsTable>,
): Promise<ContractRow> {
  return await db
    .updateTable('contracts')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Signs what was sent, has not expired and whose link this is; undefined otherwise. Of many at once one signs. */
export async function signSent(
  db: Db,
  brandId: string,
  { id, version }: { id: string; version: number },
  signature: Pick<ContractRow, 'signerName' | 'signerIpSealed' | 'signerAgentSealed'>,
  at: Date,
): Promise<ContractRow | undefined> {
  return await db
    .updateTable('contracts')
    .set({ ...signature, status: 'signed', signedAt: at, updatedAt: at })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('linkVersion', '=', version)
    .where('status', '=', 'sent')
    .where((eb) => eb.or([eb('expiresAt', 'is', null), eb('expiresAt', '>', at)]))
    .returningAll()
    .executeTakeFirst();
}

/** What has come to its end unsigned, longest ago first. */
export async function listExpired(db: Db, now: Date, limit: number): Promise<{ id: string; brandId: string }[]> {
  return await db
    .selectFrom('contracts')
    .select(['id', 'brandId'])
    .where('status', 'in', ['draft', 'sent'])
    .where('expiresAt', '<=', now)
    .orderBy('expiresAt')
    .limit(limit)
    .execute();
}
