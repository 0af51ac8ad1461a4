import { answersOf } from '../../operation/list.ts';
import { nothing, operation } from '../../operation/operation.ts';
import { mails } from './queries.ts';
import { Mail, MailFilter, MailList, mailOf } from './schema.ts';

const listMails = operation({
  id: 'list_mails',
  method: 'GET',
  path: '/v1/mails',
  tag: 'Messages',
  summary: 'Mails that the brand caused, and what became of them',
  description: 'Newest first. Mails that were sent or not wanted are forgotten after 30 days.',
  callers: ['brand'],
  params: nothing,
  query: MailFilter,
  body: nothing,
  response: MailList,
  hints: { readOnly: true, idempotent: true, destructive: false },
  ...answersOf(mails, Mail, mailOf),
});

export const mailOperations = [listMails] as const;
