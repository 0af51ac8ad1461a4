import { z } from 'zod';
import { timeText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

const paymentChange = template({
  audience: 'brand',
  params: z.object({
    creator_id: z.string(),
    version: z.int(),
    next: z.string(),
    /** Null: it holds already. */
    effective_at: z.string().nullable(),
    may_confirm: z.boolean(),
  }),
  write: ({ creator_id, version, next, effective_at, may_confirm }, { brandName, urlOf }) => ({
    subject: `${brandName} will pay you at another address`,
    paragraphs: [
      effective_at === null
        ? `From now on, payouts go to ${next}.`
        : `From ${timeText(new Date(effective_at))} on, payouts go to ${next}. Until then nothing is paid.`,
      'If it was not you, say so: nothing changes then.',
    ],
    facts: [['New address', next]],
    action: {
      label: may_confirm ? 'It was me, or it was not me' : 'It was not me',
      url: urlOf({
        kind: 'payment',
        rowId: creator_id,
        version,
        ...(may_confirm ? { holderId: creator_id } : {}),
      }),
    },
  }),
});

const paymentChangeRequested = template({
  audience: 'brand',
  params: z.object({ creator_id: z.string(), version: z.int(), next: z.string() }),
  write: ({ creator_id, version, next }, { brandName, urlOf }) => ({
    subject: `Confirm where ${brandName} pays you`,
    paragraphs: [
      `On your page, somebody asked that payouts go to ${next}. Nothing changes until you confirm it.`,
      'If it was not you, do nothing.',
    ],
    facts: [['New address', next]],
    action: {
      label: 'See and confirm',
      url: urlOf({ kind: 'payment', rowId: creator_id, version, holderId: creator_id }),
    },
  }),
});

const paymentChangeStopped = template({
  audience: 'brand',
  params: z.object({ creator: z.string(), next: z.string() }),
  write: ({ creator, next }) => ({
    subject: `A change of the payment address of ${creator} was stopped`,
    paragraphs: [
      `Somebody changed the address to ${next}. The owner of the old address says that it was not them, so it stays as it was.`,
      'See in the audit log who made the change.',
    ],
  }),
});

export const paymentMails = mails({
  payment_change: paymentChange,
  payment_change_requested: paymentChangeRequested,
  payment_change_stopped: paymentChangeStopped,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof paymentMails> {}
}
