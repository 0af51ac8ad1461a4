import { noun } from '../../../kit/operation/noun.ts';
import { fraudRulesOperations } from './routes.ts';

export const fraudRules = noun({
  name: 'fraud-rules',
  tag: { name: 'Fraud rules', about: 'What happens to the commissions of suspicious orders.' },
  operations: fraudRulesOperations,
});
