import { z } from 'zod';
import { DAY_MS } from '../../values/duration.ts';
import { ListQuery, listOf, timestamp } from '../../values/page.ts';
import { besideOthers, type Unchecked } from '../../values/problems.ts';
import { WebAddress } from '../../values/web-address.ts';
import { toWire } from '../../values/wire.ts';
import type { ListedIntegration } from './queries.ts';

export const PROVIDERS = ['shopify', 'woocommerce', 'generic'] as const;
const provider = z.enum(PROVIDERS);

export const Integration = z
  .object({
    id: z.string(),
    provider,
    name: z.string(),
    storefront_url: z.string(),
    currency: z.string(),
    status: z.enum(['connected', 'disconnected', 'error', 'reauth_required']),
    capabilities: z.object({
      discounts: z.object({
        read: z.boolean().describe('Coupons of the store are verified.'),
        create: z.boolean().describe('Always false: codes are added in the store by its owner.'),
      }),
      orders: z.object({ read: z.boolean(), refunds: z.boolean() }),
    }),
    webhook_url: z.string().describe('Where the store sends its webhooks.'),
    webhook_health: z.object({
      status: z
        .enum(['ok', 'failing', 'silent'])
        .describe(
          '`failing`: the last delivery that the store signed was refused, within 24 hours; `silent`: nothing came within 7 days.',
        ),
      last_received_at: timestamp.nullable(),
      failures_24h: z.number().int().describe('Deliveries that the store signed and that were refused.'),
      forged_24h: z
        .number()
        .int()
        .describe('Deliveries that it had not signed, or too large to tell; they say nothing of its health.'),
    }),
    referral_tracking: z.object({
      ready: z.boolean(),
      missing: z
        .array(z.enum(['connection', 'order_webhook']))
        .describe('`connection`: it is disconnected; `order_webhook`: the store has never delivered.'),
    }),
    connected_at: timestamp,
    last_sync_at: timestamp.nullable(),
  })
  .meta({ id: 'Integration' });
export type Integration = z.infer<typeof Integration>;

/** The base of a store's API, in one form. */
const StoreUrl = WebAddress.transform((text) => {
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.replace(/\/+$/, '');
});

const secret = z.string().trim().min(1).max(4_000);
const WOOCOMMERCE_TOKEN = /^[^\s:]+:[^\s:]+$/;

/** What connects a store; neither secret is ever shown again. */
export const IntegrationConnect = z
  .object({
    provider,
    url: StoreUrl.describe("The base of the store's API, such as https://name.myshopify.com."),
    token: secret.describe('An access token; of WooCommerce `consumer key:consumer secret`.'),
    webhook_secret: secret.describe('What the store signs its webhooks with.'),
  })
  .superRefine(({ provider: kind, token }: Unchecked<'provider' | 'token'>, context) => {
    if (kind !== 'woocommerce' || typeof token !== 'string' || WOOCOMMERCE_TOKEN.test(token)) return;
    context.addIssue({
      code: 'custom',
      path: ['token'],
      message: 'must be consumer key:consumer secret',
      input: token,
    });
  }, besideOthers);
export type IntegrationConnect = z.output<typeof IntegrationConnect>;

export const IntegrationFilter = z.object({
  campaign_id: z.string().max(100).optional().describe('Only stores that a link of this campaign is connected to.'),
  ...ListQuery,
});
export type IntegrationFilter = z.output<typeof IntegrationFilter>;

export const IntegrationList = listOf(Integration);

export const IntegrationDisconnected = z.object({
  id: z.string(),
  status: z.literal('disconnected'),
  disconnected: z.literal(true),
});

const SILENT_MS = 7 * DAY_MS;

function healthOf(
  { lastReceivedAt, lastFailedAt }: ListedIntegration,
  now: Date,
): Integration['webhook_health']['status'] {
  const isRefused = lastFailedAt !== null && now.getTime() - lastFailedAt.getTime() < DAY_MS;
  if (isRefused && (lastReceivedAt === null || lastFailedAt >= lastReceivedAt)) return 'failing';
  const isSilent = lastReceivedAt === null || now.getTime() - lastReceivedAt.getTime() > SILENT_MS;
  return isSilent ? 'silent' : 'ok';
}

/** Where a store sends what happens to its orders. */
export const webhookUrlOf = (linksUrl: string, { provider, id }: Pick<ListedIntegration, 'provider' | 'id'>) =>
  `${linksUrl}/ingest/${provider}/${id}`;

export function integrationOf(row: ListedIntegration, now: Date, { linksUrl }: { linksUrl: string }) {
  const hears = row.status !== 'disconnected';
  const missing: Integration['referral_tracking']['missing'] = [
    ...(hears ? [] : ['connection' as const]),
    ...(row.lastReceivedAt ? [] : ['order_webhook' as const]),
  ];
  return {
    ...toWire(row),
    capabilities: {
      discounts: { read: row.status === 'connected', create: false },
      orders: { read: hears, refunds: hears },
    },
    webhook_url: webhookUrlOf(linksUrl, row),
    webhook_health: {
      status: healthOf(row, now),
      last_received_at: row.lastReceivedAt?.toISOString() ?? null,
      failures_24h: row.failures24h ?? 0,
      forged_24h: row.forged24h ?? 0,
    },
    referral_tracking: { ready: missing.length === 0, missing },
  };
}
