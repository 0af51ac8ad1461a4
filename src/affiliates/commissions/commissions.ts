import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import { toLocalTimestamp } from '../../analytics/figures/local-time.ts';
import { storeSource } from '../../analytics/labels.ts';
import type { CommissionsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Account, LedgerKind, NewEntry, Posting } from '../../kit/outbox/ledger-entry.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { matchesCreator, shownName } from '../../workflow/creators/creators.ts';
import { showCreator } from '../../workflow/creators/renamed.ts';
import { matchesGroup } from '../groups/present-groups.ts';
import { isNamed } from '../orders/order-names.ts';
import { orderKind, shownCommission } from '../orders/orders.ts';
import { CommissionAnnounced, type CommissionFilter, FraudFlags, toCommission } from './commissions.shapes.ts';

/** A commission as the ledger records it; `status` is the one before the change. */
interface LedgeredCommission {
  id: string;
  /** Our own id of the order. */
  orderId: string | null;
  linkId: string | null;
  creatorId: string;
  currency: string;
  commissionMinor: number;
  status: CommissionStatus;
  occurredAt: Date;
  paidAt: Date | null;
}

/** The account that holds a commission, by its status. A rejected one is not owed. */
export const ACCOUNT_OF = {
  pending: 'commission_pending',
  approved: 'commission_approved',
  rejected: 'commission_expense',
  paid: 'commission_paid',
} as const satisfies Record<CommissionStatus, Account>;

export function toLedgerEntry(
  commission: LedgeredCommission,
  kind: LedgerKind,
  postings: readonly Posting[],
  payoutId: string | null = null,
): NewEntry {
  const { id, orderId, linkId, creatorId, currency } = commission;
  return { kind, currency, creatorId, linkId, orderId, commissionId: id, payoutId, postings };
}

type Poster = Pick<Work, 'post'>;

/** Moves the commission from the account of its status to another. An unpaid order has nothing in the ledger to move. */
function postMove(
  work: Poster,
  commission: LedgeredCommission,
  kind: LedgerKind,
  to: CommissionStatus,
  payoutId: string | null = null,
): void {
  const { commissionMinor, status, occurredAt: at, paidAt } = commission;
  if (paidAt === null || commissionMinor === 0 || status === to) return;
  const postings = [
    { account: ACCOUNT_OF[status], amountMinor: commissionMinor, at },
    { account: ACCOUNT_OF[to], amountMinor: -commissionMinor, at },
  ];
  work.post(toLedgerEntry(commission, kind, postings, payoutId));
}

/** Posts the approval of a pending commission, or of a rejected one that is reinstated. */
export function postApproval(work: Poster, commission: LedgeredCommission): void {
  postMove(work, commission, 'approval', 'approved');
}

export function postRejection(work: Poster, commission: LedgeredCommission): void {
  postMove(work, commission, 'rejection', 'rejected');
}

/** Posts the payment of an approved commission, which payouts pay in full. */
export function postPayment(work: Poster, commission: LedgeredCommission, payoutId: string | null): void {
  postMove(work, commission, 'payment', 'paid', payoutId);
}

type CommissionEventName = 'commission.created' | 'commission.approved' | 'commission.rejected' | 'commission.paid';

export function announceCommission(work: Work, event: CommissionEventName, facts: CommissionFacts): void {
  work.emit(event, CommissionAnnounced.parse(toCommission(facts)));
}

/** Emits one event for each commission, in its current state. */
export async function announceCommissions(
  work: Work,
  event: CommissionEventName,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const rows = await withFacts(work.db)
    .where('commissions.brandId', '=', work.brandId)
    .where('commissions.id', '=', sql<string>`any(${ids})`)
    .orderBy('commissions.id')
    .execute();
  for (const facts of rows) announceCommission(work, event, facts);
}

/** A reason why a commission cannot be approved, by a person or automatically. */
export interface Blocker {
  code: 'order_not_paid' | 'review_period_active';
  message: string;
  facts?: { approvable_at: string };
}

type ApprovalFacts = Pick<CommissionRow, 'amountMinor' | 'refundedMinor' | 'paidAt' | 'holdEndsAt'>;

/** The event that ended an order as a whole, if any. */
export type OrderEnd = 'cancelled' | 'dispute_lost' | 'test_order' | null;

const ENDED: Record<NonNullable<OrderEnd>, string> = {
  cancelled: 'The order was cancelled.',
  dispute_lost: 'A dispute over the payment of the order was lost.',
  test_order: 'The order is a test order.',
};

/** Lists every reason that keeps a commission from being approved now, the most serious first. */
export function listApprovalBlockers(row: ApprovalFacts, end: OrderEnd, now: Date): Blocker[] {
  const { amountMinor, refundedMinor, paidAt, holdEndsAt } = row;
  const blockers: Blocker[] = [];
  const code = 'order_not_paid';
  if (end !== null) blockers.push({ code, message: ENDED[end] });
  else if (amountMinor > 0 && refundedMinor >= amountMinor) {
    blockers.push({ code, message: 'The order was refunded in full.' });
  } else if (!(paidAt && holdEndsAt)) blockers.push({ code, message: 'The order is not paid.' });
  if (!holdEndsAt || holdEndsAt <= now) return blockers;
  const approvable_at = holdEndsAt.toISOString();
  const message = `The review period lasts until ${approvable_at}.`;
  return [...blockers, { code: 'review_period_active', message, facts: { approvable_at } }];
}

/** A high flag reserves the approval for a person. */
export const isSuspicious = ({ fraudFlags }: Pick<CommissionRow, 'fraudFlags'>): boolean =>
  FraudFlags.parse(fraudFlags).some(({ severity }) => severity === 'high');

export const canAutoApprove = (row: CommissionRow, end: OrderEnd, now: Date): boolean =>
  row.status === 'pending' && !isSuspicious(row) && listApprovalBlockers(row, end, now).length === 0;

export type CommissionStatus = CommissionsTable['status'];

/** `now` decides what is approvable. */
type CommissionSelection = Omit<CommissionFilter, keyof Page> & { now: Date };

export type CommissionRow = Selectable<CommissionsTable>;

/** An `OrderEnd` of the joined order. */
export const orderEnd = sql<OrderEnd>`case when orders.cancelled_at is not null then 'cancelled'
  when orders.dispute_lost_at is not null then 'dispute_lost' when orders.is_test then 'test_order' end`;

/** A review can approve the commission now: it is pending and has no approval blockers. */
export const isApprovable = (now: Date): RawBuilder<boolean> => sql<boolean>`(
  commissions.status = 'pending'
  and commissions.hold_ends_at <= ${now}
  and commissions.paid_at is not null
  and (commissions.refunded_minor < commissions.amount_minor or commissions.amount_minor = 0)
  and (select ${orderEnd} from orders where orders.id = commissions.order_id) is null)`;

/** Commissions with the fields of their order, store and creator that responses show. */
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
      'orders.orderNumber',
      'orders.integrationId',
      'integrations.storefrontUrl',
      'orders.customerEmail',
      'orders.kind',
      'orders.isRenewal',
      'orders.subscriptionId',
      'orders.customerId',
      'creators.email as creatorEmail',
      shownName,
    ]);

export type CommissionFacts = Awaited<ReturnType<typeof getCommission>>;

export const commissions = listing({
  noun: 'commission',
  table: 'commissions',
  isCounted: true,
  time: 'createdAt',
  changed: ['createdAt', 'syncedAt', 'statusUpdatedAt'],
  shown: [
    showCreator('commissions'),
    (brandId, after) => sql`select id from commissions where brand_id = ${brandId} and clawed_back_at > ${after}`,
  ],
  sums: {
    currency: sql.ref('commissions.currency'),
    of: { amount: sql.ref('commissions.amountMinor'), commission: shownCommission },
  },
  matching: (db, brandId, { creator_email, type, approvable, order_id, flagged, now, ...where }: CommissionSelection) =>
    db
      .selectFrom('commissions')
      .where((eb) =>
        eb.and(
          omitUndefined({
            status: where.status,
            campaignId: where.campaign_id,
            linkId: where.link_id,
            currency: where.currency,
            source: where.source?.split(':', 1)[0],
          }),
        ),
      )
      .$if(order_id !== undefined, (query) =>
        query.where(
          sql<boolean>`commissions.order_id in
            (select id from orders where brand_id = ${brandId} and ${isNamed(order_id ?? '')})`,
        ),
      )
      .$if(where.source?.includes(':') === true, (query) =>
        query.where(
          sql<boolean>`exists (select from orders join integrations on integrations.id = orders.integration_id
            where orders.id = commissions.order_id and ${storeSource} = ${where.source})`,
        ),
      )
      .$if(where.integration_id !== undefined, (query) =>
        query.where(
          sql<boolean>`exists (select from orders
            where orders.id = commissions.order_id and orders.integration_id = ${where.integration_id ?? ''})`,
        ),
      )
      .$if(flagged !== undefined, (query) =>
        query.where(sql<boolean>`(commissions.fraud_flags <> '[]'::jsonb) = ${flagged ?? false}`),
      )
      .$if(type !== undefined, (query) => query.where('orderId', type === 'manual' ? 'is' : 'is not', null))
      .$if(approvable !== undefined, (query) =>
        query.where(sql<boolean>`${isApprovable(now)} is ${sql.lit(approvable)}`),
      )
      .$if(where.kind !== undefined, (query) =>
        query.where(
          sql<boolean>`exists (select from orders where orders.id = commissions.order_id and ${orderKind} = ${where.kind})`,
        ),
      )
      .$if(where.customer_id !== undefined, (query) =>
        query.where(
          sql<boolean>`commissions.order_id in
            (select id from orders where brand_id = ${brandId} and customer_id = ${where.customer_id ?? ''})`,
        ),
      )
      .$if(where.click_id !== undefined, (query) => query.where('commissions.clickId', '=', where.click_id ?? ''))
      .where(matchesGroup('commissions.creatorId', brandId, where.group_id))
      .where(matchesCreator('commissions.creatorId', brandId, creator_email)),
  rows: withFacts,
  ranks: {
    amount: { at: sql.ref('commissions.amountMinor'), of: ({ amountMinor }) => amountMinor },
    commission: {
      at: shownCommission,
      of: ({ status, commissionMinor }) => (status === 'rejected' ? 0 : commissionMinor),
    },
  },
});
export const { get: getCommission } = commissions;

/** Longer than any review period. */
const LONGEST_HOLD_MS = 400 * DAY_MS;

/** Sums a creator's pending commissions, by currency and the day of the brand's time zone on which their review period ends. */
export async function listHolds(
  db: Db,
  { brandId, creatorId, timeZone }: { brandId: string; creatorId: string; timeZone: string },
  now: Date,
) {
  const local = sql.raw(
    toLocalTimestamp({ from: now, until: new Date(now.getTime() + LONGEST_HOLD_MS), timeZone }, 'hold_ends_at'),
  );
  return await db
    .selectFrom('commissions')
    .select(['currency', sql<string>`${local}::date::text`.as('day')])
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

export async function listCommissionCreators(db: Db, brandId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('commissions')
    .select('creatorId')
    .distinct()
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
  return rows.map(({ creatorId }) => creatorId);
}

/** Locks the existing commissions until the transaction ends, in order of id so that callers cannot deadlock. */
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

interface PayeeKey {
  brandId: string;
  creatorId: string;
  currency: string;
}

/** A payment reads no more of a commission: a creator may have a hundred thousand of them. */
const OF_A_PAYMENT = [
  ...(['id', 'orderId', 'linkId', 'creatorId', 'currency'] as const),
  ...(['commissionMinor', 'status', 'occurredAt', 'paidAt'] as const),
];
export type PayableCommission = Pick<CommissionRow, (typeof OF_A_PAYMENT)[number]>;

/** Like `lockCommissions`, for a payment. */
export async function lockPayable(db: Db, brandId: string, ids: readonly string[]): Promise<PayableCommission[]> {
  return await db
    .selectFrom('commissions')
    .select(OF_A_PAYMENT)
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .orderBy('id')
    .forUpdate()
    .execute();
}

const isDueUntil = (cutoff: Date | undefined) =>
  sql<boolean>`(${cutoff ?? null}::timestamptz is null or occurred_at <= ${cutoff ?? null})`;

const selectApproved = (db: Db, { brandId, creatorId, currency }: PayeeKey, cutoff: Date | undefined) =>
  db
    .selectFrom('commissions')
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('currency', '=', currency)
    .where('status', '=', 'approved')
    .where(isDueUntil(cutoff));

/** Lists the creator's approved commissions in a currency up to the cutoff. */
export async function listApproved(db: Db, payee: PayeeKey, cutoff: Date | undefined): Promise<PayableCommission[]> {
  return await selectApproved(db, payee, cutoff).select(OF_A_PAYMENT).execute();
}

/** Locks the creator's approved commissions in a currency until the transaction ends, in order of id. */
export async function lockApproved(db: Db, payee: PayeeKey, cutoff?: Date): Promise<PayableCommission[]> {
  return await selectApproved(db, payee, cutoff).select(OF_A_PAYMENT).orderBy('id').forUpdate().execute();
}

/** Locks the first of them, oldest first. Lock the creator before. */
export async function lockFirstApproved(
  db: Db,
  payee: PayeeKey,
  { cutoff, limit }: { cutoff: Date | undefined; limit: number },
): Promise<PayableCommission[]> {
  const first = await selectApproved(db, payee, cutoff)
    .select('id')
    .orderBy('occurredAt')
    .orderBy('id')
    .limit(limit)
    .execute();
  const ids = first.map(({ id }) => id);
  return (await lockPayable(db, payee.brandId, ids)).filter(({ status }) => status === 'approved');
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
 * Finds the creator of the order's commission if the order decides what is owed: the commission is approved or paid, or
 * may be again.
 */
export async function findOwedCreator(db: Db, { brandId, id }: OwnOrder): Promise<string | undefined> {
  const row = await db
    .selectFrom('commissions')
    .select('creatorId')
    .where('brandId', '=', brandId)
    .where('orderId', '=', id)
    .where((eb) => eb.or([eb('status', 'in', ['approved', 'paid']), eb('rejectedFrom', '=', 'approved')]))
    .executeTakeFirst();
  return row?.creatorId;
}

/** Locks the order's commission until the transaction ends, so that a review or payment comes before or after. */
export async function lockOrderCommission(db: Db, { brandId, id }: OwnOrder): Promise<CommissionRow | undefined> {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('orderId', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

/** Columns that hold JSON. */
type JsonColumn = 'fraudFlags' | 'decidedFacts' | 'room';

/** A row to insert, with JSON as values instead of text. */
export type NewCommission = Omit<Insertable<CommissionsTable>, JsonColumn> &
  Record<'fraudFlags', unknown> &
  Partial<Record<JsonColumn, unknown>>;

/** Inserts and reads with the facts in one statement, in which `commissions` means the inserted rows. */
function insertWithFacts(db: Db, rows: readonly NewCommission[]) {
  const insert = sql<CommissionRow>`(${toInsert('commissions', rows)} returning *)`;
  return withFacts(db.with('commissions', () => insert));
}

export const insertCommission = async (db: Db, row: NewCommission): Promise<CommissionFacts> =>
  await insertWithFacts(db, [row]).executeTakeFirstOrThrow();

/** Unordered. */
export const insertCommissions = async (db: Db, rows: readonly NewCommission[]): Promise<CommissionFacts[]> =>
  await insertWithFacts(db, rows).execute();

export async function updateCommission(
  db: Db,
  { brandId, id }: Pick<CommissionRow, 'brandId' | 'id'>,
  change: Updateable<CommissionsTable>,
): Promise<void> {
  await db.updateTable('commissions').set(change).where('brandId', '=', brandId).where('id', '=', id).execute();
}

export async function findOrderCommission(db: Db, { brandId, id }: OwnOrder) {
  return await db
    .selectFrom('commissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('orderId', '=', id)
    .executeTakeFirst();
}
