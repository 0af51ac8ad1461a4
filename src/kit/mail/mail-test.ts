import { z } from 'zod';
import { timeText } from '../html/times.ts';
import { type MailsOf, mails } from './kinds.ts';
import { template } from './template.ts';

/** The mail that `cli mail test` sends. */
const mailTest = template({
  audience: 'creator',
  params: z.object({ at: z.iso.datetime() }),
  write: ({ at }, { brandName }) => ({
    subject: `A test of the mail of ${brandName}`,
    paragraphs: ['You requested this mail to check that mail arrives. There is nothing to do.'],
    facts: [['Requested', timeText(new Date(at))]],
  }),
});

const testMails = mails({ mail_test: mailTest });

declare module './kinds.ts' {
  interface Mails extends MailsOf<typeof testMails> {}
}
