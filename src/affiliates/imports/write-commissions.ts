import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { formatMoney } from '../../kit/values/format.ts';
import { newId } from '../../kit/values/ids.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import type { Line, PaidRecord } from '../../platform/imports/reading/shapes.ts';
import { ensureCreator, listMerged, lockBrandRoster } from '../../workflow/creators/creators.ts';
import { putOnRoster } from '../../workflow/roster/roster.ts';
import { insertPast, type PastCommissionRow } from '../commissions/past-commissions.ts';
import type { ImportRow } from './imports.ts';
import { getRosterLimit } from './limits.ts';
import { type FindPerson, findPeople } from './people.ts';
import type { Judged } from './tallies.ts';
import { differs, insertWrites, isKnown, isNew, refuse, selectRecords, type Write, type Writer } from './writer.ts';

/** The number of the record among those of the file that are the same, which the reading counts. */
const getNumber = ({ known_by }: Line): string => known_by?.slice(known_by.lastIndexOf(' ') + 1) ?? '1';

/** What another tool calls a commission; without a reference, its day and amount with its number among the same. */
function nameReference(line: Line, record: PaidRecord, { plan }: ImportRow): string {
  if (record.reference !== null) return record.reference;
  const number = getNumber(line);
  const day = dayIn(plan?.timeZone ?? 'UTC', new Date(record.paid_at));
  const name = `${day} ${formatMoney(record.amount, record.currency)}`;
  return number === '1' ? name : `${name} (${number})`;
}

/** A commission is known by its creator and reference, so that one order may pay two creators. */
function nameKnown(line: Line, record: PaidRecord, creatorId: string): string {
  const { reference, amount, currency } = record;
  const said = reference === null ? [record.paid_at.slice(0, 10), amount, currency] : [reference];
  return JSON.stringify([creatorId, ...said, getNumber(line)]);
}

type Known = Pick<PastCommissionRow, 'id' | 'creatorId' | 'reference' | 'knownBy' | 'amountMinor' | 'currency'>;

async function listKnown(
  db: Db,
  { brandId, source }: ImportRow,
  keys: readonly string[],
  references: readonly string[],
): Promise<Known[]> {
  return await db
    .selectFrom('pastCommissions')
    .select(['id', 'creatorId', 'reference', 'knownBy', 'amountMinor', 'currency'])
    .where('brandId', '=', brandId)
    .where('source', '=', source)
    .where(
      sql<boolean>`(known_by = any(${[...keys]}::text[])
        or known_by is null and reference = any(${[...references]}::text[]))`,
    )
    .execute();
}

const judgeKnown = (line: Line, record: PaidRecord, knownCommission: Known): Judged =>
  knownCommission.amountMinor === record.amount && knownCommission.currency === record.currency
    ? isKnown(line, knownCommission.id)
    : differs(
        line,
        knownCommission.id,
        `it is known with ${formatMoney(knownCommission.amountMinor, knownCommission.currency)}.`,
      );

const nameWho = ({ email, handle, code, name }: PaidRecord) => email ?? handle ?? code ?? name ?? 'Nobody';

export function refusePerson(line: Line, record: PaidRecord, creatorId: null | undefined): Judged {
  const who = nameWho(record);
  return creatorId === null
    ? refuse(line, 'ambiguous_person', `${who} may be several creators.`)
    : refuse(line, 'unknown_creator', `${who} is not on the roster.`);
}

/** Ids of creators who were merged into each: their commissions keep the key under which they were recorded. */
async function listFormerIds(db: Db, brandId: string): Promise<Map<string, string[]>> {
  const former = new Map<string, string[]>();
  for (const [goneId, creatorId] of await listMerged(db, brandId))
    former.set(creatorId, [...(former.get(creatorId) ?? []), goneId]);
  return former;
}

async function judge(db: Db, row: ImportRow, lines: readonly Line[]): Promise<Judged[]> {
  const records = selectRecords(lines, 'paid');
  const find: FindPerson = await findPeople(
    db,
    row.brandId,
    records.map(({ record }) => record),
    { ...row.stored, ...row.mapping },
  );
  const formerIds = await listFormerIds(db, row.brandId);
  const namedRecords = records.map(({ line, record }) => {
    const creatorId = find(record);
    const ids = [creatorId ?? '', ...(formerIds.get(creatorId ?? '') ?? [])];
    return { line, record, creatorId, keys: ids.map((id) => nameKnown(line, record, id)) };
  });
  const references = records.flatMap(({ record }) => record.reference ?? []);
  const knownCommissions = await listKnown(
    db,
    row,
    namedRecords.flatMap(({ keys }) => keys),
    references,
  );
  return namedRecords.map(({ line, record, creatorId, keys }) => {
    const same = knownCommissions.find(({ knownBy, reference }) =>
      knownBy === null ? reference === record.reference : keys.includes(knownBy),
    );
    if (same) return judgeKnown(line, record, same);
    if (typeof creatorId === 'string') return isNew(line);
    const isAdded = creatorId === undefined && row.options.add_creators === true && record.email !== null;
    return isAdded ? isNew(line) : refusePerson(line, record, creatorId);
  });
}

/** Adds the creators of records that are not on the roster, and says whom it added. */
async function addCreators(work: Work, row: ImportRow, find: FindPerson, records: readonly PaidRecord[]) {
  const unknown = new Map(
    records.flatMap((record) => (record.email !== null && !find(record) ? [[record.email, record] as const] : [])),
  );
  const idsByEmail = new Map<string, string>();
  const writes: Write[] = [];
  if (unknown.size === 0) return { added: idsByEmail, writes };
  const limit = await getRosterLimit(work.db, row.brandId);
  for (const [email, { name }] of unknown) {
    const creatorId = await ensureCreator(work, { email, name, igHandle: null, ttHandle: null });
    const entry = await putOnRoster(work, limit, creatorId);
    idsByEmail.set(email, creatorId);
    if (entry.added) writes.push({ noun: 'roster_entry', rowId: entry.entryId });
  }
  return { added: idsByEmail, writes };
}

export const commissionsWriter: Writer = {
  judge,
  lock: async ({ db, brandId }) => await lockBrandRoster(db, brandId),
  write: async (work, _context, row, judgedLines) => {
    const { db, now, brandId } = work;
    const lines = judgedLines.flatMap(({ line, outcome }) => (outcome === 'new' ? [line] : []));
    const records = selectRecords(lines, 'paid');
    const all = records.map(({ record }) => record);
    const find = await findPeople(db, brandId, all, { ...row.stored, ...row.mapping });
    const { added, writes } = await addCreators(work, row, find, all);
    const rows = records.flatMap(({ line, record }): PastCommissionRow[] => {
      const creatorId = find(record) ?? added.get(record.email ?? '');
      if (creatorId === undefined) return [];
      return [
        {
          id: newId('pcm', now.getTime()),
          brandId,
          creatorId,
          source: row.source,
          reference: nameReference(line, record, row),
          knownBy: nameKnown(line, record, creatorId),
          amountMinor: record.amount,
          currency: record.currency,
          paidAt: new Date(record.paid_at),
          createdAt: now,
        },
      ];
    });
    const ids = await insertPast(work, rows);
    for (const one of rows) if (ids.has(one.id)) work.audit({ resourceId: one.id, old: null, new: one });
    const commissionWrites = [...ids].map((rowId): Write => ({ noun: 'past_commission', rowId }));
    await insertWrites(work, row, [...writes, ...commissionWrites]);
    return { written: ids.size, updated: 0 };
  },
  undo: async ({ db, brandId }, _row, writes) => {
    const ids = writes.flatMap(({ noun, rowId }) => (noun === 'past_commission' ? [rowId] : []));
    if (ids.length === 0) return 0;
    const { numDeletedRows } = await db
      .deleteFrom('pastCommissions')
      .where('brandId', '=', brandId)
      .where('id', 'in', ids)
      .executeTakeFirst();
    return Number(numDeletedRows);
  },
};
