import { type Selectable, sql } from 'kysely';
import type { ListWindow, Page } from '../../api/page.ts';
import type { CommissionStatus, CommissionsTable } from '../../engines/postgres/attribution-tables.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import { type Cut, cutTo, inOrder, inWindow, type Order } from '../../engines/postgres/window.ts';
import { notFound } from '../../values/errors.ts';
import { isOfCreator } from '../creators/filter-queries.ts';
import { shownName } from '../links/queries.ts';

export type CommissionRow = Selectable<CommissionsTable>;

export interface CommissionWhere extends ListWindow {
  status?: CommissionStatus | undefined;
  creator_email?: string | undefined;
  campaign_id?: string | undefined;
  link_id?: string | undefined;
  type?: 'sale' | 'manual' | undefined;
}

/** With what the wire shows of its order, its store and its creator: the link's own name for them, else theirs. */
const withFacts = (db: Db, brandId: string) =>
  db
    .selectFrom('commissions')
    .leftJoin('orders', 'orders.id', 'commissions.orderId')
    .leftJoin('integrations', 'integrations.id', 'orders.integrationId')
    .leftJoin('links', 'links.id', 'commissions.linkId')
    .innerJoin('creators', 'creators.id', 'commissions.creatorId')
    .selectAll('commissions')
    .select([
      'orders.orderId as storeOrderId',
      'orders.integrationId',
      'integrations.storefrontUrl',
      'orders.customerEmail',
      'creators.email as creatorEmail',
      shownName,
    ])
    .where('commissions.brandId', '=', brandId);

export type CommissionFacts = Awaited<ReturnType<typeof getCommission>>;

function matching(db: Db, brandId: string, where: CommissionWhere) {
  const { status, creator_email, campaign_id, link_id, type } = where;
  let query = db
    .selectFrom('commissions')
    .where('commissions.brandId', '=', brandId)
    .where(inWindow('commissions.createdAt', where));
  if (status !== undefined) query = query.where('commissions.status', '=', status);
  if (campaign_id !== undefined) query = query.where('commissions.campaignId', '=', campaign_id);
  if (link_id !== undefined) query = query.where('commissions.linkId', '=', link_id);
  if (type !== undefined) query = query.where('commissions.orderId', type === 'manual' ? 'is' : 'is not', null);
  return query.where(isOfCreator('commissions.creatorId', brandId, creator_email));
}

const orderOf = ({ sort }: CommissionWhere): Order => ({ time: 'commissions.createdAt', id: 'commissions.id', sort });

/** The ids first: nothing is looked up of rows that an offset skips. */
async function selectCommissions(db: Db, brandId: string, where: CommissionWhere, cut: Cut) {
  const ids = cutTo(matching(db, brandId, where).select('commissions.id'), orderOf(where), cut);
  return await inOrder(withFacts(db, brandId).where('commissions.id', 'in', ids), orderOf(where)).execute();
}

export async function listCommissions(db: Db, brandId: string, where: CommissionWhere, page: Page) {
  const { total } = await matching(db, brandId, where)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectCommissions(db, brandId, where, page), total };
}

/** Every commission that the filter finds, in the list's order. */
export function eachCommission(exports: Exports, brandId: string, where: CommissionWhere) {
  return inBatches<CommissionFacts>(exports, brandId, (trx, last, limit) =>
    selectCommissions(trx, brandId, where, { limit, after: last && { at: last.createdAt, id: last.id } }),
  );
}

export async function getCommission(db: Db, brandId: string, id: string) {
  const row = await withFacts(db, brandId).where('commissions.id', '=', id).executeTakeFirst();
  if (!row) throw notFound('commission');
  return row;
}

export async function listCommissionsById(db: Db, brandId: string, ids: readonly string[]): Promise<CommissionFacts[]> {
  return await withFacts(db, brandId)
    .where('commissions.id', '=', sql<string>`any(${ids})`)
    .orderBy('commissions.id')
    .execute();
}

/** Whose they are. */
export async function listCreatorsOf(db: Db, brandId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('commissions')
    .select('creatorId')
    .distinct()
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
  return rows.map(({ creatorId }) => creatorId);
}

/** Those of the ids that are there, locked until the transaction ends; by id, so that no two callers wait for each other. */
export async function lockCommissions(db: Db, brandId: string, ids: readonly string[]): Promise<CommissionRow[]> {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .orderBy('id')
    .forUpdate()
    .execute();
}

interface Payee {
  brandId: string;
  creatorId: string;
  currency: string;
}

/** What a creator can be paid in a currency, locked until the transaction ends; by id, as everywhere. */
export async function lockApproved(db: Db, { brandId, creatorId, currency }: Payee): Promise<CommissionRow[]> {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('currency', '=', currency)
    .where('status', '=', 'approved')
    .orderBy('id')
    .forUpdate()
    .execute();
}

export async function updatePaid(db: Db, brandId: string, ids: readonly string[], at: Date): Promise<void> {
  await db
    .updateTable('commissions')
    .set({ status: 'paid', statusUpdatedAt: at })
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
}
