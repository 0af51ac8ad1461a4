import { noun } from '../../../kit/operation/noun.ts';
import { pastCommissionOperations } from './routes.ts';

export const pastCommissionsNoun = noun({
  name: 'past-commissions',
  tag: {
    name: 'Past commissions',
    about: 'A record of what creators were paid with another tool. It pays nobody, and no figure counts it.',
  },
  ids: { 'past-commissions': 'pcm' },
  operations: pastCommissionOperations,
});
