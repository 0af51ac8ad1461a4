import { type Selectable, sql } from 'kysely';
import type { ListWindow, Page } from '../../api/page.ts';
import type { CommissionStatus, CommissionsTable } from '../../engines/postgres/attribution-tables.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import { type Cut, cutTo, inOrder, inWindow, type Order } from '../../engines/postgres/window.ts';
import { notFound } from '../../values/errors.ts';

export type CommissionRow = Selectable<CommissionsTable>;

export interface CommissionWhere extends ListWindow {
  status?: CommissionStatus | undefined;
  creator_email?: string | undefined;
}

/** With what the wire shows of its order and its creator: the link's own name for them, else theirs. */
const withFacts = (db: Db, brandId: string) =>
  db
    .selectFrom('commissions')
    .innerJoin('orders', 'orders.id', 'commissions.orderId')
    .innerJoin('links', 'links.id', 'commissions.linkId')
    .innerJoin('creators', 'creators.id', 'commissions.creatorId')
    .selectAll('commissions')
    .select([
      'orders.orderId as storeOrderId',
      'orders.customerEmail',
      'creators.email as creatorEmail',
      sql<string | null>`coalesce(links.creator_name, creators.name)`.as('creatorName'),
    ])
    .where('commissions.brandId', '=', brandId);

export type CommissionFacts = Awaited<ReturnType<typeof getCommission>>;

function matching(db: Db, brandId: string, where: CommissionWhere) {
  const { status, creator_email } = where;
  let query = db
    .selectFrom('commissions')
    .where('commissions.brandId', '=', brandId)
    .where(inWindow('commissions.createdAt', where));
  if (status !== undefined) query = query.where('commissions.status', '=', status);
  if (creator_email === undefined) return query;
  const creators = db
    .selectFrom('creators')
    .select('creators.id')
    .where('creators.brandId', '=', brandId)
    .where(sql`lower(creators.email)`, '=', creator_email.toLowerCase());
  return query.where('commissions.creatorId', 'in', creators);
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

/** Those of the ids that are there, held until the transaction ends; by id, so that no two callers wait for each other. */
export async function holdCommissions(db: Db, brandId: string, ids: readonly string[]): Promise<CommissionRow[]> {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** Which of these orders were cancelled. Asked after their commissions are held, so that it is the newest answer. */
export async function listCancelled(db: Db, brandId: string, orderIds: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('orders')
    .select('id')
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${orderIds})`)
    .where('cancelledAt', 'is not', null)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

export interface Review {
  status: 'approved' | 'rejected';
  note: string | null;
}

/** A review's word replaces the facts' own. The first approval's time is kept for good: it is told of once. */
export async function updateReviewed(
  db: Db,
  brandId: string,
  ids: readonly string[],
  { status, note, at }: Review & { at: Date },
): Promise<CommissionRow[]> {
  return await db
    .updateTable('commissions')
    .set({
      status,
      statusNote: note,
      statusUpdatedAt: at,
      rejectedFrom: null,
      ...(status === 'approved' ? { approvedAt: sql<Date>`coalesce(approved_at, ${at})` } : {}),
    })
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .returningAll()
    .execute();
}

/**
 * Brands that want approval without a review and may have something to approve. The earliest of each brand is found in
 * the index: of 60,000 due ones in 2 ms, where asking for one that is sure to be approvable read them all in 120 ms.
 */
export async function listWithDue(db: Db, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('brands')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('commissions')
          .select('commissions.id')
          .whereRef('commissions.brandId', '=', 'brands.id')
          .where('commissions.status', '=', 'pending')
          .where('commissions.holdEndsAt', '<=', now)
          .orderBy('commissions.holdEndsAt')
          .limit(1)
          .as('due'),
      (join) => join.onTrue(),
    )
    .select('brands.id')
    .where('brands.autoApproveCommissions', '=', true)
    .orderBy('brands.id')
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * The brand's next commissions whose order stands (paid, not taken back, its review period over) and of which nothing
 * grave is suspected, held until the transaction ends; those that another worker or a review holds are left to it.
 */
export async function holdDue(db: Db, brandId: string, now: Date, limit: number): Promise<CommissionRow[]> {
  return await db
    .selectFrom('commissions')
    .innerJoin('orders', 'orders.id', 'commissions.orderId')
    .innerJoin('brands', 'brands.id', 'commissions.brandId')
    .selectAll('commissions')
    .where('commissions.brandId', '=', brandId)
    .where('brands.autoApproveCommissions', '=', true)
    .where('commissions.status', '=', 'pending')
    .where('commissions.holdEndsAt', '<=', now)
    .where('commissions.paidAt', 'is not', null)
    .where('orders.cancelledAt', 'is', null)
    .where(sql<boolean>`(commissions.refunded_minor < commissions.amount_minor or commissions.amount_minor = 0)`)
    .where(sql<boolean>`not commissions.fraud_flags @> '[{"severity": "high"}]'`)
    .orderBy('commissions.holdEndsAt')
    .limit(limit)
    .forUpdate('commissions')
    .skipLocked()
    .execute();
}

interface Payee {
  brandId: string;
  creatorId: string;
  currency: string;
}

/** What a creator can be paid in a currency, held until the transaction ends; by id, as everywhere. */
export async function holdApproved(db: Db, { brandId, creatorId, currency }: Payee): Promise<CommissionRow[]> {
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
