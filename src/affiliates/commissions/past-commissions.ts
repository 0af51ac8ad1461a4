import { type Selectable, sql } from 'kysely';
import type { PastCommissionsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import type { Work } from '../../kit/operation/work.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor } from '../../kit/values/money.ts';
import type { Page } from '../../kit/values/page.ts';
import { matchesCreator } from '../../workflow/creators/creators.ts';
import { showCreator } from '../../workflow/creators/renamed.ts';
import type { PastCommissionFilter, PastCommissionsReported } from './past-commissions.api.ts';

/** Records all past commissions that are new, or throws every problem with them. */
export async function recordPast(work: Work, { source, past_commissions: reports }: PastCommissionsReported) {
  const { db, now, brandId, audit } = work;
  const emails = reports.map(({ creator_email }) => creator_email.toLowerCase());
  const email = sql<string>`lower(creators.email)`;
  const creators = await db
    .selectFrom('creators')
    .innerJoin('rosterEntries as entry', 'entry.creatorId', 'creators.id')
    .select(['creators.id', email.as('email')])
    .where('creators.brandId', '=', brandId)
    .where(sql<boolean>`${email} = any(${emails}::text[])`)
    .execute();
  const creatorIds = new Map(creators.map((creator) => [creator.email, creator.id]));
  const problems: Problem[] = [];
  const rows: PastCommissionRow[] = [];
  for (const [i, { creator_email: address, amount, currency, paid_at: paidAt, reference }] of reports.entries()) {
    const refuse = (field: string, code: string, message: string) =>
      problems.push({ field: `past_commissions.${i}.${field}`, code, message });
    const creatorId = creatorIds.get(address.toLowerCase());
    const problem = amountProblem(amount, currency, MAX_AMOUNT_MINOR);
    const amountMinor = toMinor(amount, currency);
    if (creatorId === undefined) refuse('creator_email', 'not_on_roster', `${address} is not on the roster.`);
    if (problem !== undefined) refuse('amount', 'invalid', `${problem}; got ${amount}.`);
    if (creatorId === undefined || amountMinor === undefined) continue;
    const id = newId('pcm', now.getTime());
    const payment = { amountMinor, currency, paidAt, createdAt: now };
    rows.push({ id, brandId, creatorId, source, reference, knownBy: null, ...payment });
  }
  if (problems.length > 0) throw validationError(problems);
  const knownReferences = await listKnownReferences(
    db,
    brandId,
    source,
    reports.map(({ reference }) => reference),
  );
  const recordedIds = await insertPast(
    work,
    rows.filter(({ reference }) => !knownReferences.has(reference)),
  );
  for (const row of rows) if (recordedIds.has(row.id)) audit({ resourceId: row.id, old: null, new: row });
  return { recorded: recordedIds.size, known: reports.length - recordedIds.size };
}

export type PastCommissionRow = Selectable<PastCommissionsTable>;

/** References of a source that are recorded, by a report or by a file. */
async function listKnownReferences(db: Db, brandId: string, source: string, references: readonly string[]) {
  const rows = await db
    .selectFrom('pastCommissions')
    .select('reference')
    .where('brandId', '=', brandId)
    .where('source', '=', source)
    .where(sql<boolean>`reference = any(${[...references]}::text[])`)
    .execute();
  return new Set(rows.map(({ reference }) => reference));
}

/** Inserts those that are not known, and returns their ids. */
export async function insertPast({ db }: Work, rows: readonly PastCommissionRow[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const { rows: inserted } = await sql<{ id: string }>`${toInsert('past_commissions', rows)}
    on conflict do nothing returning id`.execute(db);
  return new Set(inserted.map(({ id }) => id));
}

export const pastCommissions = listing({
  noun: 'past commission',
  table: 'past_commissions',
  isCounted: true,
  time: 'paidAt',
  changed: ['createdAt'],
  shown: [showCreator('past_commissions')],
  sums: {
    currency: sql.ref('pastCommissions.currency'),
    of: { amount: sql.ref('pastCommissions.amountMinor') },
  },
  matching: (db, brandId, { creator_email: email, source }: Omit<PastCommissionFilter, keyof Page>) =>
    db
      .selectFrom('pastCommissions')
      .where(matchesCreator('pastCommissions.creatorId', brandId, email))
      .where((eb) => eb.and(source === undefined ? {} : { source })),
  rows: (db) =>
    db
      .selectFrom('pastCommissions')
      .innerJoin('creators', 'creators.id', 'pastCommissions.creatorId')
      .selectAll('pastCommissions')
      .select(['creators.email as creatorEmail', 'creators.name as creatorName']),
  ranks: { amount: { at: sql.ref('pastCommissions.amountMinor'), of: ({ amountMinor }) => amountMinor } },
});

export type PastCommissionFacts = Awaited<ReturnType<typeof pastCommissions.get>>;
