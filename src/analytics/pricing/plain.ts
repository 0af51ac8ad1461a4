import type { AmountsByCurrency, RateTerms, Terms } from '../../workflow/terms/terms.shapes.ts';

const CAPS = ['order', 'customer', 'month'] as const;

/** Plain terms are a percentage and what it covers, which is all that a link had before there were terms. */
export function isPlain({ rate, rules, months, payments, caps, budget }: Terms): boolean {
  const hasCaps = CAPS.some((cap) => caps?.[cap] !== undefined);
  const isLimited = months !== null || payments !== null || hasCaps || budget !== null;
  return rate.percent !== undefined && rules.length === 0 && !isLimited;
}

/** The terms of a link that has a rate and nothing else. */
export function makePlainTerms(percent: number, covers: Terms['covers']): Terms {
  return { rate: { percent }, rules: [], covers, months: null, payments: null, caps: null, budget: null };
}

/** The two fields in which a link says its deal without terms; a flat base shows as 0 percent. */
export const toPlainFields = ({ rate, covers }: Terms): { percent: number; paysRenewals: boolean } => ({
  percent: rate.percent ?? 0,
  paysRenewals: covers !== 'order',
});

/** Applies `commission_rate` and `pays_renewals` of a link to its terms. Terms for one order have no duration. */
export function changePlainFields(terms: Terms, change: { percent?: number; paysRenewals?: boolean }): Terms {
  const { percent, paysRenewals } = change;
  const ratedTerms = percent === undefined ? terms : { ...terms, rate: { percent } };
  if (paysRenewals === undefined || paysRenewals === (terms.covers !== 'order')) return ratedTerms;
  return paysRenewals
    ? { ...ratedTerms, covers: 'subscription' }
    : { ...ratedTerms, covers: 'order', months: null, payments: null };
}

const listRates = ({ rate, rules }: Terms): RateTerms[] => [rate, ...rules.map((rule) => rule.rate)];

export const hasFlatRate = (terms: Terms): boolean => listRates(terms).some(({ flat }) => flat !== undefined);

/** A limit that is dropped or raised in any of its currencies lets more money out. */
function isLifted(before: AmountsByCurrency | undefined, after: AmountsByCurrency | undefined): boolean {
  return Object.entries(before ?? {}).some(([currency, amount]) => (after?.[currency] ?? Infinity) > amount);
}

/** A change that lifts a cap or the budget needs a person where an agent proposes it. */
export function liftsLimit(before: Terms, after: Terms): boolean {
  const isBudgetLifted =
    isLifted(before.budget?.amount, after.budget?.amount) ||
    (before.budget?.per === 'ever' && after.budget?.per === 'month');
  return isBudgetLifted || CAPS.some((cap) => isLifted(before.caps?.[cap], after.caps?.[cap]));
}
