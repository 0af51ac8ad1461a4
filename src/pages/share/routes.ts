import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Html, html } from '../../html/html.ts';
import { page, pageHeaders } from '../../html/page.ts';
import type { Context } from '../../operation/context.ts';
import { findShare, listShared, MAX_SHARED, type SharedRow } from '../../resources/shipments/share/queries.ts';
import { readable } from '../parcel/page.ts';

const Params = z.object({ shareId: z.string() });

/** The parcel's town, never its street. An address given as one text is not shown. */
function townOf({ shippingAddress: address }: SharedRow): string {
  if (address === null || typeof address === 'string') return '';
  return [address.city, address.state].filter(Boolean).join(', ');
}

const nameOf = ({ creatorName, igHandle, ttHandle }: SharedRow): string => {
  const handle = igHandle ?? ttHandle;
  return creatorName ?? (handle === null ? 'A creator' : `@${handle}`);
};

const rowOf = (row: SharedRow): Html => html`<tr>
<th scope="row">${nameOf(row)}</th>
<td>${row.productDescription ?? ''}</td>
<td>${readable(row.status)}</td>
<td>${row.carrier ?? ''}</td>
<td>${row.trackingStatus ? readable(row.trackingStatus) : ''}</td>
<td>${townOf(row)}</td>
</tr>
`;

function tableOf(rows: readonly SharedRow[]): Html {
  if (rows.length === 0) return html`<p>Nothing has been sent yet.</p>`;
  const more = rows.length === MAX_SHARED ? html`<p class="hint">The newest ${MAX_SHARED} are shown.</p>` : html``;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Parcels">
<table>
<thead><tr><th scope="col">Creator</th><th scope="col">Content</th><th scope="col">Status</th><th scope="col">Carrier</th><th scope="col">Tracking</th><th scope="col">Town</th></tr></thead>
<tbody>
${rows.map(rowOf)}</tbody>
</table>
</div>
${more}`;
}

const MISSING = page(
  'Not found',
  html`<h1>Not found</h1>
<p>There is nothing at this address, or no longer. Please ask the person who gave you the link.</p>`,
);

/** `/s/{shareId}`: the current state of a brand's parcels, for anyone with the link; no e-mail address and no street. */
export function shareRoutes(app: FastifyInstance, { postgres }: Context): void {
  app.get('/s/:shareId', async (request, reply) => {
    const share = await findShare(postgres.db, Params.parse(request.params).shareId);
    reply.type('text/html; charset=utf-8');
    if (!share) return await reply.code(404).headers(pageHeaders()).send(MISSING);
    const face = { name: share.brandName, logo: share.logoUrl ?? share.brandLogo };
    const title = share.title ?? share.campaignName ?? 'Shipments';
    const content = html`<h1>${title}</h1>
${share.campaignName && share.campaignName !== title ? html`<p>${share.campaignName}</p>` : html``}
${tableOf(await listShared(postgres.db, share))}`;
    return await reply.headers(pageHeaders(face)).send(page(title, content, face));
  });
}
