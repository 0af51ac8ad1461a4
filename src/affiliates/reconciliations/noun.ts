import { noun } from '../../kit/operation/noun.ts';
import { registerKind } from '../../platform/jobs/actions.ts';
import { RECONCILIATION } from './actions.ts';
import { reconciliationKind, removeReconciled } from './jobs.ts';
import { reconciliationOperations } from './routes.ts';

registerKind(RECONCILIATION, reconciliationKind);

export const reconciliations = noun({
  name: 'reconciliations',
  operations: reconciliationOperations,
  jobs: [removeReconciled],
});
