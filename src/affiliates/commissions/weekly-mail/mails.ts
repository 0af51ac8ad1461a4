import { z } from 'zod';
import { dayText } from '../../../kit/html/times.ts';
import { type MailsOf, mails } from '../../../kit/mail/kinds.ts';
import { template } from '../../../kit/mail/template.ts';
import { formatMoney } from '../../../kit/values/money.ts';

/** Everything that was approved for a creator in a week. */
const commissionsApproved = template({
  audience: 'creator',
  isNews: true,
  params: z.object({
    from: z.string(),
    to: z.string(),
    sums: z.array(z.object({ currency: z.string(), commissions: z.int(), amount_minor: z.int() })).min(1),
  }),
  write: ({ from, to, sums }, { brandName }) => ({
    subject: `${brandName} approved ${sums.map(({ currency, amount_minor }) => formatMoney(amount_minor, currency)).join(' and ')} for you`,
    paragraphs: [
      `These commissions were approved from ${dayText(from)} to ${dayText(to)}. They will be part of one of your next payouts.`,
    ],
    facts: sums.map(({ currency, commissions, amount_minor }) => [
      commissions === 1 ? '1 commission' : `${commissions} commissions`,
      formatMoney(amount_minor, currency),
    ]),
  }),
});

export const weeklyMails = mails({ commissions_approved: commissionsApproved });

declare module '../../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof weeklyMails> {}
}
