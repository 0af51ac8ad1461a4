import { z } from 'zod';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { ShipmentSharesTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { write } from '../../kit/operation/kit.ts';
import { notFound, validationError } from '../../kit/values/errors.ts';
import { randomBase62 } from '../../kit/values/ids.ts';
import { WebAddress } from '../../kit/values/web-address.ts';
import { campaignProblems } from '../campaigns/campaigns.ts';

/** The maximum number of parcels on a shared page. */
export const MAX_SHARED = 500;

/** A shared page that is not revoked, found by id alone, because the link alone gives access. */
export async function findShare(db: Db, shareId: string) {
  return await db
    .selectFrom('shipmentShares as share')
    .innerJoin('brands as brand', 'brand.id', 'share.brandId')
    .leftJoin('campaigns as campaign', (join) =>
      join.onRef('campaign.id', '=', 'share.campaignId').on('campaign.status', '<>', 'draft'),
    )
    .selectAll('share')
    .select([
      'brand.name as brandName',
      'brand.logo as brandLogo',
      'brand.website as brandWebsite',
      'campaign.title as campaignTitle',
    ])
    .where('share.shareId', '=', shareId)
    .where('share.revokedAt', 'is', null)
    .executeTakeFirst();
}

export type SharedRow = Awaited<ReturnType<typeof listShared>>[number];

/** The newest parcels of the shared campaign, or of the brand. A draft's title is not shown, because drafts are not public. */
export async function listShared(db: Db, { brandId, campaignId }: Pick<ShipmentSharesTable, 'brandId' | 'campaignId'>) {
  return await db
    .selectFrom('shipments')
    .innerJoin('creators as creator', 'creator.id', 'shipments.creatorId')
    .leftJoin('campaigns as campaign', (join) =>
      join.onRef('campaign.id', '=', 'shipments.campaignId').on('campaign.status', '<>', 'draft'),
    )
    .select([
      'shipments.productDescription',
      'shipments.status',
      'shipments.carrier',
      'shipments.trackingStatus',
      'shipments.estimatedArrival',
      'shipments.shippingAddress',
      'creator.name as creatorName',
      'creator.igHandle',
      'creator.ttHandle',
      'campaign.title as campaignTitle',
    ])
    .where('shipments.brandId', '=', brandId)
    .$if(campaignId !== null, (query) => query.where('shipments.campaignId', '=', campaignId ?? ''))
    .orderBy('shipments.createdAt', 'desc')
    .orderBy('shipments.id', 'desc')
    .limit(MAX_SHARED)
    .execute();
}

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
      'The page shows their current state, by name or handle, without email addresses and streets, until it is revoked. ' +
      'Anyone with the URL can read it.',
    forAgents: { isListed: false },
    hints: { dataOut: true },
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
      const share = {
        shareId: newShareId,
        brandId,
        title,
        campaignName,
        campaignId,
        logoUrl,
        createdAt: now,
        revokedAt: null,
      };
      await db.insertInto('shipmentShares').values(share).execute();
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
    description: 'Its address then no longer works.',
    forAgents: { isListed: false },
    params: z.object({ shareId: shareId.max(100) }),
    response: z
      .object({ deleted: z.literal(true).describe('Always true: the page is revoked.'), shareId })
      .meta({ id: 'ShipmentShareRevoked' }),
    errors: ['NOT_FOUND'],
    hints: { destructive: true },
    apply: async ({ db, brandId, now, audit }, { params }) => {
      const isRevoked = await isFound(
        db
          .updateTable('shipmentShares')
          .set({ revokedAt: now })
          .where('brandId', '=', brandId)
          .where('shareId', '=', params.shareId)
          .where('revokedAt', 'is', null)
          .returning('shareId'),
      );
      if (!isRevoked) throw notFound('shared page');
      audit({ resourceId: brandId, old: { shared: 'shipments' }, new: null });
      return { deleted: true as const, shareId: params.shareId };
    },
  }),
] as const;
