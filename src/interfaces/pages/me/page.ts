import type { PageKind } from '../../../kit/access/page-tokens.ts';
import { findCreatorPage } from '../../../workflow/creators/creators.ts';
import { creatorPage, type PageVisit } from '../declare.ts';
import { ENDED } from './ask.ts';
import { listAll, type Me } from './everything.ts';
import { content } from './sections.ts';

type MeVisit = PageVisit<Me>;

/** Leads to another page of the creator, which is open as long as this one. */
export type Leads = (
  kind: PageKind,
  row: { id: string; linkVersion: number },
  more?: { holderId?: string; expiresAt?: Date },
) => string;

function listLeads({ context: { pageLinks }, link: { expiresAt } }: MeVisit): Leads {
  return (kind, { id: rowId, linkVersion: version }, more) =>
    new URL(pageLinks.urlOf({ kind, rowId, version, expiresAt, ...more })).pathname;
}

/** A creator's page with one brand, linked from each of the brand's mails to them. It changes nothing. */
export const mePage = creatorPage<Me>({
  kind: 'me',
  ended: ENDED,
  find: async ({ postgres }, { rowId }) => {
    const row = await findCreatorPage(postgres.db, rowId);
    return row && row.email !== null ? { ...row, email: row.email } : undefined;
  },
  show: async (visit) => {
    const { context, row, brand, now } = visit;
    const all = await listAll(context, row, now);
    const { id: creatorId, name } = row;
    const facts = { creatorId, name, brandName: brand.name, linksUrl: context.config.linksUrl, now };
    return { title: 'Your page', content: content(all, facts, listLeads(visit)) };
  },
});
