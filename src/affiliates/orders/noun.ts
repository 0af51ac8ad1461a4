import { noun } from '../../kit/operation/noun.ts';
import { registerKind } from '../../platform/jobs/actions.ts';
import { checkReferrers } from './fraud/jobs.ts';
import { askForJourneysDue } from './jobs.ts';
import { reportingOperations } from './reporting/routes.ts';
import { orderOperations } from './routes.ts';
import { SIMULATION } from './simulation/actions.ts';
import { simulationKind } from './simulation/jobs.ts';
import { simulationOperations } from './simulation/routes.ts';

registerKind(SIMULATION, simulationKind);

export const orders = noun({
  name: 'orders',
  tag: { name: 'Orders', about: 'What customers bought in your stores, and which creators it paid.' },
  ids: { orders: 'ord' },
  operations: [...orderOperations, ...reportingOperations, ...simulationOperations],
  jobs: [askForJourneysDue, checkReferrers],
});
