import { noun } from '../../operation/noun.ts';
import { pastCommissionOperations } from './routes.ts';

export const pastCommissions = noun({
  name: 'past-commissions',
  tag: {
    name: 'Past commissions',
    about: 'What creators were paid with another tool, as a record: it pays nobody, and no figure counts it.',
  },
  ids: { 'past-commissions': 'pcm' },
  operations: pastCommissionOperations,
});
