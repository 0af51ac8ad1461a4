import { get, patch } from '../../../kit/operation/kit.ts';
import { given } from '../../../kit/values/patch.ts';
import { getBrandCurrency } from '../../../platform/brands/queries.ts';
import { minOrderOf } from './actions.ts';
import { getRules, updateRules } from './queries.ts';
import { AttributionRules, AttributionRulesPatch, shownRules } from './schema.ts';

const path = '/v1/affiliates/rules';
const tag = 'Affiliates';

export const attributionRulesOperations = [
  get({
    id: 'get_attribution_rules',
    ...{ path, tag, item: AttributionRules },
    summary: 'How orders are attributed',
    description:
      'These rules apply to all codes and links. Each also has its own rate, review period and attribution window.',
    forAgents: false,
    find: async ({ postgres: { db } }, { caller: { brandId } }) =>
      shownRules(await getRules(db, brandId), await getBrandCurrency(db, brandId)),
  }),
  patch({
    id: 'update_attribution_rules',
    ...{ path, tag, item: AttributionRules },
    summary: 'Change how orders are attributed',
    description:
      'Set changes, omit keeps, null clears. Applies to orders that arrive from now on. ' +
      '`/v1/affiliates/simulate` shows what a rule would have changed.',
    forAgents: false,
    body: AttributionRulesPatch,
    apply: async ({ db, now, brandId, audit }, { body }) => {
      const currency = await getBrandCurrency(db, brandId);
      const minOrder = minOrderOf('min_order', body.min_order, currency);
      const old = await getRules(db, brandId);
      const row = await updateRules(db, brandId, {
        ...given({ model: body.model, couponPolicy: body.coupon_policy }),
        ...(minOrder === undefined
          ? {}
          : { minOrderMinor: minOrder?.minor ?? null, minOrderCurrency: minOrder?.currency ?? null }),
        updatedAt: now,
      });
      audit({ resourceId: brandId, old, new: row });
      return shownRules(row, currency);
    },
  }),
] as const;
