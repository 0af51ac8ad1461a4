import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Html, html } from '../../kit/html/html.ts';
import { page, pageHeaders } from '../../kit/html/page.ts';
import type { Context } from '../../kit/operation/context.ts';
import { findShare, listShared, MAX_SHARED, type SharedRow } from '../../workflow/shipments/share.api.ts';
import { formatCarrier, sentence } from './parcel.ts';

const Params = z.object({ shareId: z.string() });

/** The parcel's town, never its street. An address given as one text is not shown. */
function formatTown({ shippingAddress: address }: SharedRow): string {
  if (address === null || typeof address === 'string') return '';
  return [address.city, address.state].filter(Boolean).join(', ');
}

const formatName = ({ creatorName, igHandle, ttHandle }: SharedRow): string => {
  const handle = igHandle ?? ttHandle;
  return creatorName ?? (handle === null ? 'A creator' : `@${handle}`);
};

interface Column {
  head: string;
  text: (row: SharedRow) => string;
}

/** Columns that no parcel fills are left out. */
const MORE: readonly Column[] = [
  { head: 'Content', text: (row) => row.productDescription ?? '' },
  { head: 'Carrier', text: ({ carrier }) => formatCarrier(carrier) ?? '' },
  { head: 'Tracking', text: ({ trackingStatus }) => (trackingStatus ? sentence(trackingStatus) : '') },
  { head: 'Town', text: formatTown },
];

const renderRow = (row: SharedRow, columns: readonly Column[]): Html => html`<tr>
<th scope="row">${formatName(row)}</th>
<td><span class="badge">${sentence(row.status)}</span></td>
${columns.map(({ text }) => html`<td>${text(row)}</td>\n`)}</tr>
`;

function renderTable(rows: readonly SharedRow[]): Html {
  if (rows.length === 0) return html`<p>Nothing has been sent yet.</p>`;
  const columns = MORE.filter(({ text }) => rows.some((row) => text(row) !== ''));
  const more = rows.length === MAX_SHARED ? html`<p class="hint">The newest ${MAX_SHARED} are shown.</p>` : html``;
  return html`<div class="scroll broad" tabindex="0" role="region" aria-label="Parcels">
<table>
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
<p>There is nothing at this address, or no longer. Please ask the person who gave you the link.</p>`,
);

/** `/s/{shareId}`: the current state of a brand's parcels, for anyone with the link; no email address and no street. */
export function shareRoutes(app: FastifyInstance, { postgres }: Context): void {
  app.get('/s/:shareId', async (request, reply) => {
    const share = await findShare(postgres.db, Params.parse(request.params).shareId);
    reply.type('text/html; charset=utf-8');
    if (!share) return await reply.code(404).headers(pageHeaders()).send(MISSING);
    const face = { name: share.brandName, logo: share.logoUrl ?? share.brandLogo, website: share.brandWebsite };
    const title = share.title ?? share.campaignName ?? 'Shipments';
    const content = html`<h1>${title}</h1>
${share.campaignName && share.campaignName !== title ? html`<p>${share.campaignName}</p>` : html``}
${renderTable(await listShared(postgres.db, share))}`;
    return await reply.headers(pageHeaders(face)).send(page(title, content, face));
  });
}
