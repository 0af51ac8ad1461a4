import { read } from '../../kit/operation/kit.ts';
import { listHandlers } from '../../kit/operation/list.ts';
import { mails } from './queries.ts';
import { Mail, MailFilter, MailList, mailOf } from './schema.ts';

export const mailOperations = [
  read({
    id: 'list_mails',
    path: '/v1/mails',
    tag: 'Messages',
    summary: 'Mails sent on behalf of the brand',
    description: 'Newest first, with their delivery state. Sent and suppressed mails are deleted after 30 days.',
    query: MailFilter,
    response: MailList,
    ...listHandlers(mails, Mail, mailOf),
  }),
] as const;
