import { z } from 'zod';
import { LaterCommissionFilter, PlainCommissionFilter } from '../../affiliates/commissions/commissions.shapes.ts';
import { AffiliateList, LinkCreate, LinkPatch } from '../../affiliates/links/links.shapes.ts';
import { PerformanceList } from '../../analytics/performance/performance.shapes.ts';
import { Analytics, DimensionFilter, PlainAnalyticsFilter } from '../../analytics/summary/summary.shapes.ts';
import { DirectoryCreatorDetail } from '../../directory/search/creator.shapes.ts';
import { PlainSearchAnswer } from '../../directory/search/search.shapes.ts';
import { listSchema, Pagination, utcTimestampInput } from '../../kit/values/page.ts';
import { OlderWebhook } from '../../platform/webhooks/webhooks.shapes.ts';
import {
  CampaignCreate,
  CampaignDetail,
  CampaignFilter,
  CampaignPatch,
  CampaignRecord,
  CampaignSaved,
} from '../../workflow/campaigns/campaigns.shapes.ts';
import { Shipment, ShipmentCreate, ShipmentPatch } from '../../workflow/shipments/shipments.shapes.ts';
import type { Difference } from './declare.ts';
import { legacyCampaign, legacyCommission, legacyLink, legacyShipment, Town } from './items.ts';
import { readCampaign, readCommissionWindow, readLink, readShipment } from './read.ts';

const wrapOne = <T extends z.ZodType>(item: T) => z.object({ data: item });
const wrapPage = <T extends z.ZodType>(item: T, name: string) => listSchema(item).meta({ id: name });

const status = z
  .enum(['live', 'active', 'draft', 'paused', 'completed'])
  .describe('`live` or `active`: creators can apply.');
const WORDS = 'Answers have `live` for `active` and `organic_ugc` for `ugc`; both words are accepted.';

const campaigns: Record<string, Difference> = {
  list_campaigns: {
    query: CampaignFilter.omit({ search: true }).extend({ status: status.optional() }),
    response: wrapPage(legacyCampaign(CampaignRecord), 'LegacyCampaignList'),
    read: readCampaign,
    says: WORDS,
  },
  create_campaign: {
    body: CampaignCreate.extend({ status: status.optional() }).meta({ id: 'LegacyCampaignCreate' }),
    response: wrapOne(legacyCampaign(CampaignSaved)),
    read: readCampaign,
    says: WORDS,
  },
  get_campaign: { response: wrapOne(legacyCampaign(CampaignDetail)), says: WORDS },
  update_campaign: {
    body: CampaignPatch.extend({ status: status.optional() }).meta({ id: 'LegacyCampaignPatch' }),
    response: wrapOne(legacyCampaign(CampaignSaved)),
    read: readCampaign,
    says: WORDS,
  },
};

const LINKS =
  'Items have `code`, `discount_percent`, `url`, `destination_url`, `status` (`active`, `expired`, `disabled`) and `expires_at` in place of ' +
  '`value`, `commission_rate` and `active`.';

function links(now: () => Date): Record<string, Difference> {
  const item = legacyLink(now);
  const code = { code: z.string().optional().describe('Alias of `value`.').meta({ example: 'ANA10' }) };
  return {
    list_affiliates: {
      response: z
        .object({ data: z.array(item), pagination: Pagination, summary: AffiliateList.shape.summary })
        .meta({ id: 'LegacyAffiliateList' }),
      says: LINKS,
    },
    list_affiliate_links: { response: wrapPage(item, 'LegacyLinkList'), says: LINKS },
    create_affiliate_link: {
      body: z
        .object({ ...LinkCreate.shape, value: LinkCreate.shape.value.optional(), ...code })
        .meta({ id: 'LegacyLinkCreate' }),
      response: wrapOne(item),
      read: readLink,
      says: `\`code\` is an alias of \`value\`. ${LINKS}`,
    },
    update_affiliate_link: {
      body: LinkPatch.extend({
        ...code,
        status: z.enum(['active', 'disabled']).optional().describe('`disabled` deactivates the link.'),
      }).meta({
        id: 'LegacyLinkPatch',
      }),
      response: wrapOne(item),
      read: readLink,
      says: `\`code\` is an alias of \`value\`; \`status\` \`active\` or \`disabled\` is \`active\` true or false. ${LINKS}`,
    },
  };
}

const window = {
  from: utcTimestampInput.optional().describe('Only those created at or after this time.'),
  to: utcTimestampInput
    .optional()
    .describe('Only those created at or before this time; a date includes the whole day.'),
};
const COMMISSIONS =
  '`from` and `to` select by the time of creation, both included. Items have `order_amount`, `commission_amount`, ' +
  '`commission_rate`, `source` (`discount_code`, `link`, `manual`) and `code`.';
const commissionList: Difference = {
  query: PlainCommissionFilter.extend(window),
  unknown: Object.keys(LaterCommissionFilter).filter((name) => name !== 'sort'),
  response: wrapPage(legacyCommission, 'LegacyCommissionList'),
  read: readCommissionWindow,
  says: COMMISSIONS,
};

const SHIPMENTS =
  'Items also have `address` (`city`, `state`, `country`), which is also accepted in place of `shipping_address`.';
const address = z.object(Town.shape).partial().nullable().optional().describe('Taken for `shipping_address`.');

const shipments: Record<string, Difference> = {
  list_shipments: { response: wrapPage(legacyShipment(Shipment), 'LegacyShipmentList'), says: SHIPMENTS },
  create_shipment: {
    body: ShipmentCreate.extend({ address }).meta({ id: 'LegacyShipmentCreate' }),
    response: wrapOne(legacyShipment(Shipment)),
    read: readShipment,
    says: SHIPMENTS,
  },
  update_shipment: {
    body: ShipmentPatch.extend({ address }).meta({ id: 'LegacyShipmentPatch' }),
    response: wrapOne(legacyShipment(Shipment)),
    read: readShipment,
    says: SHIPMENTS,
  },
};

const WEBHOOKS =
  'Items have `status` (`active`, `failing`, `disabled`) and `last_triggered` in place of `active` and ' +
  '`last_triggered_at`. Webhooks of both interfaces are listed.';

const webhooks: Record<string, Difference> = {
  list_webhooks: { response: wrapPage(OlderWebhook, 'OlderWebhookList'), says: WEBHOOKS },
  create_webhook: {
    says: `Accepts a \`secret\` and the older names of events; see [webhooks](webhooks.md#the-older-interface). ${WEBHOOKS}`,
  },
};

/** All differences of the older interface, by operation. */
export const differences = (now: () => Date): Readonly<Record<string, Difference>> => ({
  ...campaigns,
  search_creators: {
    unknown: ['preview', 'directory_version', 'q_as'],
    response: PlainSearchAnswer,
    says:
      'City and state are plain partial matches of the stored text, without metros, `City, ST` and codes; gender is an exact ' +
      'match. There is no preview.',
  },
  get_directory_creator: { response: z.object({ data: DirectoryCreatorDetail }), says: 'There is no `meta`.' },
  ...links(now),
  list_commissions: commissionList,
  list_affiliate_commissions: commissionList,
  ...shipments,
  ...webhooks,
  review_commissions: {
    says: 'Also records a commission by hand: `creator_email`, `amount`, `description`, `status` (`pending`, `approved`) → 201.',
  },
  get_analytics: {
    query: PlainAnalyticsFilter,
    unknown: [...Object.keys(DimensionFilter), 'compare'],
    response: Analytics.omit({ previous: true, time_zone: true }).meta({ id: 'LegacyAnalytics' }),
    read: (raw) => ({ ...raw, query: { ...raw.query, time_zone: 'UTC' } }),
    says: 'There are no filters and no `previous`. Days are UTC.',
  },
  list_affiliate_performance: {
    response: PerformanceList.extend({
      summary: PerformanceList.shape.summary
        .omit({ time_zone: true })
        .describe('Sums over all matching rows, not just this page.'),
    }).meta({ id: 'LegacyPerformanceList' }),
    says: 'Days are UTC.',
  },
  refresh_content: {
    path: '/api/v1/content/{id}',
    says: 'The path is `POST /api/v1/content/{id}`, without `/refresh`.',
  },
});
