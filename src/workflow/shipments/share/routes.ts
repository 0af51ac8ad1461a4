import { z } from 'zod';
import { write } from '../../../kit/operation/kit.ts';
import { notFound, validationError } from '../../../kit/values/errors.ts';
import { randomBase62 } from '../../../kit/values/ids.ts';
import { WebAddress } from '../../../kit/values/web-address.ts';
import { campaignProblems } from '../../campaigns/actions.ts';
import { insertShare, revokeShare } from './queries.ts';

const tag = 'Shipments';
/** 131 bits, so that a page cannot be guessed. */
const SHARE_ID_LENGTH = 22;
const text = z.string().trim().min(1).max(200).nullable();

const SHARE_ID = '4fV8kQ2mXz7LpRb0Uo3xKt';
const shareId = z.string().describe('Id of the public page, the end of its URL.').meta({ example: SHARE_ID });

const ShareCreate = z
  .object({
    title: text.optional().describe('Title of the page.').meta({ example: 'Summer launch: parcels' }),
    campaignName: text.optional().describe('Campaign name shown on the page.').meta({ example: 'Summer launch' }),
    campaignId: z
      .string()
      .min(1)
      .max(100)
      .nullable()
      .optional()
      .describe('Show only the parcels of this campaign.')
      .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
    logoUrl: WebAddress.nullable()
      .optional()
      .describe("Logo, shown when it is https; the brand's logo when omitted.")
      .meta({ example: 'https://acme.example/logo.png' }),
  })
  .superRefine(({ title, campaignId }, context) => {
    if (title || campaignId) return;
    const params = { code: 'required' };
    context.addIssue({ code: 'custom', params, path: ['title'], message: 'give `title` or `campaignId`' });
  })
  .meta({ id: 'ShipmentShareCreate' });

export const shareOperations = [
  write({
    id: 'share_shipments',
    method: 'POST',
    path: '/api/brand/shipments/share',
    tag,
    summary: 'Create a public page of the parcels',
    description:
      'The page shows their current state, by name or handle, without e-mail addresses and streets, until it is revoked. ' +
      'Anyone with the URL can read it.',
    forAgents: false,
    body: ShareCreate,
    response: z
      .object({
        shareId,
        url: z
          .string()
          .describe('Address of the public page.')
          .meta({ example: `https://links.example/s/${SHARE_ID}` }),
      })
      .meta({ id: 'ShipmentShare' }),
    status: 201,
    lookUp: async ({ config }) => config.linksUrl,
    apply: async (work, { body }, linksUrl) => {
      const { db, brandId, now } = work;
      const problems = await campaignProblems(work, body.campaignId);
      if (problems.length > 0) throw validationError(problems.map((one) => ({ ...one, field: 'campaignId' })));
      const newShareId = randomBase62(SHARE_ID_LENGTH);
      const { title = null, campaignName = null, campaignId = null, logoUrl = null } = body;
      const shown = { brandId, title, campaignName, campaignId, logoUrl, createdAt: now, revokedAt: null };
      await insertShare(db, { shareId: newShareId, ...shown });
      work.audit({ resourceId: brandId, old: null, new: { shared: 'shipments', title, campaignId } });
      return { shareId: newShareId, url: `${linksUrl}/s/${newShareId}` };
    },
  }),
  write({
    id: 'revoke_shipment_share',
    method: 'DELETE',
    path: '/api/brand/shipments/share/{shareId}',
    tag,
    summary: 'Revoke a public page of parcels',
    description: 'The page is then 404.',
    forAgents: false,
    params: z.object({ shareId: shareId.max(100) }),
    response: z
      .object({ deleted: z.literal(true).describe('Always true: the page is revoked.'), shareId })
      .meta({ id: 'ShipmentShareRevoked' }),
    errors: ['NOT_FOUND'],
    hints: { destructive: true },
    apply: async ({ db, brandId, now, audit }, { params }) => {
      if (!(await revokeShare(db, brandId, params.shareId, now))) throw notFound('shared page');
      audit({ resourceId: brandId, old: { shared: 'shipments' }, new: null });
      return { deleted: true as const, shareId: params.shareId };
    },
  }),
] as const;
