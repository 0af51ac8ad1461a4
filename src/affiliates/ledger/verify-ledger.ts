import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { hashEntry } from '../../kit/outbox/ledger-entry.ts';
import { compareFigures } from './compare-figures.ts';
import { type ChainHead, findHead, inSnapshot, listChain } from './ledger.ts';
import { listMisposted, listWrongCommissions, listWrongPayouts } from './mismatches.ts';
import { verifySeals } from './seals.ts';

const BATCH = 1_000;

interface Verification {
  /** Number of entries in the chain. */
  entries: number;
  /** Hash of the last entry. Store it elsewhere: someone who can rewrite the whole chain cannot rewrite that copy. */
  hash: string;
  /** Hash of the last seal, which covers the rows and the ledger at that time. Store it elsewhere too. */
  seal: string;
  problems: string[];
}

type Chained = Awaited<ReturnType<typeof listChain>>[number];

/** Lists the problems of an entry, given the hash of the previous one. */
function findEntryProblems({ postings, hash, ...entry }: Chained, previous: Buffer | null): string[] {
  if (!postings.success) return [`entry ${entry.seq}: its postings have another form`];
  const sum = postings.data.reduce((total, { amount_minor }) => total + amount_minor, 0);
  const isRight = hashEntry(previous, { ...entry, postings: postings.data }).equals(hash);
  return [
    ...(sum === 0 ? [] : [`entry ${entry.seq}: its postings add up to ${sum}, not 0`]),
    ...(isRight ? [] : [`entry ${entry.seq} (${entry.id}): it or an entry before it is not what was hashed`]),
  ];
}

/** Walks the whole chain. Each entry is checked against the stored hash before it, so that one edit is reported once. */
async function verifyChain(db: Db, brandId: string): Promise<{ head: ChainHead; problems: string[] }> {
  const problems: string[] = [];
  let last: ChainHead = { seq: 0, hash: null };
  for (;;) {
    const rows = await listChain(db, brandId, last.seq, BATCH);
    for (const row of rows) {
      if (row.seq !== last.seq + 1) problems.push(`entries ${last.seq + 1} to ${row.seq - 1} are missing`);
      problems.push(...findEntryProblems(row, last.hash));
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

/** Verifies all that PostgreSQL alone can prove: the entries, the seals, and the rows against both. */
export async function verifyRecords(snapshot: Db, brandId: string): Promise<Verification> {
  const { head, problems } = await verifyChain(snapshot, brandId);
  const mismatches = [
    ...(await listWrongCommissions(snapshot, brandId)),
    ...(await listWrongPayouts(snapshot, brandId)),
    ...(await listMisposted(snapshot, brandId)),
  ];
  const seals = await verifySeals(snapshot, brandId);
  return {
    entries: head.seq,
    hash: head.hash?.toString('hex') ?? '',
    seal: seals.hash?.toString('hex') ?? '',
    problems: [...problems, ...mismatches, ...seals.problems],
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
  // An edited ledger may be impossible to compare; its other problems are reported anyway.
  const differences = await compareFigures({ db: postgres.reads, clickhouse }, brandId).catch((error: unknown) => [
    `not compared with ClickHouse: ${error instanceof Error ? error.message : error}`,
  ]);
  return { ...records, problems: [...records.problems, ...differences] };
}
