import type { Work } from '../../../kit/operation/work.ts';
import { type Problem, validationError } from '../../../kit/values/errors.ts';
import { newId } from '../../../kit/values/ids.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor } from '../../../kit/values/money.ts';
import { insertNew, listRosterIds, type PastCommissionRow } from './queries.ts';
import type { PastCommissionsReported } from './schema.ts';

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
