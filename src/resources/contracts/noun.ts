import { noun } from '../../operation/noun.ts';
import { expireContracts } from './jobs.ts';
import { contractMails } from './mails.ts';
import { contractOperations } from './routes.ts';

export const contracts = noun({
  name: 'contracts',
  tag: {
    name: 'Contracts',
    about: 'What is agreed on, signed by the creator on a page of their own.',
  },
  ids: { contracts: 'ctr' },
  operations: contractOperations,
  jobs: [expireContracts],
  mails: contractMails,
});
