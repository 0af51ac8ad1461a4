import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { ContractItemsTable, ContractsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { given } from '../../kit/values/patch.ts';
import { isOfCreator } from '../creators/queries.ts';

export type ContractStatus = ContractsTable['status'];

export type ContractRow = Selectable<ContractsTable>;
export type ItemRow = Pick<Selectable<ContractItemsTable>, 'type' | 'platform' | 'quantity' | 'dueDate'>;

export interface ContractWhere extends ListWindow {
  creator_email?: string | undefined;
  campaign_id?: string | undefined;
  status?: ContractStatus | undefined;
}

/** The promised deliverables, in order; as `json`, which keeps the order of keys. */
const items = sql<ItemRow[]>`(
  select coalesce(json_agg(json_build_object(
    'type', item.type, 'platform', item.platform, 'quantity', item.quantity, 'dueDate', item.due_date
  ) order by item.position), '[]')
  from contract_items as item
  where item.brand_id = contracts.brand_id and item.contract_id = contracts.id)`;

const withFacts = (db: Db) =>
  db
    .selectFrom('contracts')
    .innerJoin('creators', 'creators.id', 'contracts.creatorId')
    .selectAll('contracts')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName', items.as('items')]);

/** A contract with its promised deliverables. */
export type ContractFacts = Awaited<ReturnType<typeof getContract>>;

export const contracts = listing({
  noun: 'contract',
  table: 'contracts',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt', 'sentAt', 'signedAt', 'expiredAt'],
  due: {
    at: sql`case when contracts.status in ('draft', 'sent') then coalesce(contracts.expires_at, 'infinity')
      else 'infinity' end`,
    of: ({ status, expiresAt }) => (status === 'draft' || status === 'sent' ? expiresAt : null) ?? 'infinity',
  },
  matching: (db, brandId, { creator_email, campaign_id, status }: ContractWhere) =>
    db
      .selectFrom('contracts')
      .where((eb) => eb.and(given({ status, campaignId: campaign_id })))
      .where(isOfCreator('contracts.creatorId', brandId, creator_email)),
  rows: withFacts,
});
export const { get: getContract } = contracts;

/** Found by id alone, because a visitor with the page's link has no brand. */
export async function findContractOfLink(db: Db, id: string, version: number): Promise<ContractFacts | undefined> {
  const row = await db
    .selectFrom('contracts')
    .select('brandId')
    .where('id', '=', id)
    .where('linkVersion', '=', version)
    .executeTakeFirst();
  return row && (await contracts.find(db, row.brandId, id));
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

export const updateContract = (db: Db, brandId: string, id: string, change: Updateable<ContractsTable>) =>
  updateOwn(db.updateTable('contracts').set(change).returningAll(), brandId, id);

/**
 * Signs a sent contract that has not expired, if this is its current link; undefined otherwise. Of several concurrent
 * signatures only one succeeds.
 */
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

/** Contracts that are past their end and unsigned, oldest first. */
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
