import type { Follower, Job } from '../operation/job.ts';
import { forgetMails } from './forget.ts';
import { sendDueMails } from './sender.ts';

export const followMails: Follower = {
  name: 'send-mails',
  everyMs: 1_000,
  open: (context, stopping) => () => sendDueMails(context, stopping),
};

export const forgetOldMails: Job = {
  name: 'forget-mails',
  everyMs: 3_600_000,
  asksFor: 'mails that were sent 30 days ago',
  run: ({ postgres, clock }) => forgetMails(postgres.db, clock.now()),
};
