import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { CommissionStatus, CommissionsTable } from '../../engines/postgres/attribution-tables.ts';
import { listing } from '../../engines/postgres/listing.ts';
import type { Db } from '../../engines/postgres/open.ts';
import type { ListWindow } from '../../values/page.ts';
import { given } from '../../values/patch.ts';
import { isOfCreator } from '../creators/queries.ts';
import { shownName } from '../links/queries.ts';
import type { OrderEnd } from './policy.ts';

export type CommissionRow = Selectable<CommissionsTable>;

export interface CommissionWhere extends ListWindow {
  status?: CommissionStatus | undefined;
  creator_email?: string | undefined;
  campaign_id?: string | undefined;
  link_id?: string | undefined;
  type?: 'sale' | 'manual' | undefined;
  approvable?: boolean | undefined;
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
export const withFacts = (db: Pick<Db, 'selectFrom'>) =>
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

export const commissions = listing({
  noun: 'commission',
  table: 'commissions',
  time: 'createdAt',
  matching: (db, brandId, { status, creator_email, campaign_id, link_id, type, approvable, now }: CommissionWhere) =>
    db
      .selectFrom('commissions')
      .where((eb) => eb.and(given({ status, campaignId: campaign_id, linkId: link_id })))
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
