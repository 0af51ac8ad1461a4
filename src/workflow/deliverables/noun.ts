import { noun } from '../../kit/operation/noun.ts';
import { deliverableMails } from './mails.ts';
import { deliverableOperations } from './routes.ts';

export const deliverables = noun({
  name: 'deliverables',
  tag: {
    name: 'Deliverables',
    about: 'Single pieces of work that a creator owes, with every submitted version.',
  },
  ids: { deliverables: 'dlv' },
  operations: deliverableOperations,
  mails: deliverableMails,
});
