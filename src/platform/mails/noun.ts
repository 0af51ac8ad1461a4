import { noun } from '../../kit/operation/noun.ts';
import { mailOperations } from './routes.ts';

export const mails = noun({
  name: 'mails',
  ids: { mails: 'mai' },
  operations: mailOperations,
});
