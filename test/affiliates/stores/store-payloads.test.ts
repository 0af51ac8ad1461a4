import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';
import { openShop, type Shop } from '../../harness/affiliates/shop.ts';
import { newestDelivery } from '../../harness/affiliates/store.ts';
import { PAYLOADS, type Payload, TOPIC } from '../../harness/affiliates/store-payloads.ts';
import { send, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
const shops = new Map<Provider, Shop & { key: string }>();
beforeAll(async () => {
  app = await startApp();
  for (const provider of ['shopify', 'woocommerce'] as const) {
    const shop = await openShop(app, provider);
    shops.set(provider, { ...shop, key: await shop.brand.key('brand') });
  }
});
afterAll(async () => {
  for (const { store } of shops.values()) await store.close();
  await app?.close();
});

function shopOf({ provider }: Payload) {
  const shop = shops.get(provider);
  if (!shop) throw new Error(`No shop of ${provider}.`);
  return shop;
}

/** Minor units of a decimal with two digits. */
const minor = (text: unknown) => Math.round(Number(text) * 100);

let lastId = 5_000;

/** Sends the payload as its store does, and says what became of it. */
async function deliver(payload: Payload) {
  const { provider, body, refunds } = payload;
  const { store, id, assignment, report, key } = shopOf(payload);
  lastId += 1;
  const orderId = String(lastId);
  if (refunds) store.refunds.set(orderId, refunds);
  const isOrder = !('code' in body);
  const text = JSON.stringify(isOrder ? { ...body, id: Number(orderId) } : body);
  // Each is of a customer of its own: another's trial would decide a renewal.
  const ofOne = text
    .replaceAll(/\b(jane|jon)@/g, `$1.${lastId}@`)
    .replace(/"customer":\{"id":\d+/, `"customer":{"id":${lastId}`)
    .replaceAll(/\bANA10\b/gi, assignment.code);
  await report(TOPIC[provider], JSON.parse(ofOne));
  const delivery = await newestDelivery(app.context, id);
  if (!delivery) throw new Error('It was not kept.');
  const path = `${app.url}/v1/affiliates/explain?order_id=${orderId}&integration_id=${id}`;
  return { delivery, explained: (await send(path, key, 'GET')).body.data };
}

const taken = PAYLOADS.filter(({ worth }) => worth !== null);

describe('A payload of a store', () => {
  it.each(taken.map((one) => [one.provider, one.name, one] as const))('%s: %s', async (_provider, _name, payload) => {
    const { delivery, explained } = await deliver(payload);
    expect(delivery.reason).toBeNull();
    const { amount, refunds, commission } = explained;
    const refunded = refunds.reduce((sum: number, one: { counted: number }) => sum + minor(one.counted), 0);
    const worth = { base: minor(amount), refunded, commission: minor(commission?.commission ?? 0) };
    expect(worth).toEqual({ refunded: 0, ...payload.worth });
    expect(delivery.notes.length > 0).toBe(payload.hasNotes ?? false);
    expect(explained.unpaid_lines.map(({ kind, amount }: Record<string, unknown>) => [kind, amount])).toEqual(
      payload.unpaid ?? [],
    );
    const { sold, kept } = payload.beside ?? { sold: 0, kept: 0 };
    const { subtotal_price, current_subtotal_price } = payload.body;
    if (subtotal_price !== undefined) expect(minor(subtotal_price)).toBe(worth.base + sold);
    if (current_subtotal_price !== undefined) {
      expect(minor(current_subtotal_price)).toBe(worth.base - worth.refunded + kept);
    }
  });

  it.each(PAYLOADS.filter(({ worth }) => worth === null).map((one) => [one.provider, one.name, one] as const))(
    '%s: %s is refused, and the delivery says why',
    async (_provider, _name, payload) => {
      const { delivery, explained } = await deliver(payload);
      expect([delivery.state, explained]).toEqual(['failed', undefined]);
      expect(JSON.stringify(delivery.reason)).toMatch(
        /is required|is an error of the store instead of an order: woocommerce_rest_cannot_view/,
      );
    },
  );
});
