import type { PageLinks } from '../access/page-tokens.ts';
import type { OutgoingMail } from '../engines/mail.ts';
import { DAY_MS, YEAR_MS } from '../values/duration.ts';
import { findTemplate, isStoppable } from './kinds.ts';
import { type Sender, writeLetter } from './letter.ts';
import './mail-test.ts';
import type { MailRow } from './mails.ts';

const LINKS_LIVE_MS = 30 * DAY_MS;
/** Recipients keep mails for years, so the unsubscribe link must still work. */
const UNSUBSCRIBE_LIVES_MS = 10 * 365 * DAY_MS;

const toSender = ({ brandName, toStranger }: MailRow): Sender => ({
  name: brandName,
  isUnknown: toStranger,
});

/** Renders a row as a mail. The same row always gives the same mail with the same links. */
export function renderMail(row: MailRow, pageLinks: PageLinks): OutgoingMail {
  const { id, kind, toEmail: to, creatorId, createdAt, brandName, params } = row;
  const template = findTemplate(kind);
  if (!template) throw new Error(`There is no template for mails of the kind ${kind}.`);
  const after = (ms: number) => new Date(createdAt.getTime() + ms);
  const letter = template.letterOf(params, {
    brandName,
    to,
    creatorId,
    createdAt,
    urlOf: (link) => pageLinks.urlOf({ ...link, expiresAt: link.expiresAt ?? after(LINKS_LIVE_MS) }),
    appUrlOf: pageLinks.appUrlOf,
  });
  const unsubscribeUrl = isStoppable(template)
    ? pageLinks.urlOf({ kind: 'unsubscribe', rowId: id, version: 0, expiresAt: after(UNSUBSCRIBE_LIVES_MS) })
    : undefined;
  const pageUrl =
    row.pageVersion !== null && creatorId !== null && template.audience === 'creator'
      ? pageLinks.urlOf({ kind: 'me', rowId: creatorId, version: row.pageVersion, expiresAt: after(YEAR_MS) })
      : undefined;
  const headers =
    unsubscribeUrl === undefined
      ? {}
      : { 'List-Unsubscribe': `<${unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
  return {
    id,
    fromName: brandName,
    to,
    date: createdAt,
    headers,
    ...writeLetter(letter, toSender(row), { unsubscribeUrl, pageUrl }),
  };
}
