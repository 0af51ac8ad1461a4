import { z } from 'zod';
import { timeText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

const params = z.object({ webhook_id: z.string(), url: z.string(), since: z.iso.datetime() });

/** Five deliveries in a row failed. */
const webhookFailing = template({
  audience: 'brand',
  params,
  write: ({ webhook_id, url, since }) => ({
    subject: 'One of your webhooks is failing',
    paragraphs: [
      'Five attempts in a row failed. We keep trying; after three days of failures the webhook will be disabled.',
      'The list of its deliveries shows the responses.',
    ],
    facts: [
      ['Webhook', webhook_id],
      ['Address', url],
      ['Failing since', timeText(new Date(since))],
    ],
  }),
});

/** The failures continued for three days. */
const webhookDisabled = template({
  audience: 'brand',
  params,
  write: ({ webhook_id, url, since }) => ({
    subject: 'One of your webhooks was disabled',
    paragraphs: [
      'Its deliveries failed for three days, so nothing is sent to it any more.',
      'When the receiver is back, set the webhook to active again. Missed events can be sent with its recover call.',
    ],
    facts: [
      ['Webhook', webhook_id],
      ['Address', url],
      ['Failing since', timeText(new Date(since))],
    ],
  }),
});

export const webhookMails = mails({
  webhook_failing: webhookFailing,
  webhook_disabled: webhookDisabled,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof webhookMails> {}
}
