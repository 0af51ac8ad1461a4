import { unique } from '../app.ts';
import type { Reply } from './store.ts';

export interface Hook {
  id: string;
  topic: string;
  url: string;
  /** Of WooCommerce: what it signs with. */
  secret: string;
  state: 'active' | 'paused' | 'disabled';
}

/** The webhooks of a test store. */
export interface StoreHooks {
  all: Hook[];
  /** Whether its key, or its app's scopes, let callers make webhooks. */
  mayBeMade: boolean;
  /** Of Shopify: topics that the app's scopes do not reach. */
  outOfScope: string[];
}

export const newHooks = (): StoreHooks => ({
  ...{ all: [], mayBeMade: true },
  outOfScope: ['DISPUTES_CREATE', 'DISPUTES_UPDATE'],
});

let lastId = 0;
const nextId = () => {
  lastId += 1;
  return lastId;
};

const ok = (data: unknown): Reply => ({ status: 200, body: { data } });

function makeOfShopify(hooks: StoreHooks, topic: string, url: string): string[] {
  if (!hooks.mayBeMade || hooks.outOfScope.includes(topic)) {
    return ['You cannot create a webhook subscription with the specified topic'];
  }
  if (hooks.all.some((one) => one.topic === topic && one.url === url)) {
    return ['Address for this topic has already been taken'];
  }
  hooks.all.push({ id: `gid://shopify/WebhookSubscription/${nextId()}`, topic, url, secret: '', state: 'active' });
  return [];
}

/** Shopify's webhook subscriptions by GraphQL, in pages of the requested size. */
export function shopifyHooksReply(
  hooks: StoreHooks,
  { query, variables }: { query: string; variables: Record<string, never> },
): Reply | undefined {
  const { topic = '', webhook = { uri: '' }, id = '' } = Object(variables);
  if (query.includes('webhookSubscriptionCreate')) {
    const userErrors = makeOfShopify(hooks, topic, webhook.uri).map((message) => ({ message }));
    return ok({ webhookSubscriptionCreate: { webhookSubscription: null, userErrors } });
  }
  if (query.includes('webhookSubscriptionDelete')) {
    hooks.all = hooks.all.filter((one) => one.id !== id);
    return ok({ webhookSubscriptionDelete: { deletedWebhookSubscriptionId: id, userErrors: [] } });
  }
  if (!query.includes('webhookSubscriptions')) return undefined;
  const nodes = hooks.all.map((one) => ({ id: one.id, topic: one.topic, uri: one.url }));
  return ok({ webhookSubscriptions: { nodes, pageInfo: { hasNextPage: false, endCursor: null } } });
}

const wire = ({ id, topic, url, state }: Hook) => ({ id: Number(id), topic, delivery_url: url, status: state });

const NOT_WRITABLE: Reply = {
  status: 401,
  body: {
    code: 'woocommerce_rest_authentication_error',
    message: 'The API key provided does not have write permissions.',
    data: { status: 401 },
  },
};

/** WooCommerce's webhooks by REST. */
export function wooHooksReply(
  hooks: StoreHooks,
  method: string | undefined,
  { pathname, searchParams }: URL,
  body: string,
): Reply | undefined {
  const [, id] = /^\/wp-json\/wc\/v3\/webhooks(?:\/(\d+))?$/.exec(pathname) ?? [pathname];
  if (id === pathname || !pathname.startsWith('/wp-json/wc/v3/webhooks')) return undefined;
  if (method === 'GET') return { status: 200, body: hooks.all.map(wire) };
  if (!hooks.mayBeMade) return NOT_WRITABLE;
  if (method === 'DELETE' && searchParams.get('force') === 'true') {
    hooks.all = hooks.all.filter((one) => one.id !== id);
    return { status: 200, body: {} };
  }
  const old = hooks.all.find((one) => one.id === id);
  if (old) {
    Object.assign(old, { secret: JSON.parse(body).secret ?? old.secret });
    return { status: 200, body: wire(old) };
  }
  const { topic, delivery_url: url, secret = unique('password') } = JSON.parse(body);
  const made: Hook = { id: String(nextId()), topic, url, secret, state: 'active' };
  hooks.all.push(made);
  return { status: 201, body: wire(made) };
}
