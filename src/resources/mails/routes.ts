import { read } from '../../operation/kit.ts';
import { answersOf } from '../../operation/list.ts';
import { mails } from './queries.ts';
import { Mail, MailFilter, MailList, mailOf } from './schema.ts';

const listMails = read({
  id: 'list_mails',
  path: '/v1/mails',
  tag: 'Messages',
  summary: 'Mails that the brand caused, and what became of them',
  description: 'Newest first. Mails that were sent or not wanted are forgotten after 30 days.',
  query: MailFilter,
  response: MailList,
  ...answersOf(mails, Mail, mailOf),
});

export const mailOperations = [listMails] as const;
