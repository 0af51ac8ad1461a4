import { z } from 'zod';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { queueMails } from '../../kit/mail/queue.ts';
import { template } from '../../kit/mail/template.ts';
import type { Work } from '../../kit/operation/work.ts';
import { fromPpm } from '../../kit/values/money.ts';
import { shortUrl } from './links.shapes.ts';
import type { LinkRow } from './links.ts';

/** Tells a creator about a new link or code. */
const linkGiven = template({
  audience: 'creator',
  isNews: true,
  params: z.object({ code: z.string().nullable(), url: z.string().nullable(), commission_rate: z.number() }),
  write: ({ code, url, commission_rate }, { brandName }) => ({
    subject: code === null ? `Your link for ${brandName}` : `Your code for ${brandName}: ${code}`,
    paragraphs: [
      code === null
        ? 'Share this link: you earn from orders that come through it.'
        : 'Share this code: you earn from orders that use it.',
    ],
    facts: [
      ...(code === null ? [] : [['Code', code] as const]),
      ...(commission_rate === 0 ? [] : [['Commission', `${commission_rate}%`] as const]),
    ],
    links: url === null ? [] : [{ label: 'Link', url }],
  }),
});

export const linkMails = mails({ link_given: linkGiven });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof linkMails> {}
}

type MailedLink = Pick<LinkRow, 'id' | 'creatorId' | 'type' | 'value' | 'slug' | 'commissionRatePpm' | 'active'>;

/** Mails each link's creator once for each value, except for inactive links and creators without an address. */
export async function mailLinks(
  work: Work,
  linksUrl: string,
  links: readonly { row: MailedLink; email: string | null }[],
): Promise<void> {
  const recipients = links.flatMap(({ row, email: to }) => (to === null || !row.active ? [] : [{ row, to }]));
  await queueMails(
    work,
    recipients.map(({ row, to }) => ({
      kind: 'link_given' as const,
      to,
      creatorId: row.creatorId,
      subjectRow: `${row.id}:${row.value.toLowerCase()}`,
      params: {
        code: row.type === 'discount_code' ? row.value : null,
        url: shortUrl(linksUrl, row.slug),
        commission_rate: fromPpm(row.commissionRatePpm),
      },
    })),
  );
}
