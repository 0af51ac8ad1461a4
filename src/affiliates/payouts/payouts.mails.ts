import { z } from 'zod';
import { dayText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import { template } from '../../kit/mail/template.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS, YEAR_MS } from '../../kit/values/duration.ts';
import { formatMoney } from '../../kit/values/format.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import type { PayoutFacts } from './payouts.ts';

const payoutMade = template({
  audience: 'creator',
  isNews: true,
  params: z.object({
    payout_id: z.string(),
    amount_minor: z.int(),
    currency: z.string(),
    paid_on: z.string(),
    reference: z.string().nullable(),
  }),
  write: ({ payout_id, amount_minor, currency, paid_on, reference }, { brandName, createdAt, urlOf }) => ({
    subject: `${brandName} paid you ${formatMoney(amount_minor, currency)}`,
    paragraphs: ['It may take a few days to arrive.'],
    facts: [['Paid', dayText(paid_on)], ...(reference === null ? [] : [['Reference', reference] as const])],
    action: {
      label: 'See what it covers',
      url: urlOf({
        kind: 'statement',
        rowId: payout_id,
        version: 0,
        expiresAt: new Date(createdAt.getTime() + YEAR_MS),
      }),
    },
  }),
});

export const payoutMails = mails({ payout_made: payoutMade });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof payoutMails> {}
}

/** An older payment is recorded for the books only; its creator received it long ago. */
const NEWS_FOR_MS = 14 * DAY_MS;

/** Tells the creator about a paid payout. */
export async function mailPaid(work: Work, payout: PayoutFacts): Promise<void> {
  const { id, creatorId, creatorEmail, amountMinor, currency, paidAt, reference } = payout;
  if (creatorEmail === null || paidAt === null || paidAt.getTime() < work.now.getTime() - NEWS_FOR_MS) return;
  const paid_on = dayIn(await getTimeZone(work.db, work.brandId), paidAt);
  await queueMail(work, {
    kind: 'payout_made',
    to: creatorEmail,
    subjectRow: id,
    creatorId,
    params: { payout_id: id, amount_minor: amountMinor, currency, paid_on, reference },
  });
}
