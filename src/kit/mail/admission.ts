import type { PageLinks } from '../access/page-tokens.ts';
import type { Postgres } from '../engines/postgres/open.ts';
import type { Clock } from '../values/clock.ts';
import type { Config } from '../values/config.ts';
import { DAY_MS, HOUR_MS } from '../values/duration.ts';
import { admitMail, listUnjudgedMails } from './admission-queries.ts';
import { foreignHosts, imitates, linksToImitation } from './imitation.ts';
import { findTemplate, isStoppable } from './kinds.ts';
import type { MailReason, MailRow } from './queries.ts';
import { renderMail } from './render.ts';

/** The engines that checking a mail needs. */
export interface JudgingEngines {
  postgres: Postgres;
  clock: Clock;
  config: Pick<Config, 'linksUrl' | 'apiUrl' | 'mailLimits'>;
  pageLinks: PageLinks;
}

const ESTABLISHED_AFTER_MS = 30 * DAY_MS;

/** The text for each reason, for operators and brands. */
export const REASONS: Readonly<Record<MailReason, string>> = {
  imitation: 'a name or link in it looks like that of another company',
  foreign_link: 'it links to a host that is not the brand’s, and the address has never answered the brand',
  stranger_limit: 'the address has never answered the brand and got several of its mails within the hour',
  invitation_limit: 'the brand sent too many invitations within the hour',
  recipient_limit: 'the address got too many mails within the hour; it is tried again an hour later',
  brand_limit: 'the brand sent too many mails within the hour; it is tried again an hour later',
};

/** True if the mail leaves the brand. */
function isOutward({ kind }: MailRow): boolean {
  const template = findTemplate(kind);
  return template !== undefined && isStoppable(template);
}

/** Reasons in the text to hold a mail, regardless of its recipient and of limits. */
function findSuspicions({ pageLinks, config }: JudgingEngines, row: MailRow) {
  const nothing = { isImitation: false, hasForeignLink: false };
  // A mail that cannot be rendered fails when it is sent, with the reason.
  if (!isOutward(row)) return nothing;
  const { subject, text } = renderMail(row, pageLinks);
  const written = `${subject}\n${text}`;
  const own = [config.linksUrl, config.apiUrl, row.brandWebsite, ...row.storefrontHosts];
  const inviter = row.kind === 'invitation' ? subject : '';
  return {
    isImitation:
      imitates(row.brandName) || imitates(inviter) || linksToImitation(`${written}\n${row.brandWebsite ?? ''}`),
    hasForeignLink: foreignHosts(written, own).length > 0,
  };
}

function judgeMail(engines: JudgingEngines, row: MailRow) {
  try {
    return findSuspicions(engines, row);
  } catch {
    return { isImitation: false, hasForeignLink: false };
  }
}

/**
 * Checks up to `limit` due mails that were not checked before: each is admitted, delayed by an hour, or held. Returns
 * how many. Every mail passes this check before it is sent, so limits are exact with any number of senders.
 */
export async function admitDueMails(engines: JudgingEngines, limit: number): Promise<number> {
  const { postgres, clock, config } = engines;
  const now = clock.now();
  const due = await listUnjudgedMails(postgres.db, now, limit);
  const since = new Date(now.getTime() - HOUR_MS);
  const establishedBefore = new Date(now.getTime() - ESTABLISHED_AFTER_MS);
  const again = new Date(now.getTime() + HOUR_MS);
  for (const row of due) {
    const facts = { ...judgeMail(engines, row), isOutward: isOutward(row), limits: config.mailLimits };
    await admitMail(postgres.db, row, facts, { now, since, establishedBefore, again });
  }
  return due.length;
}
