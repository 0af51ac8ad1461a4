import { noun } from '../../kit/operation/noun.ts';
import { costOperations } from './routes.ts';

export const costsNoun = noun({
  name: 'costs',
  tag: { name: 'Costs', about: "The brand's own costs, from which `/v1/analytics/returns` computes profit." },
  ids: { costsNoun: 'cst' },
  operations: costOperations,
});
