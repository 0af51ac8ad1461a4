import type { Db } from '../../../engines/postgres/open.ts';
import { transact } from '../../../engines/postgres/transaction.ts';
import { DAY_MS } from '../../../values/duration.ts';
import {
  emptyMonth,
  findBeginning,
  findLater,
  getTotals,
  insertSums,
  limitRest,
  listDiffering,
  listMonths,
  listSummed,
  makeLater,
  monthStart,
  type SummedMonth,
  splitLater,
  toMonth,
  toTableName,
  unlimitRest,
  validateRest,
} from './queries.ts';

/** Ids must not fall into the first month before it has its partition. */
const NOTICE_MS = 7 * DAY_MS;
/** By then, every billing month that touches a calendar month has been over for at least a month. */
const OPEN_MS = 62 * DAY_MS;

/** Ends the default partition at a future month, and creates the partition for later ids. */
async function begin(db: Db, now: Date): Promise<void> {
  const decided = await findBeginning(db);
  const first = decided ?? monthStart(toMonth(new Date(now.getTime() + NOTICE_MS)), 1);
  if (decided === undefined) await transact(db, (trx) => limitRest(trx, first));
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
  const made: string[] = [];
  for (;;) {
    const later = await findLater(db);
    if (later === undefined || later >= end) return made;
    made.push(await transact(db, splitLater));
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
  const summed = (await listSummed(db)).find((one) => one.month === month);
  if (!summed) throw new Error(`${month} has not been summed.`);
  return summed;
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
    const summed = await getSummed(trx, month);
    const problems = await findProblems(trx, summed, undefined);
    if (problems.length > 0) throw new Error(`${month} was summed before. ${problems.join(' ')}`);
    if (isEmptied) await emptyMonth(trx, month, now);
    return await getSummed(trx, month);
  });
}

/** Every summed month with its errors; with `copy`, one month compared with the table that holds its restored entries. */
export async function verifyMonths(db: Db, copy?: { month: string; table: string }) {
  const months = copy ? [await getSummed(db, copy.month)] : await listSummed(db);
  const verified = [];
  for (const summed of months) verified.push({ ...summed, problems: await findProblems(db, summed, copy?.table) });
  return verified;
}
