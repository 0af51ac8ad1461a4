import { type Expression, type SqlBool, sql } from 'kysely';
import { z } from 'zod';
import type { AccountSum } from '../../analytics/figures/rollups.ts';
import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import { inBatches } from '../../kit/engines/postgres/batches.ts';
import type { Db, Exports } from '../../kit/engines/postgres/open.ts';
import { ACCOUNTS, StoredPostings } from '../../kit/outbox/ledger-entry.ts';
import { selectNumbers } from '../../kit/outbox/outbox.ts';
import type { Page } from '../../kit/values/page.ts';
import type { LedgerFilter } from './ledger.shapes.ts';

/** The filter of a request at a settled time: entries recorded before `until`. */
export type LedgerSelection = Pick<LedgerFilter, 'creator_email' | 'currency'> & { until: Date };

function matches(brandId: string, { until, creator_email: email, currency }: LedgerSelection): Expression<SqlBool> {
  const isCreator = sql`entry.creator_id in
    (select id from creators where brand_id = ${brandId} and lower(email) = lower(${email ?? ''}))`;
  return sql<boolean>`entry.recorded_at < ${until}
    and ${email === undefined ? sql`true` : isCreator}
    and ${currency === undefined ? sql`true` : sql`entry.currency = ${currency}`}`;
}

const filterEntries = (db: Db, brandId: string, where: LedgerSelection) =>
  db.selectFrom('ledgerEntries as entry').where('entry.brandId', '=', brandId).where(matches(brandId, where));

const selectEntries = (db: Db, brandId: string, where: LedgerSelection) =>
  filterEntries(db, brandId, where)
    .innerJoin('creators', 'creators.id', 'entry.creatorId')
    .leftJoin('orders', 'orders.id', 'entry.orderId')
    .selectAll('entry')
    .select(['creators.email as creatorEmail', 'orders.orderId as storeOrderId', 'orders.orderNumber'])
    .orderBy('entry.seq', 'desc');

export type ListedEntry = Awaited<ReturnType<typeof listEntries>>['rows'][number];

/** Does not use the list kit: entries are ordered by their numbers in the chain, not by a time. */
export async function listEntries(db: Db, brandId: string, where: LedgerSelection, page: Page) {
  const { total } = await filterEntries(db, brandId, where)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await selectEntries(db, brandId, where).offset(page.offset).limit(page.limit).execute();
  return { rows, total };
}

export function eachEntry(exports: Exports, brandId: string, where: LedgerSelection) {
  return inBatches<ListedEntry>(exports, brandId, (trx, last, limit) =>
    selectEntries(trx, brandId, where)
      .$if(last !== undefined, (query) => query.where('entry.seq', '<', last?.seq ?? 0))
      .limit(limit)
      .execute(),
  );
}

const Balances = z.array(z.object({ account: z.enum(ACCOUNTS), currency: z.string(), balanceMinor: z.number().int() }));

/** Sums all matching postings by account and currency. */
export async function listAccountBalances(db: Db, brandId: string, where: LedgerSelection) {
  const rows = await filterEntries(db, brandId, where)
    .innerJoin(sql<{ value: unknown }>`jsonb_array_elements(entry.postings)`.as('posting'), (join) => join.onTrue())
    .select([
      sql<string>`posting.value ->> 'account'`.as('account'),
      'entry.currency',
      sql<number>`sum((posting.value ->> 'amount_minor')::bigint)`.as('balanceMinor'),
    ])
    .groupBy(['entry.currency', sql`posting.value ->> 'account'`])
    .orderBy('entry.currency')
    .orderBy('account')
    .execute();
  return Balances.parse(rows);
}

/** The range of times that ClickHouse can store; a posting's time is clamped to it. */
const [FIRST, LAST] = [-8.64e15, 8.64e15].map((ms) => tsvTime(new Date(ms)));

/** All facts of a posting that figures depend on, as one text; analytics/figures/rollups.ts builds the same text. */
const POSTING = sql`entry.seq || '|' || posting.line - 1 || '|' || entry.kind || '|' || posting.account || '|'
  || posting.amount_minor || '|' || entry.currency || '|' || coalesce(entry.link_id, '') || '|' || entry.creator_id || '|'
  || least(greatest(translate(posting.at, 'TZ', ' ') collate "C", ${FIRST}), ${LAST})`;

const POSTINGS = sql<{ account: string }>`rows from
  (jsonb_to_recordset(entry.postings) as (account text, amount_minor bigint, at text)) with ordinality`;

/** Sums the entries in PostgreSQL up to `position`, except for the ranges of `skipped`. */
export async function listAccountSums(
  db: Db,
  brandId: string,
  position: number,
  skipped: readonly { from: number; to: number }[],
): Promise<AccountSum[]> {
  let entries = db
    .selectFrom('ledgerEntries as entry')
    .where('entry.brandId', '=', brandId)
    .where('seq', '<=', position);
  for (const { from, to } of skipped) {
    entries = entries.where(({ not, between }) => not(between('entry.seq', from, to)));
  }
  return await entries
    .crossJoin(POSTINGS.as<'posting'>(sql`posting(account, amount_minor, at, line)`))
    .select(({ fn }) => [
      'posting.account',
      'entry.currency',
      sql<string>`sum(posting.amount_minor)::text`.as('amount'),
      fn.countAll<number>().as('postings'),
      sql<string>`sum(('x' || substr(md5(${POSTING}), 1, 8))::bit(32)::bigint)::text`.as('fingerprint'),
    ])
    .groupBy(['entry.currency', 'posting.account'])
    .execute();
}

/** The store and the click of a sale as one text; analytics/figures/orders.ts builds the same text. */
const SALE_FACTS = sql`entry.seq || '|' || coalesce(orders.integration_id, '') || '|' || coalesce(commissions.source, '') || '|'
  || coalesce(commissions.click_id, '')`;

/** Counts the sales of links up to `position`, except for the ranges of `skipped`, and sums the hashes of their facts. */
export async function findSaleFacts(
  db: Db,
  brandId: string,
  position: number,
  skipped: readonly { from: number; to: number }[],
): Promise<{ sales: number; fingerprint: string }> {
  let entries = db
    .selectFrom('ledgerEntries as entry')
    .leftJoin('commissions', 'commissions.id', 'entry.commissionId')
    .leftJoin('orders', 'orders.id', 'commissions.orderId')
    .where('entry.brandId', '=', brandId)
    .where('entry.kind', '=', 'sale')
    .where('entry.linkId', 'is not', null)
    .where('entry.seq', '<=', position);
  for (const { from, to } of skipped) {
    entries = entries.where(({ not, between }) => not(between('entry.seq', from, to)));
  }
  return await entries
    .select(({ fn }) => [
      fn.countAll<number>().as('sales'),
      sql<string>`coalesce(sum(('x' || substr(md5(${SALE_FACTS}), 1, 8))::bit(32)::bigint), 0)::text`.as('fingerprint'),
    ])
    .executeTakeFirstOrThrow();
}

export interface ChainHead {
  seq: number;
  hash: Buffer | null;
}

export async function findHead(db: Db, brandId: string): Promise<ChainHead> {
  const row = await selectNumbers(db, brandId).select(['ledgerSeq as seq', 'ledgerHash as hash']).executeTakeFirst();
  return row ?? { seq: 0, hash: null };
}

export async function listChain(db: Db, brandId: string, after: number, limit: number) {
  const rows = await db
    .selectFrom('ledgerEntries')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, postings: StoredPostings.safeParse(row.postings) }));
}

/** Lists brands with a ledger or seals, or with entries although their head has none. */
export async function listLedgerBrands(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('outboxNumbers')
    .select('brandId')
    .where((eb) => eb.or([eb('ledgerSeq', '>', 0), eb('sealSeq', '>', 0)]))
    .union(db.selectFrom('ledgerEntries').select('brandId').distinct())
    .orderBy('brandId')
    .execute();
  return rows.map(({ brandId }) => brandId);
}

/** Runs several reads on one snapshot. */
export async function inSnapshot<T>(db: Db, read: (snapshot: Db) => Promise<T>): Promise<T> {
  return await db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read);
}

export async function listBrandIds(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('brands').select('id').orderBy('id').execute();
  return rows.map(({ id }) => id);
}
