import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import type { CommissionsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { insertOf } from '../../kit/engines/postgres/rows.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { given } from '../../kit/values/patch.ts';
import { isOfCreator, shownName } from '../../workflow/creators/queries.ts';
import type { OrderEnd } from './policy.ts';

export type CommissionStatus = CommissionsTable['status'];

export type CommissionRow = Selectable<CommissionsTable>;

export interface CommissionWhere extends ListWindow {
  status?: CommissionStatus | undefined;
  creator_email?: string | undefined;
  campaign_id?: string | undefined;
  link_id?: string | undefined;
  type?: 'sale' | 'manual' | undefined;
  approvable?: boolean | undefined;
  order_id?: string | undefined;
  currency?: string | undefined;
  flagged?: boolean | undefined;
  source?: string | undefined;
  now: Date;
}

/** What ended an order as a whole: an `OrderEnd`. */
export const orderEnd = sql<OrderEnd>`case when orders.cancelled_at is not null then 'cancelled'
  when orders.dispute_lost_at is not null then 'dispute_lost' when orders.is_test then 'test_order' end`;

/** Commissions that a review can approve now: pending, without any of the `approvalBlockers`. */
export const isApprovable = (now: Date): RawBuilder<boolean> => sql<boolean>`(
  commissions.status = 'pending'
  and commissions.hold_ends_at <= ${now}
  and commissions.paid_at is not null
  and (commissions.refunded_minor < commissions.amount_minor or commissions.amount_minor = 0)
  and (select ${orderEnd} from orders where orders.id = commissions.order_id) is null)`;

/** Commissions with the fields of their order, store and creator that answers show. */
const withFacts = (db: Pick<Db, 'selectFrom'>) =>
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
    ]);

export type CommissionFacts = Awaited<ReturnType<typeof getCommission>>;

const inLaterFilter = (
  brandId: string,
  { order_id, flagged }: Pick<CommissionWhere, 'order_id' | 'flagged'>,
) => sql<boolean>`(
  ${order_id === undefined ? sql`true` : sql`commissions.order_id in (select id from orders where brand_id = ${brandId} and order_id = ${order_id})`}
  and ${flagged === undefined ? sql`true` : sql`(commissions.fraud_flags <> '[]'::jsonb) = ${flagged}`})`;

export const commissions = listing({
  noun: 'commission',
  table: 'commissions',
  time: 'createdAt',
  changed: ['createdAt', 'syncedAt', 'statusUpdatedAt'],
  amount: 'amountMinor',
  matching: (db, brandId, { creator_email, type, approvable, now, ...where }: CommissionWhere) =>
    db
      .selectFrom('commissions')
      .where((eb) =>
        eb.and(
          given({
            ...{ status: where.status, campaignId: where.campaign_id, linkId: where.link_id },
            ...{ currency: where.currency, source: where.source },
          }),
        ),
      )
      .where(inLaterFilter(brandId, where))
      .$if(type !== undefined, (query) => query.where('orderId', type === 'manual' ? 'is' : 'is not', null))
      .$if(approvable !== undefined, (query) =>
        query.where(sql<boolean>`${isApprovable(now)} is ${sql.lit(approvable)}`),
      )
      .where(isOfCreator('commissions.creatorId', brandId, creator_email)),
  rows: withFacts,
});
export const { get: getCommission } = commissions;

export async function listCommissionsById(db: Db, brandId: string, ids: readonly string[]): Promise<CommissionFacts[]> {
  return await withFacts(db)
    .where('commissions.brandId', '=', brandId)
    .where('commissions.id', '=', sql<string>`any(${ids})`)
    .orderBy('commissions.id')
    .execute();
}

/** What a creator's pending commissions come to, by currency and the UTC day on which their review ends. */
export async function listHolds(db: Db, brandId: string, creatorId: string, now: Date) {
  return await db
    .selectFrom('commissions')
    .select(['currency', sql<string>`(hold_ends_at at time zone 'UTC')::date::text`.as('day')])
    .select(sql<number>`sum(commission_minor)::bigint`.as('amountMinor'))
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('status', '=', 'pending')
    .where('holdEndsAt', '>', now)
    .groupBy(['currency', sql`2`])
    .orderBy('day')
    .orderBy('currency')
    .execute();
}

/** The creators of these commissions. */
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

/** The commissions that exist, locked until the transaction ends, in order of id, so that callers cannot deadlock. */
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

/** The creator's approved commissions in a currency, locked until the transaction ends, in order of id. */
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

interface OwnOrder {
  brandId: string;
  /** Our own id of the order. */
  id: string;
}

/**
 * The creator of the order's commission, if the order's facts decide what is owed: the commission is approved or paid, or
 * may be again. Otherwise undefined.
 */
export async function findOwedOf(db: Db, { brandId, id }: OwnOrder): Promise<string | undefined> {
  const row = await db
    .selectFrom('commissions')
    .select('creatorId')
    .where('brandId', '=', brandId)
    .where('orderId', '=', id)
    .where((eb) => eb.or([eb('status', 'in', ['approved', 'paid']), eb('rejectedFrom', '=', 'approved')]))
    .executeTakeFirst();
  return row?.creatorId;
}

/** The order's commission, locked until the transaction ends: a review or payment of it comes before or after. */
export async function lockCommissionOf(db: Db, { brandId, id }: OwnOrder): Promise<CommissionRow | undefined> {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('orderId', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

/** Its flags are given as a value, not as text. */
export type NewCommission = Omit<Insertable<CommissionsTable>, 'fraudFlags'> & { fraudFlags: unknown };

/** Inserts, and reads with their facts in the same statement: within it, `commissions` are those that it inserted. */
function inserted(db: Db, rows: readonly NewCommission[]) {
  const those = sql<CommissionRow>`(${insertOf('commissions', rows)} returning *)`;
  return withFacts(db.with('commissions', () => those));
}

export const insertCommission = async (db: Db, row: NewCommission): Promise<CommissionFacts> =>
  await inserted(db, [row]).executeTakeFirstOrThrow();

/** Unordered. */
export const insertCommissions = async (db: Db, rows: readonly NewCommission[]): Promise<CommissionFacts[]> =>
  await inserted(db, rows).execute();

export async function updateCommission(
  db: Db,
  { brandId, id }: Pick<CommissionRow, 'brandId' | 'id'>,
  change: Updateable<CommissionsTable>,
): Promise<void> {
  await db.updateTable('commissions').set(change).where('brandId', '=', brandId).where('id', '=', id).execute();
}

export async function findCommissionOf(db: Db, { brandId, id }: OwnOrder) {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('orderId', '=', id)
    .executeTakeFirst();
}
