import { z } from 'zod';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

/** A saved search found creators. The mail has their number only: who they are is for people who sign in. */
const savedSearchAlert = template({
  audience: 'brand',
  params: z.object({ id: z.string(), name: z.string(), count: z.int() }),
  write: ({ id, name, count }, { appUrlOf }) => ({
    subject: `${count === 1 ? '1 new creator matches' : `${count} new creators match`} “${name}”`,
    paragraphs: ['The directory has creators who began to match this saved search.'],
    action: { label: 'See who is new', url: appUrlOf(`directory?matches=${id}`) },
  }),
});

export const savedSearchMails = mails({ saved_search_alert: savedSearchAlert });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof savedSearchMails> {}
}
