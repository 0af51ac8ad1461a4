import { z } from 'zod';
import { dayText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

/** Sends the creator a statement of a period's orders, commissions and payouts. */
const statementReady = template({
  audience: 'creator',
  params: z.object({
    statement_id: z.string(),
    link_version: z.int(),
    from: z.string(),
    to: z.string(),
    expires_at: z.iso.datetime(),
  }),
  write: ({ statement_id, link_version, from, to, expires_at }, { brandName, urlOf }) => ({
    subject: `Your statement from ${brandName}, ${dayText(from)} to ${dayText(to)}`,
    paragraphs: ['It lists your orders, commissions and payouts. You can ask about each line on the page.'],
    action: {
      label: 'See the statement',
      url: urlOf({ kind: 'statement', rowId: statement_id, version: link_version, expiresAt: new Date(expires_at) }),
    },
  }),
});

export const statementMails = mails({
  statement_ready: statementReady,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof statementMails> {}
}

/** Sends the creator the brand's answer to a question about a line. */
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

/** Sends the brand a creator's question about a line. */
const disputeOpened = template({
  audience: 'brand',
  params: z.object({ dispute_id: z.string(), creator: z.string(), line: z.string(), message: z.string() }),
  write: ({ dispute_id, creator, line, message }, { appUrlOf }) => ({
    subject: `${creator} asks about ${line}`,
    paragraphs: ['Your answer is emailed to them.'],
    quote: message,
    action: { label: 'Answer', url: appUrlOf(`disputes?open=${dispute_id}`) },
  }),
});

export const disputeMails = mails({
  dispute_answered: disputeAnswered,
  dispute_opened: disputeOpened,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof disputeMails> {}
}
