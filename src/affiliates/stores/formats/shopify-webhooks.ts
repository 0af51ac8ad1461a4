import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import {
  getHeader,
  type ListedWebhook,
  needsReconnect,
  type StoreAccess,
  StoreTime,
  type StoreWebhooks,
  WebhookRefused,
} from './provider.ts';
import { askShopify } from './shopify-graphql.ts';

export const TOPICS = [
  'orders/create',
  'orders/paid',
  'orders/updated',
  'orders/cancelled',
  'orders/delete',
  'refunds/create',
];
const UNINSTALLED = 'app/uninstalled';
/** Optional topics; disputes require another scope. */
const ALSO = ['disputes/create', 'disputes/update', UNINSTALLED];

const LIST = `query Webhooks($after: String) {
  webhookSubscriptions(first: 100, after: $after) { nodes { id topic uri } pageInfo { hasNextPage endCursor } }
}`;

const MAKE = `mutation Make($topic: WebhookSubscriptionTopic!, $webhook: WebhookSubscriptionInput!) {
  webhookSubscriptionCreate(topic: $topic, webhookSubscription: $webhook) { webhookSubscription { id } userErrors { message } }
}`;

const REMOVE = `mutation Remove($id: ID!) {
  webhookSubscriptionDelete(id: $id) { deletedWebhookSubscriptionId userErrors { message } }
}`;

const WebhookPage = z.object({
  webhookSubscriptions: z.object({
    nodes: z.array(z.object({ id: z.string(), topic: z.string(), uri: z.string() })),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
  }),
});
const UserErrors = z.array(z.object({ message: z.string() }));
const CreatedWebhook = z.object({ webhookSubscriptionCreate: z.object({ userErrors: UserErrors }) });

/** `orders/create` is ORDERS_CREATE in GraphQL. */
const toEnum = (topic: string) => topic.replace('/', '_').toUpperCase();
const BY_ENUM = new Map([...TOPICS, ...ALSO].map((topic) => [toEnum(topic), topic]));

/** Lists the webhooks that this app created; Shopify hides those that an admin created under Notifications. */
async function list(store: StoreAccess): Promise<ListedWebhook[]> {
  const webhooks: ListedWebhook[] = [];
  for (let after: string | null = null; ; ) {
    const { webhookSubscriptions: page }: z.output<typeof WebhookPage> = await askShopify(
      store,
      LIST,
      { after },
      WebhookPage,
    );
    for (const { id, topic, uri } of page.nodes) {
      webhooks.push({ id, topic: BY_ENUM.get(topic) ?? topic, url: uri, state: 'active' });
    }
    if (!page.pageInfo.hasNextPage || !page.pageInfo.endCursor) return webhooks;
    after = page.pageInfo.endCursor;
  }
}

const MISSING_SCOPE =
  'The app may not read orders. In the Dev Dashboard, release a version of the app with the scopes read_orders and read_discounts, and accept it in the shop.';

async function make(store: StoreAccess, { topic, url }: { topic: string; url: string }): Promise<void> {
  const variables = { topic: toEnum(topic), webhook: { uri: url, format: 'JSON' } };
  const { webhookSubscriptionCreate: result } = await askShopify(store, MAKE, variables, CreatedWebhook).catch(
    (error: unknown) => {
      if (needsReconnect(error)) throw new WebhookRefused(MISSING_SCOPE, { cause: error });
      throw error;
    },
  );
  const [error] = result.userErrors;
  if (!error || /already been taken/i.test(error.message)) return;
  const isOfScope = /cannot create a webhook subscription|access/i.test(error.message);
  throw new WebhookRefused(isOfScope ? MISSING_SCOPE : `Shopify refuses the address: ${error.message}`);
}

export const shopifyWebhooks: StoreWebhooks = {
  alsoTopics: ALSO,
  // Shopify signs webhooks created by API with the app's secret, which is known only if the store was connected with
  // it.
  mayBeMade: ({ app }) => app !== undefined,
  list,
  make,
  remove: async (store, id) => void (await askShopify(store, REMOVE, { id }, z.unknown())),
};

/** Reads the time of uninstallation, because a late delivery may concern an app that has been installed again. */
export function uninstalledAt(headers: IncomingHttpHeaders): Date | undefined {
  if (getHeader(headers, 'x-shopify-topic') !== UNINSTALLED) return undefined;
  return StoreTime.safeParse(getHeader(headers, 'x-shopify-triggered-at')).data ?? new Date();
}
