import { noun } from '../../kit/operation/noun.ts';
import { mailOperations } from './routes.ts';

export const mailsNoun = noun({
  name: 'mails',
  ids: { mails: 'mai' },
  operations: mailOperations,
});
