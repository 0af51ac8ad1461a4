import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

/** A shop's pages with a script in them, and a cart as Shopify's theme API has it. */
export interface Storefront {
  url: string;
  /** What its pages have in their body. */
  html: string;
  /** The cart's attributes; a new cart has none. */
  cart: Record<string, string>;
  /** Clicks that `POST /cart/update.js` brought. */
  updates: string[];
  /** Ids that the shop's own page for keeping clicks was sent. */
  kept: string[];
  /** What its own checkout was sent. */
  orders: string[];
  close(): void;
}

const Update = z.strictObject({ 'attributes[click_id]': z.string() });
const Kept = z.strictObject({ click_id: z.string() });
const formOf = async (request: IncomingMessage) => Object.fromEntries(new URLSearchParams(await text(request)));

export async function openStorefront(): Promise<Storefront> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://shop');
    const answer = (type: string, body: string) => response.writeHead(200, { 'content-type': type }).end(body);
    if (pathname === '/cart.js') return answer('application/json', JSON.stringify({ attributes: shop.cart }));
    if (pathname === '/cart/update.js') {
      const update = Update.parse(await formOf(request));
      shop.cart.click_id = update['attributes[click_id]'];
      shop.updates.push(shop.cart.click_id);
      return answer('application/json', JSON.stringify({ attributes: shop.cart }));
    }
    if (pathname === '/keep') {
      const { click_id } = Kept.parse(await formOf(request));
      shop.kept.push(click_id);
      response.setHeader('set-cookie', `rollcall_click=${click_id}; Path=/; Max-Age=7776000; SameSite=Lax`);
      return answer('application/json', '{}');
    }
    if (pathname === '/order') shop.orders.push(await text(request));
    return answer('text/html', `<!doctype html><html lang="en"><title>Shop</title><body>${shop.html}</body></html>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const shop: Storefront = {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    html: '',
    cart: {},
    updates: [],
    kept: [],
    orders: [],
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return shop;
}
