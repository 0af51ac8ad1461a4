import { noun } from '../../operation/noun.ts';
import { statementMails } from './mails.ts';
import { statementOperations } from './routes.ts';

export const statements = noun({
  name: 'statements',
  ids: { statements: 'stm', lines: 'com' },
  operations: statementOperations,
  mails: statementMails,
});
