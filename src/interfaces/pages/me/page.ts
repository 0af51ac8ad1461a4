import { askForErasure } from '../../../affiliates/data-requests/asked.ts';
import { createRequest, readFile } from '../../../affiliates/data-requests/data-requests.ts';
import type { PageKind } from '../../../kit/access/page-tokens.ts';
import { postForm, submitButton } from '../../../kit/html/controls.ts';
import { html } from '../../../kit/html/html.ts';
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

/** Says what goes and what stays, before a creator asks to be erased. */
const askErasurePage = ({ brand, action }: MeVisit) => ({
  title: 'Ask to be erased',
  content: html`<h1>Ask to be erased</h1>
<p>${brand.name} gets your request by email, and has 30 days to carry it out, or to say why not.</p>
<h2>What goes</h2>
<ul>
<li>your name, addresses, handles, and what ${brand.name} noted of you</li>
<li>your messages, applications, contracts, files and parcels</li>
<li>this page: its link no longer works, and your codes and links are switched off</li>
</ul>
<h2>What stays</h2>
<ul>
<li>amounts and dates of orders, commissions and payouts, without your name</li>
<li>if you were paid, what the law wants ${brand.name} to keep for its books, sealed until that time is over</li>
</ul>
<p>If money is still due to you, ask ${brand.name} to pay it first.</p>
${postForm(action, html`<input type="hidden" name="ask" value="erasure">${submitButton('Ask to be erased')}`)}
<p><a href="${action}">Back to your page</a></p>`,
});

/** A form that is not of this page asks for nothing. */
const unknownPage = ({ action }: MeVisit) => ({
  status: 422,
  title: 'Error: Nothing was asked for',
  content: html`<h1>Nothing was asked for</h1>
<p>Nothing has changed.</p>
<p><a href="${action}">Back to your page</a></p>`,
});

/** The file is made and sent at once: the link to this page shows nearly the same. */
async function sendCopy({ context, row, inWork }: MeVisit) {
  const { postgres, secrets } = context;
  const { id } = await inWork((work) => createRequest(work, secrets, { kind: 'access', creator_id: row.id }, 'page'));
  const file = await readFile(context, postgres.db, row.brandId, id);
  return { fileName: 'your-data.json', json: file ?? {} };
}

/**
 * A creator's page with one brand, linked from each of the brand's mails to them. It changes nothing but what they ask for: a copy
 * of what is kept of them, or that the brand erase it.
 */
export const mePage = creatorPage<Me>({
  kind: 'me',
  ended: ENDED,
  find: async ({ postgres }, { rowId }) => {
    const row = await findCreatorPage(postgres.db, rowId);
    return row && row.email !== null ? { ...row, email: row.email } : undefined;
  },
  show: async (visit) => {
    const { context, row, brand, now, query, action } = visit;
    if (query.ask === 'erasure') return askErasurePage(visit);
    const all = await listAll(context, row, now);
    const { id: creatorId, name, email } = row;
    const { name: brandName, website = null } = brand;
    const facts = { creatorId, name, email, brandName, website, linksUrl: context.config.linksUrl, now, action };
    return { title: 'Your page', content: content(all, facts, listLeads(visit)) };
  },
  submit: async (visit) => {
    const { row, form, inWork, action } = visit;
    const asked = form().text('ask');
    if (asked === 'copy') return await sendCopy(visit);
    if (asked !== 'erasure') return unknownPage(visit);
    await inWork((work) => askForErasure(work, row));
    return { seeOther: action };
  },
});
