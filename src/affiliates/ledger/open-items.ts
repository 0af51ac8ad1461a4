import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { matchesCreator } from '../../workflow/creators/creators.ts';
import type { LedgerSelection } from './ledger.ts';

export const ITEM_TYPES = ['pending', 'approved', 'owed_back', 'unallocated'] as const;

const Item = z.object({
  type: z.enum(ITEM_TYPES),
  creatorId: z.string(),
  creatorEmail: z.string().nullable(),
  creatorName: z.string().nullable(),
  currency: z.string(),
  amountMinor: z.number().int(),
  since: z.date(),
  commissionId: z.string().nullable(),
  payoutId: z.string().nullable(),
  orderId: z.string().nullable(),
  orderNumber: z.string().nullable(),
  total: z.number().int(),
});
export type OpenItem = z.output<typeof Item>;

/**
 * The open items in the ledger: each commission that is owed, each payout's rest, and what is owed back, which is netted
 * as one sum. Postings count when they were recorded, so that the items add up to the balances of the ledger at that time.
 */
const selectItems = (brandId: string, { until, creator_email, currency }: LedgerSelection) => sql`
  select case posting.account when 'commission_pending' then 'pending' when 'commission_approved' then 'approved'
      when 'unallocated' then 'unallocated' else 'owed_back' end as type,
    entry.creator_id, entry.currency,
    case when posting.account in ('commission_pending', 'commission_approved') then entry.commission_id end as commission_id,
    case when posting.account = 'unallocated' then entry.payout_id end as payout_id,
    (-sum(posting.amount_minor))::bigint as amount_minor, min(posting.at collate "C")::timestamptz as since
  from ledger_entries as entry
  cross join lateral jsonb_to_recordset(entry.postings) as posting (account text, amount_minor bigint, at text)
  where entry.brand_id = ${brandId} and entry.recorded_at < ${until}
    and posting.account in
      ('commission_pending', 'commission_approved', 'refund_adjustment', 'adjustments_netted', 'unallocated')
    and (${currency ?? null}::text is null or entry.currency = ${currency ?? null})
    and ${matchesCreator('entry.creatorId', brandId, creator_email)}
  group by 1, 2, 3, 4, 5 having sum(posting.amount_minor) <> 0`;

/** Lists open items by creator, oldest first; without a limit all of them. */
export async function listOpenItems(
  db: Db,
  brandId: string,
  where: LedgerSelection,
  { limit, offset }: { limit: number | null; offset: number },
): Promise<{ rows: OpenItem[]; total: number }> {
  const { rows } = await sql`
    select item.*, creator.email as creator_email, creator.name as creator_name, orders.order_id, orders.order_number,
      count(*) over () as total
    from (${selectItems(brandId, where)}) as item
    join creators as creator on creator.id = item.creator_id
    left join commissions as commission on commission.id = item.commission_id
    left join orders on orders.id = commission.order_id
    order by lower(creator.email), item.creator_id, item.currency, item.since, item.type,
      coalesce(item.commission_id, item.payout_id)
    limit ${limit} offset ${offset}`.execute(db);
  const items = z.array(Item).parse(rows);
  return { rows: items, total: items[0]?.total ?? 0 };
}

const Sums = z.array(
  z.object({ currency: z.string(), type: z.enum(ITEM_TYPES), amountMinor: z.number().int(), items: z.number().int() }),
);

/** Sums the open items by currency and type. */
export async function sumOpenItems(db: Db, brandId: string, where: LedgerSelection) {
  const { rows } = await sql`
    select currency, type, sum(amount_minor)::bigint as amount_minor, count(*) as items
    from (${selectItems(brandId, where)}) as item
    group by currency, type order by currency`.execute(db);
  return Sums.parse(rows);
}
