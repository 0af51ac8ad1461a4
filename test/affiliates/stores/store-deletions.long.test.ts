import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';
import { balancesOf } from '../../harness/affiliates/sales.ts';
import { gmt, minute, openShop as openShopAt, orderedAt } from '../../harness/affiliates/shop.ts';
import { orderNumber } from '../../harness/affiliates/shopify-order.ts';
import { inEveryOrder, type TestStore } from '../../harness/affiliates/store.ts';
import { wooOrder } from '../../harness/affiliates/woo-order.ts';
import { call, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
const stores: TestStore[] = [];

beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await app?.close();
});

/** Without a hold. */
async function openShop(provider: Provider) {
  const shop = await openShopAt(app, provider, { holdDays: 0 });
  stores.push(shop.store);
  const key = await shop.brand.key('brand');
  const { code, email } = shop.assignment;
  const explain = (orderId: number) => call(`${app.url}/v1/affiliates/explain?order_id=${orderId}`, key);
  return { ...shop, key, code, email, explain };
}
type Shop = Awaited<ReturnType<typeof openShop>>;

/** An order of 100.00 as WooCommerce has it from a minute on. */
const wooAt = ({ code }: Shop, id: number, status: string, from: number, paidAt: string | null = gmt(orderedAt)) =>
  wooOrder({ id, status, codes: [code], paidAt, modifiedAt: gmt(minute(from)) });

/** WooCommerce tells that the order was deleted, and has it like this when it is asked. */
async function reportDeleted({ store, report }: Shop, order: ReturnType<typeof wooOrder>) {
  store.orders.set(String(order.id), order);
  return (await report('order.deleted', { id: order.id })).became?.state;
}

async function standingOf({ explain }: Shop, orderId: number) {
  const { cancelled_at, commission } = (await explain(orderId)).body.data;
  return { cancelled_at, status: commission.status, note: commission.status_note, owed: commission.commission };
}

const SALE = { customers: 10_000, sales: -10_000, commission_expense: 1_000, commission_pending: -1_000 };

describe('an order in WooCommerce’s trash', () => {
  it('ends the same, in the trash or restored, however often and in whichever order that is reported', async () => {
    const shop = await openShop('woocommerce');
    let restored = 0;
    for (const isRestored of [false, true]) {
      for (const sequence of inEveryOrder(['placed', 'trashed', isRestored ? 'restored' : 'edited'])) {
        const id = orderNumber();
        const deliveries: Record<string, () => Promise<unknown>> = {
          placed: () => shop.report('order.created', wooAt(shop, id, 'processing', 0)),
          edited: () => shop.report('order.updated', wooAt(shop, id, 'completed', 3)),
          trashed: () => reportDeleted(shop, wooAt(shop, id, 'trash', 5)),
          restored: () => shop.report('order.restored', wooAt(shop, id, 'processing', 7)),
        };
        for (const delivery of [...sequence, ...sequence]) await deliveries[delivery]?.();
        expect(await standingOf(shop, id), sequence.join()).toMatchObject(
          isRestored
            ? { cancelled_at: null, status: 'pending', note: null, owed: 10 }
            : { cancelled_at: minute(5).toISOString(), status: 'rejected', owed: 0 },
        );
        restored += isRestored ? 1 : 0;
      }
    }
    const { customers, sales, commission_expense, commission_pending } = SALE;
    expect(await balancesOf(app.context, shop.brand)).toEqual({
      ...{ customers: customers * restored, sales: sales * 2 * restored, sales_refunds: 10_000 * restored },
      ...{ commission_expense: commission_expense * restored, commission_pending: commission_pending * restored },
    });
  });
});
