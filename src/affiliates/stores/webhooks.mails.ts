import { z } from 'zod';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

/** A store switched off a webhook, or lost it. */
const storeWebhookDisabled = template({
  audience: 'brand',
  params: z.object({
    integration_id: z.string(),
    store: z.string(),
    topics: z.string(),
    is_repaired: z.boolean(),
    problem: z.string().nullable(),
  }),
  write: ({ integration_id, store, topics, is_repaired, problem }) => ({
    subject: is_repaired ? `We repaired a webhook of ${store}` : `A webhook of ${store} is off`,
    paragraphs: is_repaired
      ? [
          'The store had switched off webhooks that tell us about orders. We created them again.',
          'A store does this when its deliveries failed several times in a row. You do not have to do anything.',
        ]
      : [
          'The store switched off webhooks that tell us about orders, and we could not create them again.',
          problem ?? 'Open Stores in the web app: “Set up” says what to do.',
        ],
    facts: [
      ['Store', integration_id],
      ['Webhooks', topics],
    ],
  }),
});

export const storeWebhookMails = mails({ store_webhook_disabled: storeWebhookDisabled });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof storeWebhookMails> {}
}
