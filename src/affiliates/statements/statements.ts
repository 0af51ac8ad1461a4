import { sql } from 'kysely';
import { toPeriod } from '../../analytics/figures/sums.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import type { Work } from '../../kit/operation/work.ts';
import { validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { matchesCreator } from '../../workflow/creators/creators.ts';
import { showCreator } from '../../workflow/creators/renamed.ts';
import type { OrderKind } from '../../workflow/terms/terms.shapes.ts';
import type { CommissionStatus } from '../commissions/commissions.ts';
import { findHead } from '../ledger/ledger.ts';
import { findPayee } from '../payouts/payouts.ts';
import { type StatementCreate, type StatementFilter, sumTotals } from './statements.shapes.ts';

const LINK_LIVES_MS = 90 * 24 * 60 * 60 * 1_000;

interface StatementDelivery {
  row: StatementFacts;
  expiresAt: Date;
  isMailed: boolean;
}

/** Creates a statement for the creator with an address, from the current ledger. */
export async function createStatement(work: Work, input: StatementCreate): Promise<StatementDelivery> {
  const { db, brandId } = work;
  const { creator_email: email } = input;
  const creatorId = await findPayee(db, brandId, email);
  if (creatorId === undefined) {
    const message = `${email} is not on the roster.`;
    throw validationError([{ field: 'creator_email', code: 'not_on_roster', message }]);
  }
  return await recordStatement(work, input, await sumUp(work, creatorId, input, await findHead(db, brandId)));
}

type Head = Awaited<ReturnType<typeof findHead>>;

type Asked = Omit<StatementCreate, 'creator_email'>;

/** What a statement of a creator would say, from the ledger up to an entry. */
export async function sumUp({ db, brandId }: Work, creatorId: string, asked: Asked, { seq, hash }: Head) {
  const timeZone = asked.time_zone ?? (await getTimeZone(db, brandId));
  const { from: fromAt, until: untilAt } = toPeriod(asked, timeZone);
  const period = { brandId, creatorId, fromAt, untilAt, ledgerSeq: seq };
  return { row: { ...period, timeZone, ledgerHash: hash }, sums: await sumStatement(db, period) };
}

/** Records a statement, and mails its link if that is asked for. */
export async function recordStatement(
  work: Work,
  { from, to, send_email }: Asked,
  { row: facts, sums }: Awaited<ReturnType<typeof sumUp>>,
): Promise<StatementDelivery> {
  const { db, now, brandId } = work;
  const { creatorId, ledgerHash } = facts;
  const id = newId('stm', now.getTime());
  const totals = JSON.stringify(sumTotals(sums));
  await db
    .insertInto('statements')
    .values({ ...facts, id, fromText: from, toText: to, totals, createdAt: now })
    .execute();
  const row = await getStatement(db, brandId, id);
  work.audit({ resourceId: id, old: null, new: { ...row, ledgerHash: ledgerHash?.toString('hex') ?? null } });
  const expiresAt = getLinkEnd(row);
  const { linkVersion, creatorEmail } = row;
  if (!send_email || creatorEmail === null) return { row, expiresAt, isMailed: false };
  const params = { statement_id: id, link_version: linkVersion, from, to, expires_at: expiresAt.toISOString() };
  const state = await queueMail(work, { kind: 'statement_ready', to: creatorEmail, subjectRow: id, creatorId, params });
  return { row, expiresAt, isMailed: state === 'queued' };
}

/** The end of the link that a statement was created with. */
export const getLinkEnd = ({ createdAt }: { createdAt: Date }): Date => new Date(createdAt.getTime() + LINK_LIVES_MS);

/** The balance of a statement in one currency, in minor units. */
export interface StatementTotal {
  currency: string;
  openingMinor: number;
  commissionMinor: number;
  takenBackMinor: number;
  paidOutMinor: number;
}

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'statements.totals': StatementTotal[];
  }
}

const withCreator = (db: Db) =>
  db
    .selectFrom('statements')
    .innerJoin('creators', 'creators.id', 'statements.creatorId')
    .selectAll('statements')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName']);

export type StatementFacts = Awaited<ReturnType<typeof getStatement>>;

export const statements = listing({
  noun: 'statement',
  table: 'statements',
  time: 'createdAt',
  changed: ['createdAt'],
  shown: [
    showCreator('statements'),
    (brandId, after) => sql`select statement_id from disputes
      where brand_id = ${brandId} and greatest(created_at, updated_at, answered_at) > ${after}`,
  ],
  matching: (db, brandId, { creator_email, covers, disputed }: Omit<StatementFilter, keyof Page>) =>
    db
      .selectFrom('statements')
      .where(matchesCreator('statements.creatorId', brandId, creator_email))
      .where((eb) => {
        const openDispute = eb
          .selectFrom('disputes')
          .select('disputes.id')
          .whereRef('disputes.statementId', '=', 'statements.id')
          .where('disputes.brandId', '=', brandId)
          .where('disputes.status', '=', 'open');
        return eb.and([
          ...(covers === undefined
            ? []
            : [sql<boolean>`${covers} between left(statements.from_text, 10) and left(statements.to_text, 10)`]),
          ...(disputed === undefined ? [] : [disputed ? eb.exists(openDispute) : eb.not(eb.exists(openDispute))]),
        ]);
      }),
  rows: withCreator,
});
export const { get: getStatement } = statements;

/** Found by id alone, because a visitor with the link has no brand. */
export async function findStatementPage(db: Db, id: string): Promise<StatementFacts | undefined> {
  return await withCreator(db).where('statements.id', '=', id).executeTakeFirst();
}

/** The part of one commission or payout in a statement, computed from the ledger alone, in minor units. */
export interface StatementSums {
  commissionId: string | null;
  payoutId: string | null;
  currency: string;
  /** Commission earned before the period and not paid out by then. */
  openingMinor: number;
  saleMinor: number;
  refundedMinor: number;
  commissionMinor: number;
  takenBackMinor: number;
  paidMinor: number;
  feeMinor: number;
  status: CommissionStatus;
  at: Date | null;
  storeOrderId: string | null;
  orderNumber: string | null;
  /** Null for a payout, and for a commission without an order. */
  orderKind: OrderKind | null;
  /** The end of the review period as it is now; null for a payout, and for an order that is not paid. */
  holdEndsAt: Date | null;
  customerEmail: string | null;
  code: string | null;
  reference: string | null;
  /** The money of the payout came back. */
  isReturn: boolean;
  /** Why a payout came back or a commission was clawed back. */
  reason: string | null;
}

type StatementPeriod = Pick<StatementFacts, 'brandId' | 'creatorId' | 'fromAt' | 'untilAt' | 'ledgerSeq'>;

/** Sums every commission and payout of the creator in the ledger, up to the end of the period. */
export async function sumStatement(db: Db, period: StatementPeriod): Promise<StatementSums[]> {
  const { brandId, creatorId, fromAt, untilAt, ledgerSeq } = period;
  const sumAccounts = (
    accounts: readonly string[],
    isBefore: boolean | undefined,
  ) => sql`coalesce(sum(posting.amount_minor)
    filter (where posting.account = any(${accounts}::text[])
      and (${isBefore === undefined} or (posting.at collate "C" < ${fromAt.toISOString()}) = ${isBefore ?? true})), 0)`;
  const owedAccounts = ['commission_pending', 'commission_approved', 'commission_paid'];
  const { rows } = await sql<StatementSums>`
    with sums as (
      select entry.commission_id, case when entry.commission_id is null then entry.payout_id end as payout_id,
        entry.currency, entry.kind = 'return' and entry.commission_id is null as is_return, max(entry.order_id) as own_order_id,
        (-${sumAccounts([...owedAccounts, 'refund_adjustment'], true)} + ${sumAccounts(['cash', 'fees'], true)})::bigint as opening_minor,
        (-${sumAccounts(['sales'], false)})::bigint as sale_minor,
        (${sumAccounts(['sales_refunds'], false)})::bigint as refunded_minor,
        (-${sumAccounts(owedAccounts, false)})::bigint as commission_minor,
        (${sumAccounts(['refund_adjustment'], false)})::bigint as taken_back_minor,
        (-${sumAccounts(['cash'], false)})::bigint as paid_minor,
        (${sumAccounts(['fees'], false)})::bigint as fee_minor,
        case when ${sumAccounts(['commission_paid'], undefined)} <> 0 then 'paid'
          when ${sumAccounts(['commission_approved'], undefined)} <> 0 then 'approved'
          when ${sumAccounts(['commission_pending'], undefined)} <> 0 then 'pending' else 'rejected' end as status,
        min(posting.at) filter (where posting.account in ('cash', 'commission_expense', 'sales'))::timestamptz as at
      from ledger_entries as entry
      cross join lateral jsonb_to_recordset(entry.postings) as posting (account text, amount_minor bigint, at text)
      where entry.brand_id = ${brandId} and entry.creator_id = ${creatorId} and entry.seq <= ${ledgerSeq}
        and posting.at collate "C" < ${untilAt.toISOString()}
      group by 1, 2, 3, 4
    )
    select sums.*, orders.order_id as store_order_id, orders.order_number, orders.customer_email,
      case when orders.id is not null then coalesce(orders.kind, case when orders.is_renewal then 'renewal' else 'once' end) end
        as order_kind, commission.hold_ends_at,
      coalesce(commission.discount_code, commission.affiliate_code) as code, payout.reference,
      case when is_return then payout.correction_reason when sums.taken_back_minor <> 0 then commission.claw_back_reason end as reason
    from sums
    left join orders on orders.id = sums.own_order_id
    left join commissions as commission on commission.id = sums.commission_id
    left join payouts as payout on payout.id = sums.payout_id
    order by sums.at, coalesce(sums.commission_id, sums.payout_id), is_return`.execute(db);
  return rows;
}
