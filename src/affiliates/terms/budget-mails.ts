import { sql } from 'kysely';
import { z } from 'zod';
import { getAmountMinor } from '../../analytics/pricing/rules.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { queueMails } from '../../kit/mail/queue.ts';
import { template } from '../../kit/mail/template.ts';
import type { Work } from '../../kit/operation/work.ts';
import { formatMoney } from '../../kit/values/format.ts';
import { listOwners } from '../../platform/people/people.ts';
import { TERMS_PLACES } from '../../workflow/terms/places.ts';
import type { Terms } from '../../workflow/terms/terms.shapes.ts';

const params = z.object({
  place: z.enum(TERMS_PLACES),
  name: z.string().nullable(),
  currency: z.string(),
  per: z.enum(['month', 'ever']),
  limit_minor: z.int(),
  used_minor: z.int(),
});
type Params = z.output<typeof params>;

const PLACE_WORDS = {
  link: 'the code or link',
  group: 'the group',
  campaign: 'the campaign',
  brand: 'all codes and links',
} as const;

const toFacts = ({ place, name, currency, per, limit_minor, used_minor }: Params) => [
  ['Budget of', name === null ? PLACE_WORDS[place] : `${PLACE_WORDS[place]} ${name}`] as const,
  [per === 'month' ? 'Limit a month' : 'Limit', formatMoney(limit_minor, currency)] as const,
  ['Paid orders pay', formatMoney(used_minor, currency)] as const,
];

const afterwards = ({ per }: Params) => (per === 'month' ? 'until the next month begins' : 'unless you raise it');

/** Paid orders reached four fifths of a budget. */
const budgetUsed = template({
  audience: 'brand',
  params,
  write: (budget) => ({
    subject: `80% of the budget of ${budget.name ?? PLACE_WORDS[budget.place]} is used`,
    paragraphs: [`Once nothing is left, orders pay their creators nothing from it, ${afterwards(budget)}.`],
    facts: toFacts(budget),
  }),
});

const budgetSpent = template({
  audience: 'brand',
  params,
  write: (budget) => ({
    subject: `The budget of ${budget.name ?? PLACE_WORDS[budget.place]} is spent`,
    paragraphs: [`Further orders pay their creators nothing from it, ${afterwards(budget)}.`],
    facts: toFacts(budget),
  }),
});

export const budgetMails = mails({ budget_used: budgetUsed, budget_spent: budgetSpent });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof budgetMails> {}
}

const Place = z.object({ place: z.enum(TERMS_PLACES), placeId: z.string(), name: z.string().nullable() });

/** Finds the place of a version of terms, with its name. */
async function getPlace(db: Db, brandId: string, termsId: string) {
  const { rows } = await sql`
    select version.place, version.place_id, coalesce(
      (select value from links where place = 'link' and links.brand_id = version.brand_id and links.id = place_id),
      (select name from creator_groups as own where place = 'group' and own.brand_id = version.brand_id and own.id = place_id),
      (select title from campaigns as own where place = 'campaign' and own.brand_id = version.brand_id and own.id = place_id)
    ) as name from terms as version where version.brand_id = ${brandId} and version.id = ${termsId}`.execute(db);
  return Place.parse(rows[0]);
}

const NEARLY = 0.8;

/** One order's part of the budget of its terms. */
interface BudgetUse {
  termsId: string;
  terms: Terms;
  currency: string;
  /** The month in the brand's time zone in which it was placed, such as 2026-11. */
  month: string;
  /** The sums of other orders, and of this one. */
  usedMinor: number;
  takenMinor: number;
}

/** Mails the owners when an order makes a budget reach four fifths, and when it spends it: once for each month and limit. */
export async function mailBudgetUse(work: Work, use: BudgetUse): Promise<void> {
  const { termsId, terms, currency, month, usedMinor, takenMinor } = use;
  const limitMinor = getAmountMinor(terms.budget?.amount, currency);
  if (limitMinor === undefined || !terms.budget) return;
  const after = usedMinor + takenMinor;
  const reaches = (minor: number) => usedMinor < minor && after >= minor;
  const isSpent = reaches(limitMinor);
  if (!isSpent && !reaches(limitMinor * NEARLY)) return;
  const { per } = terms.budget;
  const { place, placeId, name } = await getPlace(work.db, work.brandId, termsId);
  const period = per === 'month' ? month : 'ever';
  const owners = await listOwners(work.db, work.brandId);
  await queueMails(
    work,
    owners.map(({ email }) => ({
      kind: isSpent ? ('budget_spent' as const) : ('budget_used' as const),
      to: email,
      subjectRow: `${placeId}:${currency}:${period}:${limitMinor}`,
      params: { place, name, currency, per, limit_minor: limitMinor, used_minor: after },
    })),
  );
}
