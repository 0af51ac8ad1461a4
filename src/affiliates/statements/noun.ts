import { noun } from '../../kit/operation/noun.ts';
import { disputeMails } from './disputes/mails.ts';
import { disputeOperations } from './disputes/routes.ts';
import { statementMails } from './mails.ts';
import { statementOperations } from './routes.ts';

export const statements = noun({
  name: 'statements',
  ids: { statements: 'stm', lines: 'com', disputes: 'dsp' },
  operations: [...statementOperations, ...disputeOperations],
  mails: { ...statementMails, ...disputeMails },
});
