import { z } from 'zod';
import { timeText } from '../../html/times.ts';
import { type MailsOf, mails } from '../../mail/kinds.ts';
import { template } from '../../mail/template.ts';

const params = z.object({ webhook_id: z.string(), url: z.string(), since: z.iso.datetime() });

/** A brand's webhook did not take five deliveries in a row. */
const webhookFailing = template({
  audience: 'brand',
  params,
  write: ({ webhook_id, url, since }) => ({
    subject: 'A webhook of yours is failing',
    paragraphs: [
      'Five attempts in a row failed. We go on trying; after three days of failures the webhook is disabled.',
      'The list of its deliveries says what was answered.',
    ],
    facts: [
      ['Webhook', webhook_id],
      ['Address', url],
      ['Failing since', timeText(new Date(since))],
    ],
  }),
});

/** It went on for three days. */
const webhookDisabled = template({
  audience: 'brand',
  params,
  write: ({ webhook_id, url, since }) => ({
    subject: 'A webhook of yours was disabled',
    paragraphs: [
      'Its deliveries failed for three days, so nothing is sent there any more.',
      'When the receiver is back, set the webhook to active again. What was missed can be sent with its recover call.',
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

declare module '../../mail/kinds.ts' {
  interface Mails extends MailsOf<typeof webhookMails> {}
}
