import { type Selectable, sql } from 'kysely';
import type { PastCommissionsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import type { Work } from '../../kit/operation/work.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor } from '../../kit/values/money.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { matchesCreator } from '../../workflow/creators/creators.ts';
import type { PastCommissionsReported } from './past/schema.ts';

/** Records all that are not known yet, or throws everything that is wrong with them. */
export async function recordPast(work: Work, { source, past_commissions: reported }: PastCommissionsReported) {
  const { db, now, brandId, audit } = work;
  const emailOf = (one: { creator_email: string }) => one.creator_email.toLowerCase();
  const creators = await listRosterIds(db, brandId, reported.map(emailOf));
  const problems: Problem[] = [];
  const rows: PastCommissionRow[] = [];
  for (const [i, { creator_email: email, amount, currency, paid_at: paidAt, reference }] of reported.entries()) {
    const refuse = (field: string, code: string, message: string) =>
      problems.push({ field: `past_commissions.${i}.${field}`, code, message });
    const creatorId = creators.get(email.toLowerCase());
    const wrong = amountProblem(amount, currency, MAX_AMOUNT_MINOR);
    const amountMinor = toMinor(amount, currency);
    if (creatorId === undefined) refuse('creator_email', 'not_on_roster', `${email} is not on the roster.`);
    if (wrong !== undefined) refuse('amount', 'invalid', `${wrong}; got ${amount}.`);
    if (creatorId === undefined || amountMinor === undefined) continue;
    const id = newId('pcm', now.getTime());
    rows.push({ id, brandId, creatorId, source, reference, amountMinor, currency, paidAt, createdAt: now });
  }
  if (problems.length > 0) throw validationError(problems);
  const made = new Set(await insertNew(db, rows));
  for (const row of rows) if (made.has(row.id)) audit({ resourceId: row.id, old: null, new: row });
  return { recorded: made.size, known: reported.length - made.size };
}

type PastCommissionRow = Selectable<PastCommissionsTable>;

interface PastCommissionWhere extends ListWindow {
  creator_email?: string | undefined;
  source?: string | undefined;
}

const withCreator = (db: Db) =>
  db
    .selectFrom('pastCommissions')
    .innerJoin('creators', 'creators.id', 'pastCommissions.creatorId')
    .selectAll('pastCommissions')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName']);

export const pastCommissions = listing({
  noun: 'past commission',
  table: 'pastCommissions',
  time: 'paidAt',
  changed: ['createdAt'],
  matching: (db, brandId, { creator_email: email, source }: PastCommissionWhere) =>
    db
      .selectFrom('pastCommissions')
      .where(matchesCreator('pastCommissions.creatorId', brandId, email))
      .where((eb) => eb.and(source === undefined ? {} : { source })),
  rows: withCreator,
});

export type PastCommissionFacts = Awaited<ReturnType<typeof pastCommissions.get>>;

/** Ids of creators who are or were on the roster, by their addresses in lower case. */
async function listRosterIds(db: Db, brandId: string, emails: readonly string[]): Promise<Map<string, string>> {
  const email = sql<string>`lower(creators.email)`;
  const rows = await db
    .selectFrom('creators')
    .innerJoin('rosterEntries as entry', 'entry.creatorId', 'creators.id')
    .select(['creators.id', email.as('email')])
    .where('creators.brandId', '=', brandId)
    .where(sql<boolean>`${email} = any(${emails}::text[])`)
    .execute();
  return new Map(rows.map(({ id, email: found }) => [found, id]));
}

/** Leaves those that are known by source and reference as they are; returns the ids of the new ones. */
async function insertNew(db: Db, rows: readonly PastCommissionRow[]): Promise<string[]> {
  const { rows: made } = await sql<{ id: string }>`${toInsert('past_commissions', rows)}
    on conflict (brand_id, source, reference) do nothing returning id`.execute(db);
  return made.map(({ id }) => id);
}

export async function deletePastCommission(db: Db, brandId: string, id: string): Promise<void> {
  await db.deleteFrom('pastCommissions').where('brandId', '=', brandId).where('id', '=', id).execute();
}
