import type { Selectable } from 'kysely';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { CostsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { table } from '../../kit/operation/table.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor, toPpm } from '../../kit/values/money.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import type { CostCreate, CostFilter } from './costs.api.ts';

export type CostRow = Selectable<CostsTable>;

export const costs = listing({
  noun: 'cost',
  table: 'costs',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, { kind, campaign_id: campaignId }: Omit<CostFilter, keyof Page>) =>
    db.selectFrom('costs').where((eb) => eb.and(omitUndefined({ kind, campaignId }))),
  rows: (db) => db.selectFrom('costs').selectAll(),
});

/** All costs of the brand; a brand has few. */
export async function listCosts(db: Db, brandId: string): Promise<CostRow[]> {
  return await db.selectFrom('costs').selectAll().where('brandId', '=', brandId).orderBy('id').execute();
}

export const countCosts = (db: Db, brandId: string): Promise<number> =>
  countRows(db.selectFrom('costs').select(COUNT).where('brandId', '=', brandId));

export const costRows = table<CostsTable>('costs', 'cost');

/** A complete cost as it was entered. */
export type EnteredCost = Omit<CostCreate, 'note' | 'currency'> & { currency: string | null };

const amountIssue = ({ kind, amount, currency }: EnteredCost): string | undefined => {
  if (kind !== 'cogs_percent') return currency === null ? undefined : amountProblem(amount, currency, MAX_AMOUNT_MINOR);
  if (amount > 100) return 'must be at most 100 percent';
  return toPpm(amount) === undefined ? 'must have at most four decimals' : undefined;
};

function listProblems(cost: EnteredCost): Problem[] {
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

/** Translates an entered cost to columns. Throws VALIDATION_ERROR. */
export function toCostColumns(cost: EnteredCost) {
  const problems = listProblems(cost);
  if (problems.length > 0) throw validationError(problems);
  const { scope, kind, campaign_id: campaignId, sku, amount, currency, from: fromDay, to: toDay } = cost;
  const isPercent = kind === 'cogs_percent';
  return {
    scope,
    kind,
    campaignId,
    sku,
    currency,
    fromDay,
    toDay,
    ratePpm: isPercent ? (toPpm(amount) ?? null) : null,
    amountMinor: isPercent || currency === null ? null : (toMinor(amount, currency) ?? null),
  };
}
