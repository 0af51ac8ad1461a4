import { z } from 'zod';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';
import { noun } from '../../kit/operation/noun.ts';
import { YEAR_MS } from '../../kit/values/duration.ts';
import { profileConsumer, profileCreators } from './profiles.ts';

/** A creator who lost the link to their page requested another. */
const pageRequested = template({
  audience: 'creator',
  params: z.object({ creator_id: z.string(), link_version: z.int() }),
  write: ({ creator_id, link_version }, { brandName, createdAt, urlOf }) => ({
    subject: `Your page with ${brandName}`,
    paragraphs: [
      'This link was requested with your address. It shows your links, orders, earnings and payouts, and works for a year.',
      'The link is for you alone: anyone who has it can see everything on that page. If you did not request it, ignore this email.',
    ],
    action: {
      label: 'Open your page',
      url: urlOf({
        kind: 'me',
        rowId: creator_id,
        version: link_version,
        expiresAt: new Date(createdAt.getTime() + YEAR_MS),
      }),
    },
  }),
});

const creatorMails = mails({ page_requested: pageRequested });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof creatorMails> {}
}

/** The list of creators shows what they sold, so its operation is in `analytics/creators.api.ts`. */
export const creatorRecordsNoun = noun({
  name: 'creator-records',
  operations: [],
  jobs: [profileCreators],
  consumers: [profileConsumer],
  mails: creatorMails,
});
