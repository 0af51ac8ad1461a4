import { z } from 'zod';
import { timeText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

const LIMITS = { key_day: 'daily limit', key_month: 'monthly limit', budget: 'credits of the period' } as const;

/** A key reached a share of a limit that an owner chose. */
const creditsAlert = template({
  audience: 'brand',
  params: z.object({
    key_name: z.string(),
    limit: z.enum(['key_day', 'key_month', 'budget']),
    percent: z.int(),
    spent: z.int(),
    of: z.int(),
    ends_at: z.iso.datetime(),
  }),
  write: ({ key_name, limit, percent, spent, of, ends_at }) => ({
    subject: `The key ${key_name} has used ${percent}% of its ${LIMITS[limit]}`,
    paragraphs: ['Once nothing is left, its calls that cost credits are refused until the limit starts again.'],
    facts: [
      ['Key', key_name],
      ['Credits used', `${spent} of ${of}`],
      ['Starts again', timeText(new Date(ends_at))],
    ],
  }),
});

export const keyMails = mails({ credits_alert: creditsAlert });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof keyMails> {}
}
