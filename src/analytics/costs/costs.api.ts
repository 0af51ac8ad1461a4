import { z } from 'zod';
import { create, get, list, patch, remove } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { newId } from '../../kit/values/ids.ts';
import { Currency, fromPpm } from '../../kit/values/money.ts';
import { ListQuery } from '../../kit/values/page.ts';
import { applyPatch } from '../../kit/values/patch.ts';
import { getBrandCurrency, lockBrand } from '../../platform/brands/brands.ts';
import { getCampaign } from '../../workflow/campaigns/campaigns.ts';
import { type CostRow, costRows, costs, countCosts, toCostColumns } from './costs.ts';

const KINDS = ['cogs_percent', 'fixed', 'per_order', 'per_item'] as const;
export type CostKind = (typeof KINDS)[number];

const scope = z
  .enum(['brand', 'campaign', 'product'])
  .describe(
    "What the cost applies to. For its orders, a cost of a campaign replaces the brand's costs of the same kind, except `fixed` ones.",
  )
  .meta({ example: 'brand' });
const kind = z
  .enum(KINDS)
  .describe(
    '`cogs_percent`: goods, in percent of revenue. `per_order`: for each order, such as packing. `fixed`: once, spread ' +
      'evenly over its days, such as an agency. `per_item`: for each item of a product that is sold or sent to a creator; ' +
      'for sold items it replaces `cogs_percent`.',
  )
  .meta({ example: 'cogs_percent' });
const amount = z
  .number()
  .min(0)
  .describe('Percent for `cogs_percent`, otherwise an amount in major units of `currency`.')
  .meta({ example: 35 });
const campaignId = z.string().max(100).nullable().meta({ example: null });
const sku = z.string().trim().min(1).max(100).nullable().meta({ example: null });
const day = z.iso.date().nullable();
const from = day
  .describe('First day of the cost; null if it has no start. `fixed` requires it.')
  .meta({ example: '2026-03-01' });
const to = day
  .describe('Last day of the cost; null if it has no end. A `fixed` cost without it counts on its first day.')
  .meta({ example: null });
const note = z
  .string()
  .trim()
  .max(2_000)
  .nullable()
  .describe('Text about the cost; null for none.')
  .meta({ example: 'Average of 2026' });

const campaignText = 'The campaign that has the cost; null unless `scope` is `campaign`.';
const skuText = 'SKU of the product, as in shipments; null unless `scope` is `product`.';
const currencyText = 'ISO 4217 code of `amount`; null for a percentage.';

export const Cost = z
  .object({
    id: idField('cst', 'Cost id.'),
    scope,
    campaign_id: campaignId.describe(campaignText),
    sku: sku.describe(skuText),
    kind,
    amount,
    currency: z.string().nullable().describe(currencyText).meta({ example: null }),
    from,
    to,
    note,
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Cost' });

export const CostCreate = z
  .object({
    scope: scope.default('brand'),
    campaign_id: campaignId.default(null).describe(campaignText),
    sku: sku.default(null).describe(skuText),
    kind,
    amount,
    currency: Currency.nullable()
      .optional()
      .describe("ISO 4217 code of `amount`; the brand's currency by default. Not for a percentage.")
      .meta({ example: null }),
    from: from.default(null),
    to: to.default(null),
    note: note.default(null),
  })
  .meta({ id: 'CostCreate' });
export type CostCreate = z.output<typeof CostCreate>;

export const CostPatch = z
  .object({ amount: amount.optional(), from: from.optional(), to: to.optional(), note: note.optional() })
  .meta({ id: 'CostPatch' });
export type CostPatch = z.output<typeof CostPatch>;

export const CostFilter = z.object({
  ...ListQuery,
  kind: z.enum(KINDS).optional().describe('Only costs of this kind.'),
  campaign_id: z.string().max(100).optional().describe('Only costs of this campaign.'),
});
export type CostFilter = z.output<typeof CostFilter>;

/** The amount of a row as it was entered: percent, or major units. */
const toAmount = ({ ratePpm, amountMinor, currency }: Pick<CostRow, 'ratePpm' | 'amountMinor' | 'currency'>) =>
  currency === null ? fromPpm(ratePpm ?? 0) : fromMinor(amountMinor ?? 0, currency);

const toCost = (row: CostRow): z.input<typeof Cost> => ({
  id: row.id,
  scope: row.scope,
  campaign_id: row.campaignId,
  sku: row.sku,
  kind: row.kind,
  amount: toAmount(row),
  currency: row.currency,
  from: row.fromDay,
  to: row.toDay,
  note: row.note,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt?.toISOString() ?? null,
});

const MAX_COSTS = 1_000;

const tag = 'Costs';
const all = { path: '/v1/costs', tag, item: Cost } as const;
const one = { path: '/v1/costs/{id}', tag, item: Cost } as const;

const forAgents = { isListed: false };

const costOperations = [
  list({
    ...all,
    id: 'list_costs',
    summary: 'List costs',
    description: 'Newest first.',
    forAgents: { description: 'As people entered them, for get_analytics_returns.', example: {} },
    query: CostFilter,
    rows: costs,
    itemOf: toCost,
  }),
  create({
    ...all,
    id: 'create_cost',
    summary: 'Enter a cost',
    description:
      'Costs of the same scope and kind add up. `/v1/analytics/returns` computes profit from them. A brand can have 1,000 costs.',
    forAgents,
    body: CostCreate,
    errors: ['NOT_FOUND', 'CONFLICT'],
    apply: async (work, { body: { note, ...entered } }) => {
      const { db, now, brandId } = work;
      // Concurrent calls must count each other's costs.
      await lockBrand(db, brandId);
      if ((await countCosts(db, brandId)) >= MAX_COSTS) {
        throw new ApiError('CONFLICT', `A brand has at most ${MAX_COSTS} costs; delete one first.`);
      }
      const own = entered.kind === 'cogs_percent' ? null : await getBrandCurrency(db, brandId);
      const columns = toCostColumns({ ...entered, currency: entered.currency ?? own });
      if (columns.campaignId !== null) await getCampaign(db, brandId, columns.campaignId);
      const id = newId('cst', now.getTime());
      return toCost(await costRows.insert(work, { id, ...columns, note, createdAt: now, updatedAt: null }));
    },
  }),
  get({
    ...one,
    id: 'get_cost',
    summary: 'Get a cost',
    description: 'Returns the cost as entered.',
    forAgents,
    find: async ({ postgres }, { caller, params }) => toCost(await costs.get(postgres.db, caller.brandId, params.id)),
  }),
  patch({
    ...one,
    id: 'update_cost',
    summary: 'Change a cost',
    description: 'Returns of earlier periods change with it. To keep them, set `to` and create another cost.',
    forAgents,
    body: CostPatch,
    errors: ['NOT_FOUND'],
    apply: async (work, { params: { id }, body: { note, ...changes } }) => {
      const old = await costRows.lock(work, id);
      const { scope, campaignId, sku, kind, currency, fromDay, toDay } = old;
      const before = { scope, campaign_id: campaignId, sku, kind, currency, amount: toAmount(old) };
      const columns = toCostColumns(applyPatch({ ...before, from: fromDay, to: toDay }, changes));
      const newNote = applyPatch({ note: old.note }, { note });
      return toCost(await costRows.update(work, old, { ...columns, ...newNote, updatedAt: work.now }));
    },
  }),
  remove({
    id: 'delete_cost',
    path: '/v1/costs/{id}',
    tag,
    summary: 'Delete a cost',
    description: 'Returns of earlier periods are then computed without this cost.',
    forAgents,
    item: Cost,
    errors: ['NOT_FOUND'],
    apply: async (work, { params: { id } }) => {
      const row = await costRows.lock(work, id);
      await costRows.delete(work, row);
      return toCost(row);
    },
  }),
] as const;

export const costsNoun = noun({
  name: 'costs',
  tag: { name: 'Costs', about: "The brand's own costs, from which `/v1/analytics/returns` computes profit." },
  ids: { costs: 'cst' },
  operations: costOperations,
});
