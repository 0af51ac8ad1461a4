import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { matchesCreator } from '../../workflow/creators/creators.ts';
import { computeTransfer } from './allocate.ts';

interface BalanceFilter {
  creatorIds?: readonly string[] | undefined;
  creator_email?: string | undefined;
  currency?: string | undefined;
  /** Only commissions of sales up to this time are paid. */
  cutoff?: Date | undefined;
}

/** A creator's balance in one currency, in minor units. */
export interface PayeeBalance {
  creatorId: string;
  creatorEmail: string | null;
  creatorName: string | null;
  currency: string;
  /** Commissions whose review period is over, and which wait for a review. */
  pendingMinor: number;
  heldMinor: number;
  unpaidOrdersMinor: number;
  approvedMinor: number;
  /** The part of the approved amount that the cutoff allows to be paid. */
  dueMinor: number;
  dueCount: number;
  /** Amount that refunds took back after payment and no payout has netted; negative if it is due again. */
  outstandingMinor: number;
  unallocatedMinor: number;
  /** Payouts that are recorded but not paid yet. */
  recordedMinor: number;
  earnedMinor: number;
}

/** Lists every creator with any money, one row per currency, ordered by email address. */
export async function listBalances(
  db: Db,
  brandId: string,
  { creatorIds, creator_email: email, currency, cutoff }: BalanceFilter,
  now: Date,
): Promise<PayeeBalance[]> {
  const own = sql`brand_id = ${brandId}
    and (${currency ?? null}::text is null or currency = ${currency ?? null})
    and (${creatorIds === undefined} or creator_id = any(${creatorIds ?? []}::text[]))
    and ${matchesCreator('creatorId', brandId, email)}`;
  const inTime = sql`(${cutoff ?? null}::timestamptz is null or occurred_at <= ${cutoff ?? null})`;
  const minor = (filter: ReturnType<typeof sql>) => sql`coalesce(sum(commission_minor) filter (where ${filter}), 0)`;
  const { rows } = await sql<PayeeBalance>`
    select part.creator_id, creator.email as creator_email, creator.name as creator_name, part.currency,
      sum(pending)::bigint as pending_minor, sum(held)::bigint as held_minor,
      sum(unpaid_orders)::bigint as unpaid_orders_minor, sum(approved)::bigint as approved_minor,
      sum(due)::bigint as due_minor, sum(due_count)::bigint as due_count,
      (sum(adjusted) - sum(netted))::bigint as outstanding_minor, sum(unallocated)::bigint as unallocated_minor,
      sum(recorded)::bigint as recorded_minor, (sum(paid) - sum(netted))::bigint as earned_minor
    from (
      select creator_id, currency,
        ${minor(sql`status = 'pending' and hold_ends_at <= ${now}`)} as pending,
        ${minor(sql`status = 'pending' and hold_ends_at > ${now}`)} as held,
        ${minor(sql`status = 'pending' and hold_ends_at is null`)} as unpaid_orders,
        ${minor(sql`status = 'approved'`)} as approved,
        ${minor(sql`status = 'approved' and ${inTime}`)} as due,
        count(*) filter (where status = 'approved' and ${inTime}) as due_count,
        ${minor(sql`status = 'paid'`)} as paid,
        0 as adjusted, 0 as netted, 0 as unallocated, 0 as recorded
      from commissions where ${own} group by creator_id, currency
      union all
      select creator_id, currency, 0, 0, 0, 0, 0, 0, 0, sum(amount_minor), 0, 0, 0
      from commission_adjustments where ${own} group by creator_id, currency
      union all
      select creator_id, currency, 0, 0, 0, 0, 0, 0, 0, 0, sum(netted_minor), sum(unallocated_minor),
        coalesce(sum(amount_minor) filter (where status = 'completed' and method <> 'wallet'), 0)
      from payouts where ${own} group by creator_id, currency
    ) as part
    join creators as creator on creator.id = part.creator_id
    group by part.creator_id, creator.email, creator.name, part.currency
    order by lower(creator.email), part.creator_id, part.currency`.execute(db);
  return rows;
}

/** The amount that pays everything due to a creator in a currency. */
export const computeTotalDue = ({ dueMinor, outstandingMinor, unallocatedMinor }: PayeeBalance): number =>
  computeTransfer(dueMinor, [{ id: '', leftMinor: unallocatedMinor }], outstandingMinor);

/** Something is due if approved commissions are unpaid, or if a netted refund is due again. */
export const isDue = (balance: PayeeBalance): boolean => balance.dueCount > 0 || computeTotalDue(balance) > 0;

export function toBalance(balance: PayeeBalance) {
  const { currency, approvedMinor, outstandingMinor, unallocatedMinor } = balance;
  const payableMinor = computeTransfer(approvedMinor, [{ id: '', leftMinor: unallocatedMinor }], outstandingMinor);
  return {
    currency,
    pending: fromMinor(balance.pendingMinor, currency),
    held: fromMinor(balance.heldMinor, currency),
    order_unpaid: fromMinor(balance.unpaidOrdersMinor, currency),
    approved: fromMinor(approvedMinor, currency),
    owed_back: fromMinor(outstandingMinor, currency),
    unallocated: fromMinor(unallocatedMinor, currency),
    payable_now: fromMinor(payableMinor, currency),
    recorded: fromMinor(balance.recordedMinor, currency),
    earned: fromMinor(balance.earnedMinor, currency),
  };
}
