import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '../../kit/values/canonical.ts';
import type { AmountsByCurrency, RateTerms, Terms } from './terms.shapes.ts';

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

/** One text for one deal, whatever the order of its fields was. */
export function canonicalTerms(terms: Terms): string {
  const json: Json = JSON.parse(JSON.stringify(terms));
  return canonicalJson(json);
}

/** The SHA-256 of the canonical text, in hex. */
export const hashTerms = (terms: Terms): string => createHash('sha256').update(canonicalTerms(terms)).digest('hex');

const listRates = ({ rate, rules }: Terms): RateTerms[] => [rate, ...rules.map((rule) => rule.rate)];

/** The highest percentage of the base and of all rules; null if they pay flat amounts only. */
export function highestPercent(terms: Terms): number | null {
  const percents = listRates(terms).flatMap(({ percent }) => (percent === undefined ? [] : [percent]));
  return percents.length === 0 ? null : Math.max(...percents);
}

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
