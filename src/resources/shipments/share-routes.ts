import { z } from 'zod';
import { change, noLookUp, nothing } from '../../operation/operation.ts';
import { notFound, validationError } from '../../values/errors.ts';
import { randomBase62 } from '../../values/ids.ts';
import { WebAddress } from '../../values/web-address.ts';
import { campaignProblems } from '../campaigns/actions.ts';
import { insertShare, revokeShare } from './share-queries.ts';

const tag = 'Shipments';
/** 131 bits: nobody finds a page by guessing. */
const SHARE_ID_LENGTH = 22;
const text = z.string().trim().min(1).max(200).nullable();

const ShareCreate = z
  .object({
    title: text.optional().meta({ example: 'Summer launch: parcels' }),
    campaignName: text.optional(),
    campaignId: z.string().min(1).max(100).nullable().optional().describe("Only this campaign's parcels."),
    logoUrl: WebAddress.nullable().optional().describe('Shown when it is https; the brand’s own when omitted.'),
  })
  .superRefine(({ title, campaignId }, context) => {
    if (title || campaignId) return;
    const params = { code: 'required' };
    context.addIssue({ code: 'custom', params, path: ['title'], message: 'give `title` or `campaignId`' });
  })
  .meta({ id: 'ShipmentShareCreate' });

const shareShipments = change({
  id: 'share_shipments',
  method: 'POST',
  path: '/api/brand/shipments/share',
  tag,
  summary: 'Make a public page of the parcels',
  description:
    'The page shows them as they are now, by name or handle, without e-mail addresses and streets, until it is revoked. ' +
    'Whoever has its URL may read it.',
  callers: ['brand'],
  params: nothing,
  query: nothing,
  body: ShareCreate,
  response: z.object({ shareId: z.string(), url: z.string() }).meta({ id: 'ShipmentShare' }),
  status: 201,
  hints: { readOnly: false, idempotent: false, destructive: false },
  lookUp: async ({ config }) => config.linksUrl,
  apply: async (work, { body }, linksUrl) => {
    const { db, brandId, now } = work;
    const problems = await campaignProblems(work, body.campaignId);
    if (problems.length > 0) throw validationError(problems.map((one) => ({ ...one, field: 'campaignId' })));
    const shareId = randomBase62(SHARE_ID_LENGTH);
    const { title = null, campaignName = null, campaignId = null, logoUrl = null } = body;
    const shown = { brandId, title, campaignName, campaignId, logoUrl, createdAt: now, revokedAt: null };
    await insertShare(db, { shareId, ...shown });
    work.audit({ resourceId: brandId, old: null, new: { shared: 'shipments', title, campaignId } });
    return { shareId, url: `${linksUrl}/s/${shareId}` };
  },
});

const revokeShipmentShare = change({
  id: 'revoke_shipment_share',
  method: 'DELETE',
  path: '/api/brand/shipments/share/{shareId}',
  tag,
  summary: 'Close a public page of parcels',
  description: 'From then on the page is not found.',
  callers: ['brand'],
  params: z.object({ shareId: z.string().max(100) }),
  query: nothing,
  body: nothing,
  response: z.object({ deleted: z.literal(true), shareId: z.string() }).meta({ id: 'ShipmentShareRevoked' }),
  errors: ['NOT_FOUND'],
  hints: { readOnly: false, idempotent: false, destructive: true },
  lookUp: noLookUp,
  apply: async ({ db, brandId, now, audit }, { params: { shareId } }) => {
    if (!(await revokeShare(db, brandId, shareId, now))) throw notFound('shared page');
    audit({ resourceId: brandId, old: { shared: 'shipments' }, new: null });
    return { deleted: true as const, shareId };
  },
});

export const shareOperations = [shareShipments, revokeShipmentShare] as const;
