import { z } from 'zod';
import { dayText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

/** To the creator: a statement of a period's orders, commissions and payouts. */
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
