import { sql, type Transaction } from 'kysely';
import { z } from 'zod';
import type { Database } from '../../engines/postgres/database.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { transact } from '../../engines/postgres/transaction.ts';
import { DAY_MS } from '../../values/duration.ts';
import { readBase62, timeText } from '../../values/ids.ts';

type Trx = Transaction<Database>;

/** Statements that need a lock of the whole ledger give up soon, because every charge and balance waits behind them. */
const LOCK_MS = 2_000;

const REST = 'credit_entries_rest';
const LATER = 'credit_entries_later';
const ONLY_REST = 'credit_entries_rest_ids';
/** After every id that begins with `chg_`. */
const END = 'chg`';

const idFrom = (at: Date) => `chg_${timeText(at.getTime())}`;

/** The start of the UTC month `2027-01`, or of one that comes `later` months after it. */
function monthStart(month: string, later = 0): Date {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + later));
}

const toMonth = (at: Date): string => at.toISOString().slice(0, 7);

const toTableName = (month: string): string => `credit_entries_${month.replace('-', '_')}`;

/** The months that have a partition, oldest first. */
export async function listMonths(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'credit_entries'::regclass order by relname`.execute(db);
  return rows.flatMap(({ name }) => {
    const [, year, number] = /^credit_entries_(\d{4})_(\d{2})$/.exec(name) ?? [];
    return year === undefined ? [] : [`${year}-${number}`];
  });
}

const timeIn = (text: string | undefined): Date | undefined => {
  const [, time] = /'chg_([0-9A-Za-z]{8})'/.exec(text ?? '') ?? [];
  return time === undefined ? undefined : new Date(readBase62(time));
};

/** The time from which ids are partitioned by month; undefined until it is decided. */
async function findBeginning(db: Db): Promise<Date | undefined> {
  const { rows } = await sql<{ text: string }>`
    select pg_get_constraintdef(oid) as text from pg_constraint
    where conrelid = ${REST}::regclass and conname = ${ONLY_REST}`.execute(db);
  return timeIn(rows[0]?.text);
}

/** The time at which the last, open-ended partition starts; undefined if it does not exist yet. */
async function findLater(db: Db): Promise<Date | undefined> {
  const { rows } = await sql<{ text: string }>`
    select pg_get_expr(relpartbound, oid) as text from pg_class where oid = to_regclass(${LATER})`.execute(db);
  return timeIn(rows[0]?.text);
}

async function lockEntries(trx: Trx): Promise<void> {
  await sql`select set_config('lock_timeout', ${`${LOCK_MS}ms`}, true)`.execute(trx);
  await sql`lock table only credit_entries in access exclusive mode`.execute(trx);
}

/** Stops the default partition from taking ids from that time on. */
async function limitRest(trx: Trx, from: Date): Promise<void> {
  await lockEntries(trx);
  await sql`alter table ${sql.table(REST)} add constraint ${sql.id(ONLY_REST)}
    check (charge_id < ${sql.lit(idFrom(from))} or charge_id >= ${sql.lit(END)}) not valid`.execute(trx);
}

/** Reads the whole default partition once, and blocks neither reads nor writes. Without this, a new partition would read it. */
async function validateRest(trx: Trx): Promise<void> {
  await sql`select set_config('statement_timeout', '0', true)`.execute(trx);
  await sql`alter table ${sql.table(REST)} validate constraint ${sql.id(ONLY_REST)}`.execute(trx);
}

async function unlimitRest(trx: Trx): Promise<void> {
  await lockEntries(trx);
  await sql`alter table ${sql.table(REST)} drop constraint ${sql.id(ONLY_REST)}`.execute(trx);
}

async function makeLater(trx: Trx, from: Date): Promise<void> {
  await lockEntries(trx);
  await sql`create table if not exists ${sql.table(LATER)} partition of credit_entries
    for values from (${sql.lit(idFrom(from))}) to (${sql.lit(END)})`.execute(trx);
}

/** Splits the first month off the last partition, with its entries, if there are any yet. */
async function splitLater(trx: Trx): Promise<string> {
  await lockEntries(trx);
  const from = await findLater(trx);
  if (from === undefined) throw new Error(`${LATER} does not exist.`);
  const month = toMonth(from);
  const until = sql.lit(idFrom(monthStart(month, 1)));
  await sql`alter table credit_entries detach partition ${sql.table(LATER)}`.execute(trx);
  await sql`create table ${sql.table(toTableName(month))} partition of credit_entries
    for values from (${sql.lit(idFrom(from))}) to (${until})`.execute(trx);
  await sql`with moved as (delete from ${sql.table(LATER)} where charge_id < ${until} returning *)
    insert into credit_entries select * from moved`.execute(trx);
  await sql`alter table credit_entries attach partition ${sql.table(LATER)}
    for values from (${until}) to (${sql.lit(END)})`.execute(trx);
  return month;
}

const utc = (column: string) => sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * A month's sums, by subscription and billing month, from a table with its entries. An entry's hash covers its columns
 * joined by `|`, so that anyone with a copy of the entries can recompute it.
 */
const sumCharges = (table: string) => sql`
  select subscription.brand_id, entry.subscription_id, entry.period_start, count(*) as entries,
    coalesce(sum(entry.credits) filter (where entry.kind = 'charge'), 0)::bigint as charged,
    coalesce(sum(entry.credits) filter (where entry.kind = 'refund' and charge.charge_id is not null), 0)::bigint as refunded,
    sha256(string_agg(sha256(convert_to(concat_ws('|', entry.charge_id, entry.kind, entry.subscription_id,
      coalesce(entry.key_id, ''), entry.credits, ${utc('entry.period_start')}, coalesce(entry.request_id, ''),
      ${utc('entry.occurred_at')}), 'UTF8')), ''::bytea order by entry.charge_id, entry.kind)) as sha256
  from ${sql.table(table)} entry
  join subscriptions subscription on subscription.id = entry.subscription_id
  left join ${sql.table(table)} charge on charge.charge_id = entry.charge_id and charge.kind = 'charge'
  group by subscription.brand_id, entry.subscription_id, entry.period_start`;

/** The number, totals and hash of a month's sums. */
const sumTotal = (sums: string) => sql`
  select coalesce(sum(entries), 0)::bigint as entries, coalesce(sum(charged), 0)::bigint as charged,
    coalesce(sum(refunded), 0)::bigint as refunded,
    sha256(coalesce(string_agg(sha256(convert_to(concat_ws('|', brand_id, subscription_id, ${utc('period_start')}, entries,
      charged, refunded), 'UTF8') || sha256), ''::bytea order by subscription_id, period_start), ''::bytea)) as sha256
  from ${sql.table(sums)}`;

const Total = z.object({
  entries: z.coerce.number().int(),
  charged: z.coerce.number().int(),
  refunded: z.coerce.number().int(),
  sha256: z.instanceof(Buffer).transform((bytes) => bytes.toString('hex')),
});
const SummedMonth = Total.extend({ month: z.string(), emptiedAt: z.date().nullable() });
export type SummedMonth = z.infer<typeof SummedMonth>;

/** The months that were summed, oldest first. */
async function listSummed(db: Db): Promise<SummedMonth[]> {
  const { rows } = await sql`select * from credit_months order by month`.execute(db);
  return z.array(SummedMonth).parse(rows);
}

/** Sums a month once. */
async function insertSums(trx: Trx, month: string, now: Date): Promise<void> {
  await sql`select set_config('statement_timeout', '0', true)`.execute(trx);
  await sql`lock table ${sql.table(toTableName(month))} in share row exclusive mode`.execute(trx);
  await sql`
    with sums as (${sumCharges(toTableName(month))}), noted as (
      insert into credit_months (month, entries, charged, refunded, sha256, summed_at)
      select ${month}::text, total.*, ${now}::timestamptz from (${sumTotal('sums')}) total
      on conflict (month) do nothing returning month)
    insert into credit_sums (month, brand_id, subscription_id, period_start, entries, charged, refunded, sha256)
    select noted.month, sums.* from noted, sums`.execute(trx);
}

/** A month's totals and hash, from its sums or from a table with its entries. */
async function getTotals(db: Db, from: { month: string } | { table: string }): Promise<z.infer<typeof Total>> {
  const source =
    'table' in from ? sumCharges(from.table) : sql`select * from credit_sums where credit_sums.month = ${from.month}`;
  const { rows } = await sql`with sums as (${source}) ${sumTotal('sums')}`.execute(db);
  return Total.parse(rows[0]);
}

/** Brands whose sums differ from the entries of a table. */
async function listDiffering(db: Db, month: string, table: string): Promise<string[]> {
  const columns = sql`brand_id, subscription_id, period_start, entries, charged, refunded, sha256`;
  const { rows } = await sql<{ brandId: string }>`
    with found as (${sumCharges(table)}), kept as (select ${columns} from credit_sums where credit_sums.month = ${month})
    select distinct brand_id from (
      (select ${columns} from found except select ${columns} from kept) union all
      (select ${columns} from kept except select ${columns} from found)) differing order by brand_id`.execute(db);
  return rows.map(({ brandId }) => brandId);
}

/** Removes a month's entries; its sums count instead. The partition stays, so that late entries are ignored. */
async function emptyMonth(trx: Trx, month: string, now: Date): Promise<void> {
  await sql`select set_config('lock_timeout', ${`${LOCK_MS}ms`}, true)`.execute(trx);
  const table = sql.table(toTableName(month));
  await sql`truncate ${table}`.execute(trx);
  await sql`create or replace trigger emptied before insert on ${table} for each row
    execute function ignore_emptied_credits()`.execute(trx);
  await sql`update credit_months set emptied_at = coalesce(emptied_at, ${now}) where month = ${month}`.execute(trx);
}

/** Ids must not fall into the first month before it has its partition. */
const NOTICE_MS = 7 * DAY_MS;
/** By then, every billing month that touches a calendar month has been over for at least a month. */
const OPEN_MS = 62 * DAY_MS;

/** Ends the default partition at a future month, and creates the partition for later ids. */
async function begin(db: Db, now: Date): Promise<void> {
  const decidedStart = await findBeginning(db);
  const first = decidedStart ?? monthStart(toMonth(new Date(now.getTime() + NOTICE_MS)), 1);
  if (decidedStart === undefined) await transact(db, (trx) => limitRest(trx, first));
  try {
    await transact(db, validateRest);
  } catch (error) {
    // Clocks were ahead. The next run decides again; until then the default partition takes everything.
    await transact(db, unlimitRest);
    throw error;
  }
  await transact(db, (trx) => makeLater(trx, first));
}

/** Creates the partitions of credits up to next month's, and returns the new months. */
export async function makeMonths(db: Db, now: Date): Promise<string[]> {
  if ((await findLater(db)) === undefined) await begin(db, now);
  const end = monthStart(toMonth(now), 2);
  const createdMonths: string[] = [];
  for (;;) {
    const later = await findLater(db);
    if (later === undefined || later >= end) return createdMonths;
    createdMonths.push(await transact(db, splitLater));
  }
}

async function assertMonth(db: Db, month: string, now: Date): Promise<void> {
  const months = await listMonths(db);
  if (!months.includes(month)) {
    throw new Error(`${month} has no partition. These have: ${months.join(', ') || 'none yet'}.`);
  }
  const from = new Date(monthStart(month, 1).getTime() + OPEN_MS);
  if (now < from)
    throw new Error(
      `${month} can be summed from ${from.toISOString().slice(0, 10)} on, when no billing month uses it.`,
    );
}

async function getSummed(db: Db, month: string): Promise<SummedMonth> {
  const summedMonth = (await listSummed(db)).find((one) => one.month === month);
  if (!summedMonth) throw new Error(`${month} has not been summed.`);
  return summedMonth;
}

/** Errors in a month's sums: in the sums themselves, and against its entries if they still exist. */
async function findProblems(db: Db, summed: SummedMonth, copy: string | undefined): Promise<string[]> {
  const { month, emptiedAt, sha256, entries, charged, refunded } = summed;
  const own = await getTotals(db, { month });
  const isWhole =
    own.sha256 === sha256 && own.entries === entries && own.charged === charged && own.refunded === refunded;
  const inTable = await getTotals(db, { table: toTableName(month) });
  const isEmpty = emptiedAt === null || inTable.entries === 0;
  const entriesIn = copy ?? (emptiedAt === null ? toTableName(month) : undefined);
  const differing = entriesIn === undefined ? [] : await listDiffering(db, month, entriesIn);
  return [
    ...(isWhole ? [] : [`The sums have the hash ${own.sha256}, and the month ${sha256}.`]),
    ...(isEmpty ? [] : [`The entries were removed, and ${inTable.entries} are there.`]),
    ...differing.map((brandId) => `The sums of ${brandId} differ from the entries in ${entriesIn}.`),
  ];
}

/**
 * Sums a month that no billing month uses any more. With `isEmptied` its entries are removed in the same transaction, if they
 * still agree with the sums.
 */
export async function sumMonth(db: Db, now: Date, month: string, { isEmptied }: { isEmptied: boolean }) {
  await assertMonth(db, month, now);
  return await transact(db, async (trx) => {
    await insertSums(trx, month, now);
    const summedMonth = await getSummed(trx, month);
    const problems = await findProblems(trx, summedMonth, undefined);
    if (problems.length > 0) throw new Error(`${month} was summed before. ${problems.join(' ')}`);
    if (isEmptied) await emptyMonth(trx, month, now);
    return await getSummed(trx, month);
  });
}

/** Every summed month with its errors; with `copy`, one month compared with the table that holds its restored entries. */
export async function verifyMonths(db: Db, copy?: { month: string; table: string }) {
  const months = copy ? [await getSummed(db, copy.month)] : await listSummed(db);
  const verifiedMonths = [];
  for (const summedMonth of months)
    verifiedMonths.push({ ...summedMonth, problems: await findProblems(db, summedMonth, copy?.table) });
  return verifiedMonths;
}
