import { get, patch } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { lockBrand } from '../../platform/brands/brands.ts';
import { FraudRulesPatch, FraudRulesShown, getFraudRules, patchedRules, replaceFraudRules } from './fraud-rules.ts';

const path = '/v1/fraud-rules';
const tag = 'Fraud rules';

const fraudRulesOperations = [
  get({
    id: 'get_fraud_rules',
    path,
    tag,
    item: FraudRulesShown,
    summary: 'Get the fraud rules',
    description: 'A commission names the rules that its order broke in `fraud_flags`.',
    forAgents: { isListed: false },
    find: async ({ postgres: { db } }, { caller: { brandId } }) => {
      const { rules, updatedAt } = await getFraudRules(db, brandId);
      return { ...rules, updated_at: updatedAt?.toISOString() ?? null };
    },
  }),
  patch({
    id: 'update_fraud_rules',
    path,
    tag,
    item: FraudRulesShown,
    summary: 'Change the fraud rules',
    description:
      'Only the fields that you send change, also inside a rule. Applies to commissions from now on; existing ones keep their flags.',
    forAgents: { isListed: false },
    hints: { planned: true },
    body: FraudRulesPatch,
    apply: async ({ db, now, brandId, audit }, { body }) => {
      // The brand is locked because there is no row of rules to lock before the first change.
      await lockBrand(db, brandId);
      const { rules: old } = await getFraudRules(db, brandId);
      const rules = patchedRules(old, body);
      await replaceFraudRules(db, brandId, rules, now);
      audit({ resourceId: brandId, old, new: rules });
      return { ...rules, updated_at: now.toISOString() };
    },
  }),
] as const;

export const fraudRules = noun({
  name: 'fraud-rules',
  tag: { name: 'Fraud rules', about: 'What happens to the commissions of suspicious orders.' },
  operations: fraudRulesOperations,
});
