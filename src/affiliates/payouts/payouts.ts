import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PayoutsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { matchesCreator } from '../../workflow/creators/creators.ts';
import { showCreator } from '../../workflow/creators/renamed.ts';
import type { Fund, Funding, PayoutShare } from './allocate.ts';
import type { PayoutFilter } from './payouts.shapes.ts';

export type PayoutRow = Selectable<PayoutsTable>;

/** The money was sent and has not come back. A wallet payout is paid as soon as it is recorded. */
export const isPaidOut = sql<boolean>`(payouts.status = 'paid' or payouts.method = 'wallet' and payouts.status = 'completed')`;
const isUnpaid = sql<boolean>`(payouts.status = 'completed' and payouts.method <> 'wallet')`;

export const isPaid = ({ status, method }: Pick<PayoutRow, 'status' | 'method'>): boolean =>
  status === 'paid' || (method === 'wallet' && status === 'completed');

/** What a payout had paid before its money came back. */
interface UndonePayment {
  nettedMinor: number;
  allocations: { commissionId: string; amountMinor: number }[];
}

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'payouts.undone': UndonePayment;
  }
}

/** A creator and the currency they are paid in. */
export interface Payee {
  brandId: string;
  creatorId: string;
  currency: string;
}

const withCreator = (db: Db) =>
  db
    .selectFrom('payouts')
    .innerJoin('creators', 'creators.id', 'payouts.creatorId')
    .selectAll('payouts')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName']);

export type PayoutFacts = Awaited<ReturnType<typeof getPayout>>;

export const payouts = listing({
  noun: 'payout',
  table: 'payouts',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  shown: [showCreator('payouts')],
  sums: {
    currency: sql.ref('payouts.currency'),
    of: { amount: sql`case when payouts.status not in ('voided', 'returned') then payouts.amount_minor end` },
  },
  matching: (db, brandId, { creator_email, method, status, settled, from, to }: Omit<PayoutFilter, keyof Page>) => {
    let query = db
      .selectFrom('payouts')
      .where((eb) => eb.and(omitUndefined({ method, status })))
      .where(matchesCreator('payouts.creatorId', brandId, creator_email));
    if (settled !== undefined) query = query.where(settled ? isPaidOut : isUnpaid);
    if (from !== undefined) query = query.where('createdAt', '>=', from);
    if (to !== undefined) query = query.where('createdAt', '<=', to);
    return query;
  },
  rows: withCreator,
  ranks: { amount: { at: sql.ref('payouts.amountMinor'), of: ({ amountMinor }) => amountMinor } },
});
export const { get: getPayout } = payouts;

/** Finds a payout by its id alone, because a visitor with the link has no brand. */
export async function findPayoutPage(db: Db, id: string): Promise<PayoutFacts | undefined> {
  return await withCreator(db).where('payouts.id', '=', id).executeTakeFirst();
}

/** Lists the commissions that a payout paid, oldest sale first. */
export async function listAllocated(db: Db, brandId: string, payoutId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('payoutAllocations as allocation')
    .innerJoin('commissions', 'commissions.id', 'allocation.commissionId')
    .select('commissions.id')
    .where('allocation.brandId', '=', brandId)
    .where('allocation.payoutId', '=', payoutId)
    .orderBy('commissions.occurredAt')
    .orderBy('commissions.id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Finds a creator who is or was on the brand's roster; a removed creator may still be owed money. */
export async function findPayee(db: Db, brandId: string, email: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('creators')
    .innerJoin('rosterEntries as entry', 'entry.creatorId', 'creators.id')
    .select('creators.id')
    .where('creators.brandId', '=', brandId)
    .where('entry.brandId', '=', brandId)
    .where(matchesCreator('creators.id', brandId, email))
    .executeTakeFirst();
  return row?.id;
}

export async function insertPayout(db: Db, row: Insertable<PayoutsTable>): Promise<PayoutRow> {
  return await db.insertInto('payouts').values(row).returningAll().executeTakeFirstOrThrow();
}

/**
 * Locks creators until the transaction ends, before any of their payouts and commissions, so that payments to one
 * creator are decided one at a time and no refund changes what is owed in the meantime. The lock does not block inserts of
 * rows that only refer to the creator, as every new sale does.
 */
export async function lockPayees(db: Db, brandId: string, creatorIds: readonly string[]): Promise<void> {
  await db
    .selectFrom('creators')
    .select('id')
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${creatorIds})`)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Locks the payout until the transaction ends, and its creator before it. */
export async function lockPayout(db: Db, brandId: string, id: string): Promise<PayoutRow> {
  const { creatorId } = await getPayout(db, brandId, id);
  await lockPayees(db, brandId, [creatorId]);
  return await lockOwn(db.selectFrom('payouts').selectAll(), 'payout', brandId, id);
}

export const updatePayout = (db: Db, brandId: string, id: string, change: Updateable<PayoutsTable>) =>
  updateOwn(db.updateTable('payouts').set(change).returningAll(), brandId, id);

/** Sums the refunds of paid commissions that no payout has netted; negative if netted amounts are due again. */
export async function sumOutstanding(db: Db, { brandId, creatorId, currency }: Payee): Promise<number> {
  const adjustments = await db
    .selectFrom('commissionAdjustments')
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('currency', '=', currency)
    .select(({ fn }) => fn.sum<number | null>('amountMinor').as('minor'))
    .executeTakeFirstOrThrow();
  const deductions = await db
    .selectFrom('payouts')
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('currency', '=', currency)
    .select(({ fn }) => fn.sum<number | null>('nettedMinor').as('minor'))
    .executeTakeFirstOrThrow();
  return (adjustments.minor ?? 0) - (deductions.minor ?? 0);
}

/**
 * A job pays a creator's many commissions in steps; until it is done, its payout's money is for them. One that returns a
 * payout takes them away in steps; their money came back.
 */
const isBeingSpent = sql<boolean>`payouts.undone is not null or exists (select from job_lines as line join jobs on jobs.id = line.job_id
  where line.brand_id = payouts.brand_id and line.creator_id = payouts.creator_id and not line.is_done
    and line.outcome ->> 'payout_id' = payouts.id and jobs.status in ('queued', 'running'))`;

/** Lists the payouts with unspent money that may pay any commission, oldest first. */
export async function listFreeFunds(db: Db, payee: Payee): Promise<Fund[]> {
  return (await listFunds(db, payee)).filter(({ isSpent }) => !isSpent);
}

/** Lists the payouts with unspent money, oldest first. */
export async function listFunds(
  db: Db,
  { brandId, creatorId, currency }: Payee,
): Promise<(Fund & { isSpent: boolean })[]> {
  const rows = await db
    .selectFrom('payouts')
    .select(['id', 'unallocatedMinor as leftMinor', 'paidAt', isBeingSpent.as('isSpent')])
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('currency', '=', currency)
    .where('unallocatedMinor', '>', 0)
    .execute();
  return rows.toSorted((a, b) => (a.paidAt?.getTime() ?? 0) - (b.paidAt?.getTime() ?? 0) || (a.id < b.id ? -1 : 1));
}

/** The newest payout that paid commissions, as a fund that has nothing left but can net what is owed back. */
export async function findNettingFund(db: Db, { brandId, creatorId, currency }: Payee): Promise<Fund[]> {
  return await db
    .selectFrom('payouts')
    .select(['id', 'unallocatedMinor as leftMinor'])
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('currency', '=', currency)
    .where(isPaidOut)
    .where('isFee', '=', false)
    .where('undone', 'is', null)
    .orderBy('paidAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .execute();
}

/** Selects the creators who have a payout with unspent money, or from whose paid commissions something was taken back. */
export async function listFunded(db: Db, brandId: string, creatorIds: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('payouts')
    .select('creatorId')
    .where('brandId', '=', brandId)
    .where('creatorId', 'in', creatorIds)
    .where('unallocatedMinor', '>', 0)
    .union(
      db
        .selectFrom('commissionAdjustments')
        .select('creatorId')
        .where('brandId', '=', brandId)
        .where('creatorId', 'in', creatorIds),
    )
    .execute();
  return new Set(rows.map(({ creatorId }) => creatorId));
}

/** Adds a share to the sums that the payout has already paid. */
export async function updateShare(db: Db, brandId: string, share: PayoutShare, at: Date): Promise<void> {
  await db
    .updateTable('payouts')
    .set(({ eb }) => ({
      allocatedMinor: eb('allocatedMinor', '+', share.allocatedMinor),
      nettedMinor: eb('nettedMinor', '+', share.nettedMinor),
      unallocatedMinor: share.leftMinor,
      updatedAt: at,
    }))
    .where('brandId', '=', brandId)
    .where('id', '=', share.id)
    .execute();
}

const FUNDINGS_AT_ONCE = 5_000;

/** The primary key prevents a payout from paying a commission twice. */
export async function insertFundings(db: Db, brandId: string, fundings: readonly Funding[], at: Date): Promise<void> {
  // A statement has at most 65,535 parameters.
  for (let i = 0; i < fundings.length; i += FUNDINGS_AT_ONCE) {
    await db
      .insertInto('payoutAllocations')
      .values(fundings.slice(i, i + FUNDINGS_AT_ONCE).map((funding) => ({ ...funding, brandId, at })))
      .execute();
  }
}

/** True if the brand has sales and all are later. Both statements stop at the first row. */
export async function isBeforeSales(db: Db, brandId: string, at: Date): Promise<boolean> {
  const own = db.selectFrom('orders').select('id').where('brandId', '=', brandId).limit(1);
  if (await own.where('occurredAt', '<', at).executeTakeFirst()) return false;
  return (await own.executeTakeFirst()) !== undefined;
}

interface PayoutFigures {
  payouts: { status: string; method: string; count: number }[];
  /** Number of payouts with unspent money. */
  unallocated: number;
}

/** Counts the payouts of all brands. */
export async function readPayoutFigures(db: Db): Promise<PayoutFigures> {
  const { rows } = await sql<PayoutFigures['payouts'][number] & { unallocated: number }>`
    select status, method, count(*) as count, count(*) filter (where unallocated_minor > 0) as unallocated
    from payouts group by status, method`.execute(db);
  return {
    payouts: rows.map(({ unallocated: _unallocated, ...row }) => row),
    unallocated: rows.reduce((sum, { unallocated }) => sum + unallocated, 0),
  };
}
