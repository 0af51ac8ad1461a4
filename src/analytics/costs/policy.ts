import { type Problem, validationError } from '../../kit/values/errors.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor, toPpm } from '../../kit/values/money.ts';
import type { CostCreate } from './schema.ts';

/** A cost as entered, complete. */
export type EnteredCost = Omit<CostCreate, 'note' | 'currency'> & { currency: string | null };

const amountIssue = ({ kind, amount, currency }: EnteredCost): string | undefined => {
  if (kind !== 'cogs_percent') return currency === null ? undefined : amountProblem(amount, currency, MAX_AMOUNT_MINOR);
  if (amount > 100) return 'must be at most 100 percent';
  return toPpm(amount) === undefined ? 'must have at most four decimals' : undefined;
};

function problemsOf(cost: EnteredCost): Problem[] {
  const { scope, kind, campaign_id: campaign, sku, currency, from, to } = cost;
  const checks: [field: string, message: string | undefined | false][] = [
    ['scope', scope === 'product' && kind !== 'per_item' && `must be brand or campaign for ${kind}, not product`],
    ['scope', scope !== 'product' && kind === 'per_item' && `must be product for per_item, not ${scope}`],
    ['campaign_id', scope === 'campaign' && campaign === null && 'must be a campaign, because scope is campaign'],
    ['campaign_id', scope !== 'campaign' && campaign !== null && `must be null, because scope is ${scope}`],
    ['sku', scope === 'product' && sku === null && 'must be a SKU, because scope is product'],
    ['sku', scope !== 'product' && sku !== null && `must be null, because scope is ${scope}`],
    ['currency', kind === 'cogs_percent' && currency !== null && 'must be null for cogs_percent'],
    ['from', kind === 'fixed' && from === null && 'must be the first day of a fixed cost'],
    ['to', from !== null && to !== null && to < from && `must not be before from, ${from}`],
    ['amount', amountIssue(cost)],
  ];
  return checks.flatMap(([field, message]) => (message ? [{ field, code: 'invalid', message }] : []));
}

/** The columns of what was entered. Throws VALIDATION_ERROR. */
export function storedCost(cost: EnteredCost) {
  const problems = problemsOf(cost);
  if (problems.length > 0) throw validationError(problems);
  const { scope, kind, campaign_id: campaignId, sku, amount, currency, from: fromDay, to: toDay } = cost;
  const isPercent = kind === 'cogs_percent';
  return {
    ...{ scope, kind, campaignId, sku, currency, fromDay, toDay },
    ratePpm: isPercent ? (toPpm(amount) ?? null) : null,
    amountMinor: isPercent || currency === null ? null : (toMinor(amount, currency) ?? null),
  };
}
