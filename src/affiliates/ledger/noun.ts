import { noun } from '../../kit/operation/noun.ts';
import { reconcileJob } from './jobs.ts';
import { journalOperations } from './journal/routes.ts';
import { ledgerOperations } from './routes.ts';

export const ledger = noun({
  name: 'ledger',
  ids: { ledger: 'led' },
  operations: [...ledgerOperations, ...journalOperations],
  jobs: [reconcileJob],
});
