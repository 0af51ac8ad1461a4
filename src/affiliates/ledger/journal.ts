import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { inBatches } from '../../kit/engines/postgres/batches.ts';
import type { Db, Exports } from '../../kit/engines/postgres/open.ts';
import { ACCOUNTS, LEDGER_KINDS } from '../../kit/outbox/ledger-entry.ts';
import type { Page } from '../../kit/values/page.ts';
import type { JournalFilter } from './ledger.api.ts';

/** The filter of a request with its window resolved; `until` is exclusive. */
type JournalSelection = Omit<JournalFilter, 'from' | 'to' | 'time_zone' | keyof Page> & { from: Date; until: Date };

const JournalRow = z.object({
  at: z.string(),
  seq: z.number().int(),
  line: z.number().int(),
  entryId: z.string(),
  kind: z.enum(LEDGER_KINDS),
  recordedAt: z.date(),
  account: z.enum(ACCOUNTS),
  currency: z.string(),
  amountMinor: z.number().int(),
  creatorEmail: z.string().nullable(),
  orderId: z.string().nullable(),
  orderNumber: z.string().nullable(),
  commissionId: z.string().nullable(),
  payoutId: z.string().nullable(),
  linkId: z.string().nullable(),
  reference: z.string().nullable(),
});
export type JournalRow = z.output<typeof JournalRow>;

type Key = Pick<JournalRow, 'at' | 'seq' | 'line'>;

/** Selects the window's postings. Their times are text in one format, so that they compare as text. */
function selectPostings(
  brandId: string,
  { from, until, by, account, currency }: JournalSelection,
): RawBuilder<unknown> {
  const inWindow =
    by === 'recorded'
      ? sql`entry.recorded_at >= ${from} and entry.recorded_at < ${until}`
      : sql`posting.at collate "C" >= ${from.toISOString()} and posting.at collate "C" < ${until.toISOString()}`;
  return sql`ledger_entries as entry cross join lateral rows from
      (jsonb_to_recordset(entry.postings) as (account text, amount_minor bigint, at text))
      with ordinality as posting(account, amount_minor, at, line)
    where entry.brand_id = ${brandId} and ${inWindow}
      and (${account ?? null}::text is null or posting.account = ${account ?? null})
      and (${currency ?? null}::text is null or entry.currency = ${currency ?? null})`;
}

interface Slice {
  offset?: number;
  limit: number;
  after?: Key | undefined;
}

/** Does not use the list kit: a row is a posting, which is part of an entry's row and has no id. */
export async function listJournal(
  db: Db,
  brandId: string,
  where: JournalSelection,
  { offset = 0, limit, after }: Slice,
): Promise<JournalRow[]> {
  const isAfter = after
    ? sql`(posting.at collate "C", entry.seq, posting.line) > (${after.at}, ${after.seq}, ${after.line})`
    : sql`true`;
  const { rows } = await sql`
    select posting.*, creator.email as creator_email, orders.order_id, orders.order_number, payout.reference
    from (
      select posting.at, entry.seq, posting.line, entry.id as entry_id, entry.kind, entry.recorded_at, posting.account,
        entry.currency, posting.amount_minor, entry.creator_id, entry.order_id as own_order_id, entry.commission_id,
        entry.payout_id, entry.link_id
      from ${selectPostings(brandId, where)} and ${isAfter}
      order by posting.at collate "C", entry.seq, posting.line offset ${offset} limit ${limit}
    ) as posting
    join creators as creator on creator.id = posting.creator_id
    left join orders on orders.id = posting.own_order_id
    left join payouts as payout on payout.id = posting.payout_id
    order by posting.at collate "C", posting.seq, posting.line`.execute(db);
  return z.array(JournalRow).parse(rows);
}

export function eachJournalRow(exports: Exports, brandId: string, where: JournalSelection) {
  return inBatches<JournalRow>(exports, brandId, (trx, after, limit) =>
    listJournal(trx, brandId, where, { limit, after }),
  );
}

const Sums = z.array(
  z.object({
    account: z.enum(ACCOUNTS),
    currency: z.string(),
    debitMinor: z.number().int(),
    creditMinor: z.number().int(),
    postings: z.number().int(),
  }),
);

/** Sums the window's turnover by account and currency. */
export async function sumJournal(db: Db, brandId: string, where: JournalSelection) {
  const { rows } = await sql`
    select posting.account, entry.currency, count(*)::bigint as postings,
      coalesce(sum(posting.amount_minor) filter (where posting.amount_minor > 0), 0)::bigint as debit_minor,
      coalesce(-sum(posting.amount_minor) filter (where posting.amount_minor < 0), 0)::bigint as credit_minor
    from ${selectPostings(brandId, where)}
    group by posting.account, entry.currency order by entry.currency, posting.account`.execute(db);
  return Sums.parse(rows);
}
