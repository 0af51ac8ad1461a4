import { setTimeout as pause } from 'node:timers/promises';
import {
  findUnsentSeals,
  listChangedCustomers,
  listLinePages,
  sumPageLines,
} from '../../analytics/figures/customer-rows.ts';
import { countBrokenDays, listNewerCustomers, sumCustomerOrders } from '../../analytics/figures/customers.ts';
import {
  countUnlikeClicks,
  countUnlikePostings,
  findSaleFacts as foldedSaleFacts,
} from '../../analytics/figures/orders.ts';
import { type AccountSum, listAccountSums as foldedSums, listBrokenRollups } from '../../analytics/figures/rollups.ts';
import { findPosition, listUnsentRanges } from '../../analytics/figures/sync.ts';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { hashEntry } from '../../kit/outbox/ledger-entry.ts';
import { type ChainHead, findHead, findSaleFacts, inSnapshot, listAccountSums, listChain } from './ledger.ts';
import {
  type ComparedRow,
  compareSealed,
  findSealHead,
  listMisposted,
  listSeals,
  listUnnoted,
  listWrongCommissions,
  listWrongPayouts,
  SEALED,
  type SealedTable,
  useUtc,
} from './mismatches.ts';

const BATCH = 1_000;
/** A batch that is being inserted is in a table but for a moment not in its rollups. */
const TRIES = 3;
const BETWEEN_TRIES_MS = 1_000;

export interface Verification {
  /** Number of entries in the chain. */
  entries: number;
  /** Hash of the last entry. Store it elsewhere: someone who can rewrite the whole chain cannot rewrite that copy. */
  hash: string;
  /** Hash of the last seal, which covers the rows and the ledger at that time. Store it elsewhere too. */
  seal: string;
  problems: string[];
}

type Chained = Awaited<ReturnType<typeof listChain>>[number];

/** What is wrong with an entry, given the hash of the previous one. */
function wrongWith({ postings, hash, ...entry }: Chained, previous: Buffer | null): string[] {
  if (!postings.success) return [`entry ${entry.seq}: its postings have another form`];
  const sum = postings.data.reduce((total, { amount_minor }) => total + amount_minor, 0);
  const isRight = hashEntry(previous, { ...entry, postings: postings.data }).equals(hash);
  return [
    ...(sum === 0 ? [] : [`entry ${entry.seq}: its postings add up to ${sum}, not 0`]),
    ...(isRight ? [] : [`entry ${entry.seq} (${entry.id}): it or an entry before it is not what was hashed`]),
  ];
}

/**
 * Walks the whole chain. Each entry is checked against the stored hash before it, so that one edit gives one complaint.
 */
async function verifyChain(db: Db, brandId: string): Promise<{ head: ChainHead; problems: string[] }> {
  const problems: string[] = [];
  let last: ChainHead = { seq: 0, hash: null };
  for (;;) {
    const rows = await listChain(db, brandId, last.seq, BATCH);
    for (const row of rows) {
      if (row.seq !== last.seq + 1) problems.push(`entries ${last.seq + 1} to ${row.seq - 1} are missing`);
      problems.push(...wrongWith(row, last.hash));
      last = { seq: row.seq, hash: row.hash };
    }
    if (rows.length < BATCH) break;
  }
  const head = await findHead(db, brandId);
  if (head.seq !== last.seq) problems.push(`the head says ${head.seq} entries, the last one is ${last.seq}`);
  else if (!(head.hash ?? Buffer.alloc(0)).equals(last.hash ?? Buffer.alloc(0))) {
    problems.push('the last entry does not have the hash that the head has');
  }
  return { head: last, problems };
}

/** Commissions and payouts that do not match the ledger. A malformed ledger may be impossible to sum. */
async function verifyRows(db: Db, brandId: string): Promise<string[]> {
  return [
    ...(await listWrongCommissions(db, brandId)),
    ...(await listWrongPayouts(db, brandId)),
    ...(await listMisposted(db, brandId)),
  ];
}

/** How two sums of an account differ, as a sentence. */
function difference(ours: AccountSum | undefined, theirs: AccountSum | undefined): string | undefined {
  const say = (sum: AccountSum | undefined) => `${sum?.amount ?? 0} in ${sum?.postings ?? 0} postings`;
  if (say(ours) !== say(theirs)) return `PostgreSQL has ${say(ours)}, ClickHouse ${say(theirs)}`;
  if (ours?.fingerprint === theirs?.fingerprint) return undefined;
  return `both have ${say(ours)}, but not of the same links, creators, times and entries`;
}

/** The accounts whose two sums differ, as sentences. */
function differences(truth: readonly AccountSum[], folded: readonly AccountSum[]): string[] {
  const keyOf = ({ account, currency }: AccountSum) => `${account} ${currency}`;
  const [ours, theirs] = [truth, folded].map((sums) => new Map(sums.map((sum) => [keyOf(sum), sum])));
  const keys = new Set([...truth, ...folded].map(keyOf));
  return [...keys].sort().flatMap((key) => {
    const said = difference(ours?.get(key), theirs?.get(key));
    return said === undefined ? [] : [`${key}: ${said}`];
  });
}

type Compared = { db: Db; clickhouse: ClickHouse };

/** What is wrong with the table of orders, compared with postings, orders and clicks. */
async function compareOrders({ db, clickhouse }: Compared, brandId: string): Promise<string[]> {
  const { position, left, truth } = await inSnapshot(db, async (trx) => {
    const position = await findPosition(trx, brandId);
    // Batches go to the postings first.
    const left = [
      ...(await listUnsentRanges(trx, brandId, 'sentAt')),
      ...(await listUnsentRanges(trx, brandId, 'ordersSentAt')),
    ];
    return { position, left, truth: await findSaleFacts(trx, brandId, position, left) };
  });
  const folded = await foldedSaleFacts(clickhouse, brandId, position, left);
  const isSame = truth.sales === folded.sales && truth.fingerprint === folded.fingerprint;
  const unlikePostings = await countUnlikePostings(clickhouse, brandId, position, left);
  const unlikeClicks = await countUnlikeClicks(clickhouse, brandId, position, left);
  return [
    ...(isSame
      ? []
      : [`orders: PostgreSQL has ${truth.sales} sales, ClickHouse ${folded.sales}, or of other stores and clicks`]),
    ...(unlikePostings === 0
      ? []
      : [`order_figures_v1: ${unlikePostings} days of a link are not the sum of their postings`]),
    ...(unlikeClicks === 0 ? [] : [`order_figures_v1: ${unlikeClicks} rows do not have the facts of their click`]),
  ];
}

/** What is wrong with the table of customers, without those whose orders changed while they were compared. */
async function compareCustomers({ db, clickhouse }: Compared, brandId: string): Promise<string[]> {
  return await inSnapshot(db, async (trx) => {
    const unsent = await findUnsentSeals(trx, brandId);
    const without = [
      ...(await listChangedCustomers(trx, unsent)),
      ...(await listNewerCustomers(clickhouse, brandId, unsent.from - 1)),
    ];
    const folded = await sumCustomerOrders(clickhouse, brandId, without);
    const broken = await countBrokenDays(clickhouse, brandId);
    let [count, fingerprint] = [0, 0n];
    for await (const page of listLinePages(trx, brandId)) {
      const sum = await sumPageLines(trx, brandId, page, without);
      count += sum.count;
      fingerprint += BigInt(sum.fingerprint);
    }
    const isSame = count === folded.count && String(fingerprint) === folded.fingerprint;
    return [
      ...(isSame
        ? []
        : [`customer_orders_v1: PostgreSQL has ${count} orders, ClickHouse ${folded.count}, or other ones`]),
      ...(broken === 0 ? [] : [`customer_days_v1: ${broken} days are not the sum of their orders`]),
    ];
  });
}

async function compareOnce({ db, clickhouse }: Compared, brandId: string): Promise<string[]> {
  const truth = await inSnapshot(db, async (trx) => {
    const position = await findPosition(trx, brandId);
    const left = await listUnsentRanges(trx, brandId, 'sentAt');
    return { position, left, sums: await listAccountSums(trx, brandId, position, left) };
  });
  const folded = await foldedSums(clickhouse, brandId, truth.position, truth.left);
  const broken = await listBrokenRollups(clickhouse, brandId);
  return [
    ...differences(truth.sums, folded),
    ...(await compareOrders({ db, clickhouse }, brandId)),
    ...(await compareCustomers({ db, clickhouse }, brandId)),
    ...broken.map(({ table, rows }) => `${table}: ${rows} rows are not the sum of their events`),
  ];
}

/** Where a brand's figures differ from what PostgreSQL's ledger and the clicks give. */
export async function compareFigures(engines: { db: Db; clickhouse: ClickHouse }, brandId: string): Promise<string[]> {
  for (let tries = 1; ; tries += 1) {
    const found = await compareOnce(engines, brandId);
    if (found.length === 0 || tries === TRIES) return found;
    await pause(BETWEEN_TRIES_MS);
  }
}

/** What PostgreSQL alone can prove: entries, seals, and rows against both. */
export async function verifyRecords(snapshot: Db, brandId: string): Promise<Verification> {
  const { head, problems } = await verifyChain(snapshot, brandId);
  const wrong = await verifyRows(snapshot, brandId);
  const seals = await verifySeals(snapshot, brandId);
  return {
    entries: head.seq,
    hash: head.hash?.toString('hex') ?? '',
    seal: seals.hash?.toString('hex') ?? '',
    problems: [...problems, ...wrong, ...seals.problems],
  };
}

/**
 * Verifies that nothing in a brand's ledger was edited, that its commissions and payouts match the ledger, that every
 * sealed row is as last written, and that ClickHouse has what was sent to it.
 */
export async function verifyLedger(
  { postgres, clickhouse }: Pick<Context, 'postgres' | 'clickhouse'>,
  brandId: string,
): Promise<Verification> {
  const records = await inSnapshot(postgres.reads, async (trx) => await verifyRecords(trx, brandId));
  // An edited ledger may be impossible to compare; it is reported anyway.
  const differing = await compareFigures({ db: postgres.reads, clickhouse }, brandId).catch((error: unknown) => [
    `not compared with ClickHouse: ${error instanceof Error ? error.message : error}`,
  ]);
  return { ...records, problems: [...records.problems, ...differing] };
}

const isDigest = (value: unknown) => typeof value === 'string' && value.startsWith('sha256:');

/** How a row's value differs from the one that was sealed. */
function differing(name: string, actual: unknown, sealed: unknown): string {
  if (isDigest(actual) || isDigest(sealed)) return `${name} is not what was sealed`;
  const say = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));
  return `${name} is ${say(actual)}, sealed as ${say(sealed)}`;
}

/** What is wrong with a row; undefined if nothing is. */
function wrongWithRow({ sealed, actual, brokenAt }: ComparedRow): string | undefined {
  if (sealed === null && actual !== null) return 'it was not written by Rollcall';
  if (sealed !== null && actual === null) return 'it was sealed and is gone';
  const names = Object.keys({ ...sealed, ...actual }).sort();
  const wrong = names.filter((name) => JSON.stringify(actual?.[name]) !== JSON.stringify(sealed?.[name]));
  if (wrong.length > 0) return wrong.map((name) => differing(name, actual?.[name], sealed?.[name])).join('; ');
  return brokenAt === null ? undefined : `it was edited before seal ${brokenAt} was written`;
}

const nameOf = ({ noun }: SealedTable, key: readonly string[]) => `${noun} ${key.join(' ')}`;

async function verifyTable(db: Db, brandId: string, table: SealedTable): Promise<string[]> {
  const problems = (await listUnnoted(db, brandId, table)).map(
    (key) => `${nameOf(table, key)}: it was not written by Rollcall`,
  );
  let after: string[] = [];
  for (;;) {
    const rows = await compareSealed(db, brandId, table, after, BATCH);
    for (const row of rows) {
      const wrong = wrongWithRow(row);
      if (wrong !== undefined) problems.push(`${nameOf(table, row.key)}: ${wrong}`);
    }
    const last = rows.at(-1);
    if (last === undefined) return problems;
    after = last.key;
  }
}

/** Walks the brand's seals, and compares every sealed row with its last sealed state. */
async function verifySeals(db: Db, brandId: string): Promise<{ hash: Buffer | null; problems: string[] }> {
  await useUtc(db);
  const problems: string[] = [];
  let last: { seq: number; hash: Buffer | null } = { seq: 0, hash: null };
  for (;;) {
    const seals = await listSeals(db, brandId, last, BATCH);
    for (const { seq, hash, isRight, isOfLedger } of seals) {
      if (seq !== last.seq + 1) problems.push(`seals ${last.seq + 1} to ${seq - 1} are missing`);
      else if (!isRight) problems.push(`seal ${seq}: it or what it covers is not what was hashed`);
      if (!isOfLedger) problems.push(`seal ${seq}: the ledger no longer has the entry that was its last one then`);
      last = { seq, hash };
    }
    if (seals.length < BATCH) break;
  }
  const head = await findSealHead(db, brandId);
  if (head.seq !== last.seq || !(head.hash ?? Buffer.alloc(0)).equals(last.hash ?? Buffer.alloc(0))) {
    problems.push(`the head says ${head.seq} seals, the last one is ${last.seq}, or has another hash`);
  }
  for (const table of SEALED) problems.push(...(await verifyTable(db, brandId, table)));
  return { hash: last.hash, problems };
}
