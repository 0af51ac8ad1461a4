import { z } from 'zod';
import { timeText } from '../../../kit/html/times.ts';
import { type MailsOf, mails } from '../../../kit/mail/kinds.ts';
import { template } from '../../../kit/mail/template.ts';

/** A sweep found orders that no webhook reported. */
const storeSilent = template({
  audience: 'brand',
  params: z.object({ store: z.string(), orders: z.int(), since: z.iso.datetime() }),
  write: ({ store, orders, since }) => ({
    subject: `Webhooks of ${store} do not arrive`,
    paragraphs: [
      'We read your orders from the store and found some that none of its webhooks had reported. They and their commissions are now recorded.',
      'Until webhooks arrive again, orders come in up to ten minutes later. Stores, in the web app, says which webhooks the store needs.',
    ],
    facts: [
      ['Store', store],
      ['Orders found', String(orders)],
      ['Noticed', timeText(new Date(since))],
    ],
  }),
});

export const storeSweepMails = mails({ store_silent: storeSilent });

declare module '../../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof storeSweepMails> {}
}
