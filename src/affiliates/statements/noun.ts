import { noun } from '../../kit/operation/noun.ts';
import { disputeOperations } from './disputes.api.ts';
import { statementOperations } from './routes.ts';
import { disputeMails, statementMails } from './statements.mails.ts';

export const statementsNoun = noun({
  name: 'statements',
  ids: { statements: 'stm', lines: 'com', disputes: 'dsp' },
  operations: [...statementOperations, ...disputeOperations],
  mails: { ...statementMails, ...disputeMails },
});
