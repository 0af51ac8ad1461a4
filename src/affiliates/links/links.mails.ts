import { sql } from 'kysely';
import { z } from 'zod';
import { toPlainFields } from '../../analytics/pricing/plain.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { queueMails } from '../../kit/mail/queue.ts';
import { template } from '../../kit/mail/template.ts';
import type { Work } from '../../kit/operation/work.ts';
import { foldCase } from '../../kit/values/fold.ts';
import { getLinkTerms } from '../terms/effective.ts';
import { shortUrl } from './links.shapes.ts';
import { type LinkRow, listLinksByIds } from './links.ts';

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

type MailedLink = Pick<LinkRow, 'id' | 'creatorId' | 'type' | 'value' | 'slug' | 'active'>;

interface Given {
  row: MailedLink;
  email: string | null;
}

/** Mails each link's creator once for each value, except for inactive links and creators without an address. */
async function mailLinks(work: Work, linksUrl: string | null, links: readonly Given[]): Promise<void> {
  const recipients = links.flatMap(({ row, email: to }) => (to === null || !row.active ? [] : [{ row, to }]));
  const ids = recipients.map(({ row }) => row.id);
  const linksById = new Map((await listLinksByIds(work.db, work.brandId, ids)).map((link) => [link.id, link]));
  const getRate = (id: string) => {
    const link = linksById.get(id);
    return link ? toPlainFields(getLinkTerms(link).terms).percent : 0;
  };
  await queueMails(
    work,
    recipients.map(({ row, to }) => ({
      kind: 'link_given' as const,
      to,
      creatorId: row.creatorId,
      subjectRow: `${row.id}:${foldCase(row.value)}`,
      params: {
        code: row.type === 'discount_code' ? row.value : null,
        url: linksUrl === null ? null : shortUrl(linksUrl, row.slug),
        commission_rate: getRate(row.id),
      },
    })),
  );
}

const deleteUntold = (work: Work, ids: readonly string[]) =>
  work.db
    .deleteFrom('untoldCodes')
    .where('brandId', '=', work.brandId)
    .where(sql<boolean>`link_id = any(${[...ids]}::text[])`)
    .execute();

/**
 * Tells creators of what they were given: at once if `isAtOnce`, as for a link or a code that its store has. Of other codes
 * they are told once an order brings them.
 */
export async function tellCreators(
  work: Work,
  linksUrl: string,
  links: readonly Given[],
  isAtOnce: boolean,
): Promise<void> {
  const { brandId, now: createdAt } = work;
  const waiting = isAtOnce ? [] : links.filter(({ row }) => row.type === 'discount_code');
  await deleteUntold(
    work,
    links.map(({ row }) => row.id),
  );
  const rows = waiting.map(({ row }) => ({ linkId: row.id, brandId, createdAt }));
  if (rows.length > 0) await work.db.insertInto('untoldCodes').values(rows).execute();
  if (isAtOnce) await mailLinks(work, linksUrl, links);
}

/** Tells creators of codes that an order brought, as their assignments have them now: their store has them. */
export async function tellOfSales(
  work: Work,
  orders: readonly { link: { id: string }; code: string | null }[],
): Promise<void> {
  const sold = orders.flatMap(({ link, code }) => (code === null ? [] : [{ linkId: link.id, code }]));
  if (sold.length === 0) return;
  const { db, brandId } = work;
  const { rows } = await sql<{ linkId: string }>`
    delete from untold_codes as untold
    using unnest(${sold.map(({ linkId }) => linkId)}::text[], ${sold.map(({ code }) => code)}::text[])
      as sold (link_id, code), links
    where untold.brand_id = ${brandId} and untold.link_id = sold.link_id and links.id = sold.link_id
      and links.brand_id = ${brandId} and fold_code(links.value) = fold_code(sold.code)
    returning untold.link_id`.execute(db);
  const ids = rows.map(({ linkId }) => linkId);
  const links = await listLinksByIds(db, brandId, ids);
  await mailLinks(
    work,
    null,
    links.map((row) => ({ row, email: row.creatorEmail })),
  );
}
