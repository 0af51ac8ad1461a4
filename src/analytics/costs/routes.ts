import { create, get, list, patch, remove } from '../../kit/operation/kit.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { applyPatch } from '../../kit/values/patch.ts';
import { getBrandCurrency } from '../../platform/brands/queries.ts';
import { getCampaign } from '../../workflow/campaigns/campaigns.ts';
import { costs, countCosts, deleteCost, insertCost, lockBrand, storedCost, updateCost } from './costs.ts';
import { amountOf, Cost, CostCreate, CostFilter, CostPatch, costOf } from './schema.ts';

const MAX_COSTS = 1_000;

const tag = 'Costs';
const all = { path: '/v1/costs', tag, item: Cost } as const;
const one = { path: '/v1/costs/{id}', tag, item: Cost } as const;

/** The returns that agents read name what is missing, for people to enter. */
const forAgents = false;

export const costOperations = [
  list({
    ...all,
    ...{ id: 'list_costs', summary: "The brand's costs", description: 'Newest first.' },
    forAgents: { description: 'As people entered them, for get_analytics_returns.', example: {} },
    query: CostFilter,
    rows: costs,
    itemOf: costOf,
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
    apply: async ({ db, now, brandId, audit }, { body: { note, ...entered } }) => {
      await lockBrand(db, brandId);
      if ((await countCosts(db, brandId)) >= MAX_COSTS) {
        throw new ApiError('CONFLICT', `A brand has at most ${MAX_COSTS} costs; delete one first.`);
      }
      const own = entered.kind === 'cogs_percent' ? null : await getBrandCurrency(db, brandId);
      const stored = storedCost({ ...entered, currency: entered.currency ?? own });
      if (stored.campaignId !== null) await getCampaign(db, brandId, stored.campaignId);
      const id = newId('cst', now.getTime());
      const row = await insertCost(db, { id, brandId, ...stored, note, createdAt: now, updatedAt: null });
      audit({ resourceId: id, old: null, new: row });
      return costOf(row);
    },
  }),
  get({
    ...one,
    ...{ id: 'get_cost', summary: 'One cost', description: 'Returns the cost as entered.', forAgents },
    find: async ({ postgres }, { caller, params }) => costOf(await costs.get(postgres.db, caller.brandId, params.id)),
  }),
  patch({
    ...one,
    id: 'update_cost',
    summary: 'Change a cost',
    description: 'Returns of earlier periods change with it. To keep them, set `to` and create another cost.',
    forAgents,
    body: CostPatch,
    errors: ['NOT_FOUND'],
    apply: async ({ db, now, brandId, audit }, { params: { id }, body: { note, ...changes } }) => {
      const old = await costs.lock(db, brandId, id);
      const { scope, campaignId, sku, kind, currency, fromDay, toDay } = old;
      const before = { scope, campaign_id: campaignId, sku, kind, currency, amount: amountOf(old) };
      const stored = storedCost(applyPatch({ ...before, from: fromDay, to: toDay }, changes));
      const row = await updateCost(db, brandId, id, {
        ...stored,
        ...applyPatch({ note: old.note }, { note }),
        updatedAt: now,
      });
      audit({ resourceId: id, old, new: row });
      return costOf(row);
    },
  }),
  remove({
    ...{ id: 'delete_cost', path: '/v1/costs/{id}', tag },
    ...{ summary: 'Delete a cost', description: 'Returns of earlier periods are then computed without this cost.' },
    forAgents,
    item: Cost,
    errors: ['NOT_FOUND'],
    apply: async ({ db, brandId, audit }, { params: { id } }) => {
      const row = await costs.lock(db, brandId, id);
      await deleteCost(db, brandId, id);
      audit({ resourceId: id, old: row, new: null });
      return costOf(row);
    },
  }),
] as const;
