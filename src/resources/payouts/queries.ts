import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { ListWindow, Page } from '../../api/page.ts';
import type { PayoutMethod, PayoutsTable } from '../../engines/postgres/attribution-tables.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import { type Cut, cutTo, inWindow } from '../../engines/postgres/window.ts';
import { notFound } from '../../values/errors.ts';

export type PayoutRow = Selectable<PayoutsTable>;

export interface PayoutWhere extends ListWindow {
  creator_email?: string | undefined;
  method?: PayoutMethod | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

const withCreator = (db: Db, brandId: string) =>
  db
    .selectFrom('payouts')
    .innerJoin('creators', 'creators.id', 'payouts.creatorId')
    .selectAll('payouts')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName'])
    .where('payouts.brandId', '=', brandId);

export type PayoutFacts = Awaited<ReturnType<typeof getPayout>>;

function matching(db: Db, brandId: string, where: PayoutWhere) {
  const { creator_email, method, from, to } = where;
  let query = withCreator(db, brandId).where(inWindow('payouts.createdAt', where));
  if (creator_email !== undefined) query = query.where(sql`lower(creators.email)`, '=', creator_email.toLowerCase());
  if (method !== undefined) query = query.where('payouts.method', '=', method);
  if (from !== undefined) query = query.where('payouts.createdAt', '>=', from);
  if (to !== undefined) query = query.where('payouts.createdAt', '<=', to);
  return query;
}

async function selectPayouts(db: Db, brandId: string, where: PayoutWhere, cut: Cut) {
  const order = { time: 'payouts.createdAt', id: 'payouts.id', sort: where.sort };
  return await cutTo(matching(db, brandId, where), order, cut).execute();
}

export async function listPayouts(db: Db, brandId: string, where: PayoutWhere, page: Page) {
  const { total } = await matching(db, brandId, where)
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectPayouts(db, brandId, where, page), total };
}

/** Every payout that the filter finds, in the list's order. */
export function eachPayout(exports: Exports, brandId: string, where: PayoutWhere) {
  return inBatches<PayoutFacts>(exports, brandId, (trx, last, limit) =>
    selectPayouts(trx, brandId, where, { limit, after: last && { at: last.createdAt, id: last.id } }),
  );
}

export async function getPayout(db: Db, brandId: string, id: string) {
  const row = await withCreator(db, brandId).where('payouts.id', '=', id).executeTakeFirst();
  if (!row) throw notFound('payout');
  return row;
}

/** What a payout paid, oldest sale first. */
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

/** Undefined unless the creator is or was on the brand's roster: who was removed may still be owed something. */
export async function findPayee(db: Db, brandId: string, email: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('creators')
    .innerJoin('rosterEntries as entry', 'entry.creatorId', 'creators.id')
    .select('creators.id')
    .where('creators.brandId', '=', brandId)
    .where('entry.brandId', '=', brandId)
    .where(sql`lower(creators.email)`, '=', email.toLowerCase())
    .executeTakeFirst();
  return row?.id;
}

export async function insertPayout(db: Db, row: Insertable<PayoutsTable>): Promise<PayoutRow> {
  return await db.insertInto('payouts').values(row).returningAll().executeTakeFirstOrThrow();
}

/**
 * The payout, held until the transaction ends, after its creator: of one creator's payouts one is allocated at a time.
 * The lock leaves room for rows that only refer to the creator, as every new sale does.
 */
export async function holdPayout(db: Db, brandId: string, id: string): Promise<PayoutRow> {
  const { creatorId } = await getPayout(db, brandId, id);
  await db
    .selectFrom('creators')
    .select('id')
    .where('brandId', '=', brandId)
    .where('id', '=', creatorId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  return await db
    .selectFrom('payouts')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

export async function updatePayout(
  db: Db,
  brandId: string,
  id: string,
  change: Updateable<PayoutsTable>,
): Promise<PayoutRow> {
  return await db
    .updateTable('payouts')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** What refunds after payment took back and no payout has netted yet; below zero: what was netted and is due again. */
export async function sumOutstanding(db: Db, { brandId, creatorId, currency }: PayoutRow): Promise<number> {
  const adjusted = await db
    .selectFrom('commissionAdjustments')
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('currency', '=', currency)
    .select(({ fn }) => fn.sum<number | null>('amountMinor').as('minor'))
    .executeTakeFirstOrThrow();
  const netted = await db
    .selectFrom('payouts')
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('currency', '=', currency)
    .select(({ fn }) => fn.sum<number | null>('nettedMinor').as('minor'))
    .executeTakeFirstOrThrow();
  return (adjusted.minor ?? 0) - (netted.minor ?? 0);
}

/** The primary key refuses a second payment of any of them. */
export async function insertAllocations(db: Db, { brandId, id }: PayoutRow, ids: readonly string[]): Promise<void> {
  await db
    .insertInto('payoutAllocations')
    .columns(['commissionId', 'brandId', 'payoutId', 'amountMinor'])
    .expression((eb) =>
      eb
        .selectFrom('commissions')
        .select(['commissions.id', 'commissions.brandId', sql<string>`${id}::text`.as('payoutId'), 'commissionMinor'])
        .where('commissions.brandId', '=', brandId)
        .where('commissions.id', '=', sql<string>`any(${ids})`),
    )
    .execute();
}
