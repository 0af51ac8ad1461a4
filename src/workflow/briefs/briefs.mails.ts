import { z } from 'zod';
import { dayText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';
import { YEAR_MS } from '../../kit/values/duration.ts';

const briefSent = template({
  audience: 'creator',
  params: z.object({
    brief_id: z.string(),
    creator_id: z.string(),
    link_version: z.int(),
    title: z.string(),
    due_date: z.string().nullable(),
  }),
  write: ({ brief_id, creator_id, link_version, title, due_date }, { brandName, createdAt, urlOf }) => ({
    subject: `${brandName} has a brief for you: ${title}`,
    paragraphs: ['It says what they would like you to make.'],
    facts: due_date === null ? [] : [['Due', dayText(due_date)]],
    action: {
      label: 'Read the brief',
      url: urlOf({
        kind: 'brief',
        rowId: brief_id,
        version: link_version,
        holderId: creator_id,
        expiresAt: new Date(createdAt.getTime() + YEAR_MS),
      }),
    },
  }),
});

export const briefMails = mails({
  brief_sent: briefSent,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof briefMails> {}
}
