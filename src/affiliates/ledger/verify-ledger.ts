import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { hashEntry } from '../../kit/outbox/ledger-entry.ts';
import { compareFigures } from './compare-figures.ts';
import { type ChainHead, findHead, inSnapshot, listChain } from './ledger.ts';
import { listMisposted, listWrongCommissions, listWrongPayouts } from './mismatches.ts';
import { listWrongPrices } from './prices.ts';
import { type SealHead, verifySeals } from './seals.ts';

const BATCH = 1_000;

interface Verification {
  /** Number of entries in the chain. */
  entries: number;
  /** Hash of the last entry. Store it elsewhere: someone who can rewrite the whole chain cannot rewrite that copy. */
  hash: string;
  /** Hash of the last seal, which covers the rows and the ledger at that time. Store it elsewhere too. */
  seal: string;
  /** The last entry and the last seal. */
  heads: VerifiedHeads;
  problems: string[];
  /** Sentences about sealed erasures. */
  notes: string[];
}

interface VerifiedHeads {
  ledger: ChainHead;
  seal: SealHead;
}

const NOTHING: VerifiedHeads = { ledger: { seq: 0, hash: null }, seal: { seq: 0, hash: null } };

/**
 * Finds how far the last verification without a problem came. If the chains no longer have those heads, everything is
 * verified again.
 */
async function findVerified(db: Db, brandId: string): Promise<VerifiedHeads> {
  const row = await db
    .selectFrom('ledgerVerifications as last')
    .leftJoin('ledgerEntries as entry', (join) =>
      join.onRef('entry.brandId', '=', 'last.brandId').onRef('entry.seq', '=', 'last.ledgerSeq'),
    )
    .leftJoin('seals as seal', (join) =>
      join.onRef('seal.brandId', '=', 'last.brandId').onRef('seal.seq', '=', 'last.sealSeq'),
    )
    .select(['last.ledgerSeq', 'last.ledgerHash', 'last.sealSeq', 'last.sealHash'])
    .where('last.brandId', '=', brandId)
    .where(
      sql<boolean>`entry.hash is not distinct from last.ledger_hash and seal.hash is not distinct from last.seal_hash`,
    )
    .executeTakeFirst();
  if (row === undefined) return NOTHING;
  return {
    ledger: { seq: row.ledgerSeq, hash: row.ledgerHash },
    seal: { seq: row.sealSeq, hash: row.sealHash },
  };
}

/** Notes how far a brand was verified without a problem. */
export async function recordVerified(
  db: Db,
  brandId: string,
  { ledger, seal }: VerifiedHeads,
  at: Date,
): Promise<void> {
  const heads = { ledgerSeq: ledger.seq, ledgerHash: ledger.hash, sealSeq: seal.seq, sealHash: seal.hash };
  const row = { ...heads, verifiedAt: at };
  await db
    .insertInto('ledgerVerifications')
    .values({ brandId, ...row })
    .onConflict((conflict) => conflict.column('brandId').doUpdateSet(row))
    .execute();
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
async function verifyChain(
  db: Db,
  brandId: string,
  since: ChainHead,
): Promise<{ head: ChainHead; problems: string[] }> {
  const problems: string[] = [];
  let last = since;
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

const Removed = z.record(z.string(), z.number());

/** Says what was erased, by which sealed request, and which head the chain had before it was hashed again over commitments. */
async function listErasures(db: Db, brandId: string): Promise<string[]> {
  const conversions = await db.selectFrom('sealConversions').selectAll().where('brandId', '=', brandId).execute();
  const requests = await db
    .selectFrom('dataRequests')
    .select(['id', 'removed'])
    .where('brandId', '=', brandId)
    .where('kind', '=', 'erasure')
    .where('state', '=', 'done')
    .orderBy('createdAt')
    .execute();
  return [
    ...conversions.map(
      ({ sealSeq, oldHash, convertedAt }) =>
        `seals 1 to ${sealSeq} were hashed again on ${convertedAt.toISOString()}; the last one was ${oldHash?.toString('hex')}`,
    ),
    ...requests.flatMap(({ id, removed }) => {
      const rows = Object.values(Removed.parse(removed)).reduce((sum, count) => sum + count, 0);
      return rows === 0 ? [] : [`${rows} rows erased by ${id}`];
    }),
  ];
}

/** Verifies all that PostgreSQL alone can prove: the entries, the seals, and the rows against both. */
export async function verifyRecords(snapshot: Db, brandId: string, verified = NOTHING): Promise<Verification> {
  const { head, problems } = await verifyChain(snapshot, brandId, verified.ledger);
  const mismatches = [
    ...(await listWrongCommissions(snapshot, brandId)),
    ...(await listWrongPrices(snapshot, brandId)),
    ...(await listWrongPayouts(snapshot, brandId)),
    ...(await listMisposted(snapshot, brandId)),
  ];
  const seals = await verifySeals(snapshot, brandId, verified.seal);
  return {
    entries: head.seq,
    hash: head.hash?.toString('hex') ?? '',
    seal: seals.head.hash?.toString('hex') ?? '',
    heads: { ledger: head, seal: seals.head },
    problems: [...problems, ...mismatches, ...seals.problems],
    notes: await listErasures(snapshot, brandId),
  };
}

/**
 * Verifies that nothing in a brand's ledger was edited, that its commissions and payouts match the ledger, that every
 * sealed row is as last written, and that ClickHouse has what was sent to it. If it `continues`, entries and seals that
 * an earlier verification found right, and rows that nobody wrote since, are not read again.
 */
export async function verifyLedger(
  { postgres, clickhouse }: Pick<Context, 'postgres' | 'clickhouse'>,
  brandId: string,
  { continues = false } = {},
): Promise<Verification> {
  const records = await inSnapshot(postgres.reads, async (trx) =>
    verifyRecords(trx, brandId, continues ? await findVerified(trx, brandId) : NOTHING),
  );
  // An edited ledger may be impossible to compare; its other problems are reported anyway.
  const differences = await compareFigures({ db: postgres.reads, clickhouse }, brandId).catch((error: unknown) => [
    `not compared with ClickHouse: ${error instanceof Error ? error.message : error}`,
  ]);
  return { ...records, problems: [...records.problems, ...differences] };
}
