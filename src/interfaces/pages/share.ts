import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Html, html } from '../../kit/html/html.ts';
import { page, pageHeaders } from '../../kit/html/page.ts';
import { dayTag } from '../../kit/html/times.ts';
import type { Context } from '../../kit/operation/context.ts';
import { findShare, listShared, MAX_SHARED, type SharedRow } from '../../workflow/shipments/share.api.ts';
import { formatCarrier, isOnItsWay, STATUS, sentence } from './parcel.ts';

const Params = z.object({ shareId: z.string() });
const NOTHING = html``;

/** The parcel's town, never its street. An address given as one text is not shown. */
function formatTown({ shippingAddress: address }: SharedRow): string {
  if (address === null || typeof address === 'string') return '';
  return [address.city, address.state].filter(Boolean).join(', ');
}

const formatName = ({ creatorName, igHandle, ttHandle }: SharedRow): string => {
  const handle = igHandle ?? ttHandle;
  return creatorName ?? (handle === null ? 'A creator' : `@${handle}`);
};

const renderExpected = (row: SharedRow): Html =>
  row.estimatedArrival !== null && isOnItsWay(row) ? dayTag(row.estimatedArrival) : NOTHING;

interface Column {
  head: string;
  render: (row: SharedRow) => Html;
}

/** No tracking number: at some carriers it leads a stranger to the address. Columns that no parcel fills are left out. */
const MORE: readonly Column[] = [
  { head: 'Content', render: ({ productDescription }) => html`${productDescription ?? ''}` },
  { head: 'Carrier', render: ({ carrier }) => html`${formatCarrier(carrier) ?? ''}` },
  { head: 'Carrier status', render: ({ trackingStatus }) => html`${trackingStatus ? sentence(trackingStatus) : ''}` },
  { head: 'Expected', render: renderExpected },
  { head: 'Town', render: (row) => html`${formatTown(row)}` },
  { head: 'Campaign', render: ({ campaignTitle }) => html`${campaignTitle ?? ''}` },
];

const renderRow = (row: SharedRow, columns: readonly Column[]): Html => html`<tr>
<th scope="row">${formatName(row)}</th>
<td><span class="badge">${STATUS[row.status]}</span></td>
${columns.map(({ head, render }) => html`<td data-head="${head}">${render(row)}</td>\n`)}</tr>
`;

/** A table, whose rows are stacked on a phone. */
function renderTable(rows: readonly SharedRow[], isOfCampaign: boolean): Html {
  if (rows.length === 0) return html`<p>Nothing has been sent yet.</p>`;
  const columns = MORE.filter(
    ({ head, render }) => !(isOfCampaign && head === 'Campaign') && rows.some((row) => render(row).html !== ''),
  );
  const more = rows.length === MAX_SHARED ? html`<p class="hint">The newest ${MAX_SHARED} are shown.</p>` : NOTHING;
  return html`<div class="scroll broad" tabindex="0" role="region" aria-label="Parcels">
<table class="stack">
<thead><tr><th scope="col">Creator</th><th scope="col">Status</th>${columns.map(({ head }) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => renderRow(row, columns))}</tbody>
</table>
</div>
${more}`;
}

const MISSING = page(
  'Not found',
  html`<h1>Not found</h1>
<p>There is nothing at this address; perhaps the page is no longer shared. Please ask the person who gave you the link.</p>`,
);

/** `/s/{shareId}`: the current state of a brand's parcels, for anyone with the link; no email address and no street. */
export function shareRoutes(app: FastifyInstance, { postgres }: Context): void {
  app.get('/s/:shareId', async (request, reply) => {
    const share = await findShare(postgres.db, Params.parse(request.params).shareId);
    reply.type('text/html; charset=utf-8');
    if (!share) return await reply.code(404).headers(pageHeaders()).send(MISSING);
    const face = { name: share.brandName, logo: share.logoUrl ?? share.brandLogo, website: share.brandWebsite };
    reply.headers(pageHeaders(face));
    const campaignName = share.campaignName ?? share.campaignTitle;
    const title = share.title ?? campaignName ?? 'Shipments';
    const content = html`<h1>${title}</h1>
${campaignName && campaignName !== title ? html`<p>${campaignName}</p>` : NOTHING}
${renderTable(await listShared(postgres.db, share), share.campaignId !== null)}`;
    return await reply.send(page(title, content, face));
  });
}
