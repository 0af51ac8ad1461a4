import { z } from 'zod';
import { timeText } from '../html/times.ts';
import { type MailsOf, mails } from './kinds.ts';
import { template } from './template.ts';

/** The mail that `cli mail test` sends. */
const mailTest = template({
  audience: 'creator',
  params: z.object({ at: z.iso.datetime() }),
  write: ({ at }, { brandName }) => ({
    subject: `A test email from ${brandName}`,
    paragraphs: ['You requested this email to check that emails arrive. There is nothing to do.'],
    facts: [['Requested', timeText(new Date(at))]],
  }),
});

const testMails = mails({ mail_test: mailTest });

declare module './kinds.ts' {
  interface Mails extends MailsOf<typeof testMails> {}
}
