import { noun } from '../../operation/noun.ts';
import { commissionOperations } from './routes.ts';

export const commissions = noun({
  name: 'commissions',
  tag: {
    name: 'Commissions',
    about: 'What orders earned for creators: review them here.',
  },
  ids: { commission: 'com', commissions: 'com' },
  operations: commissionOperations,
});
