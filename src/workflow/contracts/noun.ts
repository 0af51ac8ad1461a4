import { noun } from '../../kit/operation/noun.ts';
import { expireContracts } from './jobs.ts';
import { contractMails } from './mails.ts';
import { contractOperations } from './routes.ts';

export const contracts = noun({
  name: 'contracts',
  tag: {
    name: 'Contracts',
    about: 'Agreements that creators sign on a private page.',
  },
  ids: { contracts: 'ctr' },
  operations: contractOperations,
  jobs: [expireContracts],
  mails: contractMails,
});
