import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { newId } from '../../kit/values/ids.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import type { Line } from '../../platform/imports/reading/shapes.ts';
import { insertPayout, lockPayees } from '../payouts/payouts.ts';
import { settlePayout } from '../payouts/settle.ts';
import type { ImportRow } from './imports.ts';
import { findPeople } from './people.ts';
import type { Judged } from './tallies.ts';
import { refusePerson } from './write-commissions.ts';
import { insertWrites, isKnown, isNew, refuse, selectRecords, type Write, type Writer } from './writer.ts';

interface KnownPayout {
  id: string;
  creatorId: string;
  amountMinor: number;
  currency: string;
  reference: string | null;
  paidAt: Date | null;
  isOpen: boolean;
}

async function listPayouts(db: Db, brandId: string, creatorIds: readonly string[]): Promise<KnownPayout[]> {
  if (creatorIds.length === 0) return [];
  const { rows } = await sql<KnownPayout>`
    select id, creator_id, amount_minor, currency, reference, paid_at,
      status <> 'paid' and method <> 'wallet' as is_open
    from payouts where brand_id = ${brandId} and creator_id = any(${[...creatorIds]}::text[])
    order by created_at, id`.execute(db);
  return rows;
}

async function findFirstSale(db: Db, brandId: string): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(occurred_at) as at from orders where brand_id = ${brandId}`.execute(db);
  return rows[0]?.at ?? undefined;
}

/** Each payment settles one open payout of that creator, currency and amount; two of the same need two. */
async function judgePayouts(db: Db, row: ImportRow, lines: readonly Line[]) {
  const { brandId } = row;
  const records = selectRecords(lines, 'paid');
  const all = records.map(({ record }) => record);
  const find = await findPeople(db, brandId, all, { ...row.stored, ...row.mapping });
  const ids = [...new Set(all.flatMap((record) => find(record) ?? []))];
  const payouts = await listPayouts(db, brandId, ids);
  const firstSale = await findFirstSale(db, brandId);
  const timeZone = row.plan?.timeZone ?? (await getTimeZone(db, brandId));
  const usedIds = new Set<string>();
  return records.map(({ line, record }) => {
    const creatorId = find(record);
    const toJudgedPayout = (one: Judged) => ({ judged: one, record, creatorId: creatorId ?? '' });
    if (typeof creatorId !== 'string') return toJudgedPayout(refusePerson(line, record, creatorId));
    if (firstSale !== undefined && Date.parse(record.paid_at) + DAY_MS < firstSale.getTime())
      return toJudgedPayout(refuse(line, 'before_first_sale', "it was paid before the brand's first sale."));
    const same = payouts.filter(
      (payout) =>
        payout.creatorId === creatorId && payout.amountMinor === record.amount && payout.currency === record.currency,
    );
    const day = dayIn(timeZone, new Date(record.paid_at));
    const knownPayout = same.find(({ id, isOpen, reference, paidAt }) => {
      if (isOpen || usedIds.has(id)) return false;
      if (record.reference !== null) return reference === record.reference;
      return paidAt !== null && dayIn(timeZone, paidAt) === day;
    });
    if (knownPayout) {
      usedIds.add(knownPayout.id);
      return toJudgedPayout(isKnown(line, knownPayout.id));
    }
    const [open, another] = same.filter(({ id, isOpen }) => isOpen && !usedIds.has(id));
    if (another)
      return toJudgedPayout(
        refuse(line, 'several_payouts', 'several open payouts have this creator, amount and currency.'),
      );
    if (open) {
      usedIds.add(open.id);
      return toJudgedPayout({ ...isNew(line), knownId: open.id });
    }
    if (row.options.create === true) return toJudgedPayout(isNew(line));
    return toJudgedPayout(refuse(line, 'matches_no_payout', 'no open payout has this creator, amount and currency.'));
  });
}

type JudgedPayout = Awaited<ReturnType<typeof judgePayouts>>[number];

/** Settles the open payout of a line, or records one that is paid. */
async function writePayout(work: Work, { judged, record, creatorId }: JudgedPayout): Promise<string> {
  const { db, now, brandId } = work;
  const { currency, amount: amountMinor } = record;
  const payout = { brandId, creatorId, currency, amountMinor, method: 'manual' as const, status: 'completed' as const };
  const id =
    judged.knownId ??
    (await insertPayout(db, { ...payout, id: newId('pay', now.getTime()), note: null, createdAt: now })).id;
  const reference = record.reference === null ? {} : { reference: record.reference.slice(0, 200) };
  await settlePayout(work, id, { status: 'paid', paid_at: new Date(record.paid_at), ...reference });
  return id;
}

export const payoutsWriter: Writer = {
  judge: async (db, row, lines) => (await judgePayouts(db, row, lines)).map(({ judged }) => judged),
  lock: async () => undefined,
  write: async (work, _context, row, judgedLines) => {
    const lines = judgedLines.flatMap(({ line, outcome }) => (outcome === 'new' ? [line] : []));
    const candidates = await judgePayouts(work.db, row, lines);
    await lockPayees(work.db, work.brandId, [...new Set(candidates.map(({ creatorId }) => creatorId))]);
    // What is open is decided once the creators are locked.
    const newPayouts = (await judgePayouts(work.db, row, lines)).filter(({ judged: one }) => one.outcome === 'new');
    const writes: Write[] = [];
    for (const one of newPayouts) writes.push({ noun: 'payout', rowId: await writePayout(work, one) });
    await insertWrites(work, row, writes);
    return { written: newPayouts.length, updated: 0 };
  },
};
