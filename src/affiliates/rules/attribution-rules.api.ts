import { get, patch } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { getBrandCurrency, lockBrand } from '../../platform/brands/brands.ts';
import { changeWithNews } from '../../workflow/terms/news.ts';
import { setTerms } from '../../workflow/terms/versions.ts';
import {
  AttributionRules,
  AttributionRulesPatch,
  getRules,
  parseMinOrder,
  showRules,
  updateRules,
} from './attribution-rules.ts';

const path = '/v1/affiliates/rules';
const tag = 'Affiliates';

const attributionRulesOperations = [
  get({
    id: 'get_attribution_rules',
    path,
    tag,
    item: AttributionRules,
    summary: 'Get the attribution rules',
    description:
      'These rules apply to all codes and links. Each also has its own rate, review period and attribution window.',
    forAgents: { isListed: false },
    find: async ({ postgres: { db }, clock }, { caller: { brandId } }) => {
      const [row, currency] = [await getRules(db, brandId), await getBrandCurrency(db, brandId)];
      return await showRules(db, { row, currency, now: clock.now() });
    },
  }),
  patch({
    id: 'update_attribution_rules',
    path,
    tag,
    item: AttributionRules,
    summary: 'Change the attribution rules',
    description:
      'Only the fields that you send change; null clears one. Applies to orders that arrive from now on. ' +
      '`/v1/affiliates/simulate` shows what a rule would have changed.',
    forAgents: { isListed: false },
    hints: { planned: true },
    body: AttributionRulesPatch,
    apply: async (work, { body }) => {
      const { db, now, brandId } = work;
      const currency = await getBrandCurrency(db, brandId);
      const minOrder = parseMinOrder('min_order', body.min_order, currency);
      if (body.terms !== undefined) await lockBrand(db, brandId);
      const old = await getRules(db, brandId);
      const place = { place: 'brand', placeId: brandId } as const;
      const row = await changeWithNews(work, { ...place, isTold: body.notify ?? false }, async () => {
        const termsId = body.terms === undefined ? undefined : await setTerms(work, place, body.terms);
        return await updateRules(db, brandId, {
          ...omitUndefined({
            model: body.model,
            couponPolicy: body.coupon_policy,
            customerPolicy: body.customer_policy,
            termsId,
          }),
          ...(minOrder === undefined
            ? {}
            : { minOrderMinor: minOrder?.minor ?? null, minOrderCurrency: minOrder?.currency ?? null }),
          updatedAt: now,
        });
      });
      work.audit({ resourceId: brandId, old, new: row });
      return await showRules(db, { row, currency, now });
    },
  }),
] as const;

export const attributionRules = noun({ name: 'attribution-rules', operations: attributionRulesOperations });
