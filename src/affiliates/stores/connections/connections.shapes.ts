import { z } from 'zod';
import { DAY_MS } from '../../../kit/values/duration.ts';
import { idField } from '../../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp } from '../../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../../kit/values/problems.ts';
import { WebAddress } from '../../../kit/values/web-address.ts';
import { toWire } from '../../../kit/values/wire.ts';
import { getClient } from '../formats/clients.ts';
import { PROVIDERS } from '../formats/provider.ts';
import type { ListedIntegration } from './connections.ts';
import { listWarnings } from './warnings.ts';

const provider = z
  .enum(PROVIDERS)
  .describe('Kind of store. `generic`: a store of your own that follows the protocol in `/manual/stores`.');
export const integrationId = idField('int', 'Id of the store.');

export const Integration = z
  .object({
    id: integrationId,
    provider,
    name: z.string().describe('Name of the store, as the store reports it.').meta({ example: 'Acme Shop' }),
    storefront_url: z.string().describe('Address where customers shop.').meta({ example: 'https://shop.acme.example' }),
    currency: z.string().describe('ISO 4217 code of the currency that the store sells in.').meta({ example: 'USD' }),
    status: z
      .enum(['connected', 'disconnected', 'error', 'reauth_required'])
      .describe(
        '`connected`: coupons are verified and deliveries accepted. `disconnected`: you disconnected it, and its deliveries are refused. `error`: not in use yet. `reauth_required`: the store no longer accepts the access token.',
      ),
    capabilities: z
      .object({
        discounts: z
          .object({
            read: z.boolean().describe('Whether coupons can be verified at the store.'),
            create: z.boolean().describe('Always false: you add codes in the store yourself.'),
          })
          .describe('What Rollcall can do with coupons of the store.'),
        orders: z
          .object({
            read: z.boolean().describe('Whether orders of the store are accepted.').meta({ example: true }),
            refunds: z.boolean().describe('Whether refunds of the store are accepted.').meta({ example: true }),
          })
          .describe('What Rollcall can do with orders of the store.'),
      })
      .describe('What Rollcall can do with this store now.'),
    webhook_url: z
      .string()
      .describe('Address to which the store must send its webhooks.')
      .meta({ example: 'https://links.example/ingest/shopify/int_0Uo3xK2mVdT2aXs7LpRb' }),
    webhook_health: z
      .object({
        status: z
          .enum(['ok', 'failing', 'silent', 'disabled'])
          .describe(
            '`ok`: deliveries arrive. `failing`: the last delivery that the store signed could not be read, within 24 hours. `silent`: the store has orders that no webhook reported, or, if it cannot list its orders, sent nothing within 7 days. `disabled`: the store switched a webhook off or lost it, and Rollcall could not create it again.',
          ),
        last_received_at: timestamp
          .nullable()
          .describe('When the last delivery was accepted; null if none ever was.')
          .meta({ example: '2026-03-02T09:30:00.000Z' }),
        failures_24h: z
          .number()
          .int()
          .describe('Deliveries of the last 24 hours that the store signed and that could not be read or recorded.'),
        forged_24h: z
          .number()
          .int()
          .describe(
            'Deliveries of the last 24 hours that the store did not sign, or that were too large to check. They do not affect `status`.',
          ),
      })
      .describe('Whether the webhooks of the store arrive.'),
    webhook_setup: z
      .object({
        status: z
          .enum(['pending', 'active', 'manual', 'disabled'])
          .describe(
            '`active`: all webhooks are on in the store; this is checked every 15 minutes. `pending`: Rollcall is creating them. `manual`: you create them in the store, because Rollcall may not. `disabled`: one is off and could not be created again.',
          )
          .meta({ example: 'active' }),
        topics: z
          .array(z.string())
          .describe('Events that the store must send webhooks for.')
          .meta({ example: ['order.created', 'order.updated', 'order.deleted', 'order.restored'] }),
        missing: z.array(z.string()).describe('Events whose webhooks are known to be off.').meta({ example: [] }),
        problem: z
          .string()
          .nullable()
          .describe('Why Rollcall could not create the missing webhooks, and how to fix it; null if it could.')
          .meta({ example: null }),
        checked_at: timestamp
          .nullable()
          .describe('When the webhooks of the store were last listed; null if they cannot be.')
          .meta({ example: '2026-03-02T09:30:00.000Z' }),
      })
      .describe('Whether the webhooks of the store are on.'),
    warnings: z
      .array(
        z.object({
          code: z
            .enum(['api_version', 'webhook_port', 'webhook_address'])
            .describe(
              '`api_version`: the store answers with a version of its API that Rollcall was not made for. `webhook_port`: the store never delivers to the port of `webhook_url`. `webhook_address`: the store cannot reach the address of `webhook_url`.',
            ),
          message: z.string().describe('The problem, and how to fix it.'),
        }),
      )
      .describe('Problems that may break the connection later, although it works now.')
      .meta({ example: [] }),
    referral_tracking: z
      .object({
        ready: z
          .boolean()
          .describe('Whether orders of the store can be attributed to creators.')
          .meta({ example: true }),
        missing: z
          .array(z.enum(['connection', 'order_webhook']))
          .describe(
            'What is missing until `ready`. `connection`: the store is disconnected. `order_webhook`: it has never sent a delivery.',
          ),
        status: z
          .enum(['never_seen', 'seen'])
          .describe(
            'Whether clicks reach orders. `never_seen`: no order of the store has carried a click on one of your links, so only discount codes earn commissions. `seen`: one has.',
          ),
        click_share: z
          .number()
          .nullable()
          .describe(
            'Share of the last 50 orders that carried a click on one of your links, from 0 to 1; null without any order. It falls when the script is missing from the shop.',
          )
          .meta({ example: 0.34 }),
      })
      .describe('Whether sales of the store earn commissions.'),
    connected_at: timestamp
      .describe('When the store was last connected.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    last_sync_at: timestamp
      .nullable()
      .describe('When a delivery of the store last recorded an order or refund; null if none ever did.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    renewal_tags: z
      .array(z.string())
      .describe("Your own tags of orders that renew a subscription, beside those that Shopify's subscription apps use.")
      .meta({ example: ['Monthly box'] }),
    first_tags: z
      .array(z.string())
      .describe('Your own tags of orders that start a subscription.')
      .meta({ example: ['First box'] }),
    last_swept_at: timestamp
      .nullable()
      .describe(
        'When orders were last read from the store itself. This happens every ten minutes and records orders that no webhook reported. Null for a store that cannot list its orders.',
      )
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    time_zone: z
      .string()
      .nullable()
      .describe(
        "The store's own time zone, as it said when it was connected; null if it did not. The brand's days stay those of `settings.time_zone` until you set that.",
      )
      .meta({ example: 'Australia/Sydney' }),
  })
  .meta({ id: 'Integration' });
export type Integration = z.infer<typeof Integration>;

const MAX_TAGS = 50;
const tags = z.array(z.string().trim().min(1).max(100)).max(MAX_TAGS).optional();

export const IntegrationPatch = z
  .object({
    renewal_tags: tags.describe('Tags of orders that renew a subscription. Case, `_` and `-` do not matter.').meta({
      example: ['Monthly box'],
    }),
    first_tags: tags
      .describe('Tags of orders that start a subscription. Case, `_` and `-` do not matter.')
      .meta({ example: ['First box'] }),
  })
  .meta({ id: 'IntegrationPatch' });

/** The base URL of a store's API, in one spelling. */
export const StoreUrl = WebAddress.transform((text) => {
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.replace(/\/+$/, '');
});

const secret = z.string().trim().min(1).max(4_000);
const WOOCOMMERCE_TOKEN = /^[^\s:]+:[^\s:]+$/;

type UncheckedSecrets = Unchecked<'provider' | 'token' | 'webhook_secret' | 'client_id' | 'client_secret'>;

const REQUIRED = 'is required';

/** Yields problems that depend on several secrets, by field. */
function* listSecretProblems(entered: UncheckedSecrets): Generator<[keyof UncheckedSecrets, string]> {
  const { provider: kind, token, client_id: id, client_secret: appSecret } = entered;
  const isApp = id !== undefined || appSecret !== undefined;
  if (isApp && kind !== 'shopify') {
    yield [id === undefined ? 'client_secret' : 'client_id', 'must be left out: only Shopify has apps'];
    return;
  }
  if (isApp) {
    if (id === undefined) yield ['client_id', REQUIRED];
    if (appSecret === undefined) yield ['client_secret', REQUIRED];
    if (token !== undefined) yield ['token', 'must be left out beside client_id'];
    return;
  }
  if (token === undefined) yield ['token', REQUIRED];
  if (entered.webhook_secret === undefined) yield ['webhook_secret', REQUIRED];
  if (kind !== 'woocommerce' || typeof token !== 'string' || WOOCOMMERCE_TOKEN.test(token)) return;
  yield ['token', 'must be consumer key:consumer secret'];
}

/** Secrets are never part of a response. */
export const IntegrationConnect = z
  .object({
    provider,
    url: StoreUrl.describe("Base URL of the store's API, such as https://name.myshopify.com."),
    token: secret
      .optional()
      .describe(
        "Access token of the store's API; for WooCommerce `consumer key:consumer secret`. For Shopify, left out beside `client_id`.",
      ),
    webhook_secret: secret
      .optional()
      .describe(
        'Secret with which the store signs its webhooks. Left out beside `client_id`: Shopify then signs with the client secret.',
      ),
    client_id: secret
      .optional()
      .describe(
        "Client ID of a Shopify app of the Dev Dashboard. The app must belong to the shop's organization and be installed in the shop.",
      )
      .meta({ example: '0a1b2c3d4e5f60718293a4b5c6d7e8f9' }),
    client_secret: secret
      .optional()
      .describe('Client secret of the same Shopify app.')
      .meta({ example: 'shpss_0a1b2c3d' }),
  })
  .superRefine((entered: UncheckedSecrets, context) => {
    for (const [field, message] of listSecretProblems(entered)) {
      const params = message === REQUIRED ? { code: 'required' } : {};
      context.addIssue({ code: 'custom', path: [field], message, params, input: entered[field] });
    }
  }, besideOthers);
export type IntegrationConnect = z.output<typeof IntegrationConnect>;

export const IntegrationFilter = z.object({
  campaign_id: z
    .string()
    .max(100)
    .optional()
    .describe('Only stores that a code or link of this campaign belongs to.')
    .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
  ...ListQuery,
});
export type IntegrationFilter = z.output<typeof IntegrationFilter>;

export const IntegrationList = listSchema(Integration);

export const IntegrationDisconnected = z.object({
  id: integrationId,
  status: z.literal('disconnected').describe('Always `disconnected`.'),
  disconnected: z.literal(true).describe('Always true, even if it was disconnected before.'),
});

const SILENT_MS = 7 * DAY_MS;

function getWebhookHealth(
  { lastReceivedAt, lastFailedAt, sweptAt, silentSince, webhookState }: ListedIntegration,
  now: Date,
): Integration['webhook_health']['status'] {
  if (webhookState === 'disabled') return 'disabled';
  const isRefused = lastFailedAt !== null && now.getTime() - lastFailedAt.getTime() < DAY_MS;
  if (isRefused && (lastReceivedAt === null || lastFailedAt >= lastReceivedAt)) return 'failing';
  const isQuiet = lastReceivedAt === null || now.getTime() - lastReceivedAt.getTime() > SILENT_MS;
  const isSilent = sweptAt === null ? isQuiet : silentSince !== null;
  return isSilent ? 'silent' : 'ok';
}

/** Returns the address to which a store sends its deliveries. */
export const toWebhookUrl = (linksUrl: string, { provider, id }: Pick<ListedIntegration, 'provider' | 'id'>) =>
  `${linksUrl}/ingest/${provider}/${id}`;

export function toIntegration(row: ListedIntegration, now: Date, { linksUrl }: { linksUrl: string }) {
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
    renewal_tags: row.renewalTags ?? [],
    first_tags: row.firstTags ?? [],
    last_swept_at: row.sweptAt?.toISOString() ?? null,
    webhook_url: toWebhookUrl(linksUrl, row),
    webhook_health: {
      status: getWebhookHealth(row, now),
      last_received_at: row.lastReceivedAt?.toISOString() ?? null,
      failures_24h: row.failures24h ?? 0,
      forged_24h: row.forged24h ?? 0,
    },
    webhook_setup: {
      status: row.webhookState,
      topics: [...getClient(row.provider).topics],
      missing: row.missingWebhooks,
      problem: row.webhookProblem,
      checked_at: row.webhooksCheckedAt?.toISOString() ?? null,
    },
    warnings: listWarnings(row, linksUrl),
    referral_tracking: {
      ready: missing.length === 0,
      missing,
      status: row.hasSeenClick ? ('seen' as const) : ('never_seen' as const),
      click_share: row.clickShare,
    },
  };
}
