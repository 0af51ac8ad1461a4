import { createHmac, randomUUID } from 'node:crypto';
import { insertLinks, insertStates } from '../src/affiliates/links/links.ts';
import { connectStore } from '../src/affiliates/stores/connections/connect.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { inWork } from '../src/kit/operation/work.ts';
import { mintClick } from '../src/kit/values/click-token.ts';
import { newId } from '../src/kit/values/ids.ts';
import { createBrand } from '../src/platform/brands/brands.ts';
import { Terms } from '../src/workflow/terms/terms.shapes.ts';
import { insertVersions } from '../src/workflow/terms/versions.ts';
import { orderNumber, shopifyOrder } from '../test/harness/affiliates/shopify-order.ts';

const WEBHOOK_SECRET = 'whsec of the bench';
const ASSIGNMENTS = 50;
/** Before the order, and well after the codes were created. */
const CLICKED_BEFORE_MS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** A brand's Shopify store, with codes and links of one creator. */
export interface Shop {
  brandId: string;
  integrationId: string;
  codes: string[];
  linkIds: string[];
}

/** As many rules as terms may have, each on a product that no order has, so that every line is compared with all. */
const FIFTY_RULES = Terms.parse({
  rate: { percent: 10 },
  rules: Array.from({ length: 50 }, (_, i) => ({
    name: `Rule ${i}`,
    when: { product: [`OTHER-${i}`], quantity_from: 2 },
    rate: { percent: 15 },
  })),
});

/** Gives the codes and links of a shop 50 rules. */
async function setRules({ postgres, clock }: Context, { brandId }: Shop): Promise<void> {
  const { db } = postgres;
  const actor = { brandId, keyId: null, operation: 'bench', requestId: null };
  await inWork(db, clock, actor, async (work) => {
    const links = await work.db.selectFrom('links').select('id').where('brandId', '=', brandId).execute();
    const ids = links.map(({ id }) => id);
    for (const [id, termsId] of await insertVersions(work, 'link', ids, FIFTY_RULES)) {
      await work.db.updateTable('links').set({ termsId }).where('id', '=', id).where('brandId', '=', brandId).execute();
    }
  });
}

/** `renewals`: its codes and links pay renewals. `rules`: they have 50 rules on lines. */
export async function makeShop(
  context: Context,
  name: string,
  kind: 'plain' | 'rules' | 'renewals' = 'plain',
): Promise<Shop> {
  const { postgres, clock, secrets } = context;
  const { db } = postgres;
  const now = clock.now();
  const createdAt = new Date(now.getTime() - DAY_MS);
  const brandId = await createBrand(db, clock, { name, plan: 'enterprise', status: 'active' });
  const creatorId = newId('cre', now.getTime());
  const person = { email: 'bench@creator.example', name: 'Bench' };
  await db
    .insertInto('creators')
    .values({ id: creatorId, brandId, ...person, createdAt })
    .execute();
  const paysRenewals = kind === 'renewals' || null;
  const terms = {
    commissionRatePpm: 100_000,
    paysRenewals,
    holdDays: 14,
    attributionDays: 30,
    currency: 'USD',
    active: true,
  };
  const rows = Array.from({ length: 2 * ASSIGNMENTS }, (_, i) => {
    const id = newId('lnk', now.getTime());
    const slug = `${name.replaceAll(' ', '-')}-${i}`;
    const kind =
      i % 2 ? { type: 'link' as const, value: slug, slug } : { type: 'discount_code' as const, value: `GO${i}` };
    return { id, brandId, creatorId, ...terms, ...kind, createdAt };
  });
  await insertLinks(db, rows);
  await insertStates(
    db,
    rows.map(({ id: linkId }) => ({ brandId, linkId, at: createdAt, active: true })),
  );
  const place = { provider: 'shopify' as const, baseUrl: 'https://bench.example', apiVersion: null };
  const facts = { name, currency: 'USD', storefrontUrl: `https://${randomUUID()}.example` };
  const actor = { brandId, keyId: null, operation: 'bench', requestId: null };
  const { id: integrationId } = await inWork(db, { now: () => now }, actor, (work) =>
    connectStore(work, secrets, { ...place, facts, secrets: { token: 'none', webhookSecret: WEBHOOK_SECRET } }),
  );
  const shop = {
    brandId,
    integrationId,
    codes: rows.flatMap(({ type, value }) => (type === 'discount_code' ? [value] : [])),
    linkIds: rows.flatMap(({ type, id }) => (type === 'link' ? [id] : [])),
  };
  if (kind === 'rules') await setRules(context, shop);
  return shop;
}

export interface Delivery {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/**
 * A paid order that the store has not reported before, with a click and, in every second one, a code. A subscriber's order
 * starts or renews their subscription; a renewal carries neither.
 */
export function deliveryOf(
  { secrets, clock }: Context,
  { integrationId, codes, linkIds }: Shop,
  i: number,
  subscriber?: { id: number; isRenewal: boolean },
): Delivery {
  const at = clock.now();
  const linkId = linkIds[i % linkIds.length] ?? '';
  const click = mintClick(secrets.key('click'), { linkId, atMs: at.getTime() - CLICKED_BEFORE_MS });
  const order = shopifyOrder({
    id: orderNumber() * 1_000 + (i % 1_000),
    at,
    ...(subscriber
      ? { email: `subscriber-${subscriber.id}@example.com`, customerId: subscriber.id }
      : { email: `buyer-${randomUUID()}@example.com`, customerId: orderNumber() }),
    lines: [{ price: '19.90', quantity: 2, discounts: ['3.98'] }, { price: '64.00' }],
    codes: i % 2 || subscriber?.isRenewal ? [] : [codes[i % codes.length] ?? ''],
    noteAttributes: subscriber?.isRenewal ? [] : [{ name: 'click_id', value: click }],
  });
  const tags = subscriber && `Subscription ${subscriber.isRenewal ? 'Recurring' : 'First'} Order`;
  const body = JSON.stringify({ ...order, tags });
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(body).digest('base64');
  const topic = { 'x-shopify-topic': 'orders/paid', 'x-shopify-hmac-sha256': signature };
  return {
    path: `/ingest/shopify/${integrationId}`,
    headers: { 'content-type': 'application/json', ...topic },
    body,
  };
}
