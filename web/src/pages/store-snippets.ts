import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';

export type Provider = Row<'list_affiliate_stores'>['provider'];
export const PROVIDERS = listChoices('list_affiliate_stores', 'provider');

type SnippetStore = Pick<Row<'list_affiliate_stores'>, 'provider' | 'webhook_url'>;

/** The address of the links host, which the store's webhooks go to as well. */
const getLinksUrl = ({ webhook_url: url }: SnippetStore) => url.slice(0, url.lastIndexOf('/ingest/'));

/** The tag that a shop's pages include: its script keeps the click that led a visitor to the shop. */
export const buildScriptTag = (store: SnippetStore) => `<script src="${getLinksUrl(store)}/r.js?v=1" async></script>\n`;

/** For Shopify's customer events: it reports the click of an order, also of one that skipped the cart. */
export const buildPixel = ({
  webhook_url: url,
}: SnippetStore) => `// Rollcall: tells which creator's link led to an order.
analytics.subscribe('checkout_completed', async (event) => {
  const click = await browser.cookie.get('rollcall_click');
  const order = event.data.checkout.order;
  if (!click || !order) return;
  await fetch('${url}/clicks', {
    method: 'POST',
    keepalive: true,
    body: JSON.stringify({ order_id: order.id, click_id: click }),
  });
});
`;

/** The WooCommerce plugin, filled in for the store. */
export const buildPluginUrl = (store: SnippetStore) =>
  `${store.webhook_url.replace('/ingest/woocommerce/', '/plugin/woocommerce/')}.zip`;

interface HowTo {
  label: string;
  url: string;
  /** The place of the access token in the store. */
  token: string;
  webhookSecret: string;
}

export const HOW: Readonly<Record<Provider, HowTo>> = {
  shopify: {
    label: 'Shopify',
    url: 'https://name.myshopify.com',
    token:
      'From a custom app in Shopify with the scopes read_discounts and read_orders. Add read_all_orders to read refunds of orders older than 60 days.',
    webhookSecret:
      'In Shopify, under Settings, Notifications, Webhooks: the text after “Your webhooks will be signed with”.',
  },
  woocommerce: {
    label: 'WooCommerce',
    url: 'https://shop.example',
    token:
      'From WooCommerce, Settings, Advanced, REST API: a key with the permission Read/Write, which lets Rollcall create the webhooks. Enter it as consumer key:consumer secret.',
    webhookSecret:
      'Choose a long secret. If the key may only read, enter the same one in each webhook that you create.',
  },
  generic: {
    label: 'Other',
    url: 'https://store.example',
    token: 'Agree on one with the store’s developers. The manual has the protocol: /manual/stores.',
    webhookSecret: 'Agree on one with the store’s developers, who sign webhooks with it.',
  },
};
