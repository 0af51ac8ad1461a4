import { z } from 'zod';
import { type MailsOf, mails } from '../../../kit/mail/kinds.ts';
import { template } from '../../../kit/mail/template.ts';

/** To the creator, when the brand has answered their question about a line. */
const disputeAnswered = template({
  audience: 'creator',
  params: z.object({ row_id: z.string(), link_version: z.int(), line: z.string(), answer: z.string() }),
  write: ({ row_id, link_version, line, answer }, { brandName, urlOf }) => ({
    subject: `${brandName} answered your question about ${line}`,
    paragraphs: [],
    quote: answer,
    action: {
      label: 'See the statement',
      url: urlOf({ kind: 'statement', rowId: row_id, version: link_version }),
    },
  }),
});

/** To the brand, when a creator asks about a line of a statement. */
const disputeOpened = template({
  audience: 'brand',
  params: z.object({ dispute_id: z.string(), creator: z.string(), line: z.string(), message: z.string() }),
  write: ({ dispute_id, creator, line, message }, { appUrlOf }) => ({
    subject: `${creator} asks about ${line}`,
    paragraphs: ['Your answer is mailed to them.'],
    quote: message,
    action: { label: 'Answer', url: appUrlOf(`disputes?open=${dispute_id}`) },
  }),
});

export const disputeMails = mails({
  dispute_answered: disputeAnswered,
  dispute_opened: disputeOpened,
});

declare module '../../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof disputeMails> {}
}
