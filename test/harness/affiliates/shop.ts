import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';
import { makeBrand, type TestApp, type TestBrand } from '../app.ts';
import { type Assignment, daysAgo, makeAssignment } from './sales.ts';
import { connectTestStore, deliver, signedDelivery, startStore, type TestStore, WEBHOOK_SECRET } from './store.ts';

/** A brand with a connected store and a creator's code at 10%. */
export interface Shop {
  brand: TestBrand;
  store: TestStore;
  /** Of the integration. */
  id: string;
  assignment: Assignment;
  /** Delivers under the right signature. */
  report(topic: string, data: object): ReturnType<typeof deliver>;
}

export async function openShop(
  app: TestApp,
  provider: Provider,
  terms?: Parameters<typeof makeAssignment>[2],
): Promise<Shop> {
  const store = await startStore(provider);
  const brand = await makeBrand(app.context);
  const id = await connectTestStore(app.context, brand.id, store);
  const assignment = await makeAssignment(app.context, brand, terms);
  const report: Shop['report'] = (topic, data) =>
    deliver(app.url, provider, id, signedDelivery(provider, WEBHOOK_SECRET, topic, data));
  return { brand, store, id, assignment, report };
}

/** When orders are placed, in whole seconds as WooCommerce tells time, and minutes after that. */
export const orderedAt = daysAgo(60, new Date(Math.floor(Date.now() / 1_000) * 1_000));
export const minute = (count: number) => new Date(orderedAt.getTime() + count * 60_000);
export const gmt = (at: Date) => at.toISOString().slice(0, 19);
