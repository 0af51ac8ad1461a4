import type { Context } from '../../src/kit/operation/context.ts';
import { type Desk, openDesk } from '../harness/affiliates/affiliates.ts';
import { makeLink } from '../harness/affiliates/clicks.ts';
import { connectTestStore, startStore, type TestStore } from '../harness/affiliates/store.ts';
import { unique } from '../harness/app.ts';

/** A link or a code, and what the load says it must have brought. */
export interface Assignment {
  id: string;
  /** A link's. */
  slug: string | undefined;
  /** A code's. */
  code: string | undefined;
  ratePpm: number;
  conversions: number;
  revenueMinor: number;
  pendingMinor: number;
}

export interface Shop {
  provider: 'generic' | 'shopify';
  integrationId: string;
}

export interface Brand {
  id: string;
  desk: Desk;
  links: Assignment[];
  codes: Assignment[];
  shops: Shop[];
}

export interface World {
  brands: Brand[];
  close(): Promise<void>;
}

/** Percent; some leave half a cent to round. */
const RATES = [10, 12.5, 3.3333];

const nothingYet = (ratePercent: number) => ({
  ratePpm: Math.round(ratePercent * 10_000),
  ...{ conversions: 0, revenueMinor: 0, pendingMinor: 0 },
});

async function openBrand(app: { url: string; links: string; context: Context }, stores: TestStore[]): Promise<Brand> {
  const desk = await openDesk({ ...app, close: async () => undefined });
  const brand: Brand = { id: desk.brand.id, desk, links: [], codes: [], shops: [] };
  for (const rate of RATES) {
    const terms = { commission_rate: rate };
    const { id, slug } = await makeLink(desk, 'https://shop.example/summer', terms);
    brand.links.push({ id, slug, code: undefined, ...nothingYet(rate) });
    const code = unique('C').toUpperCase();
    const made = await desk.made({ type: 'discount_code', value: code, ...terms });
    brand.codes.push({ id: made.id, slug: undefined, code, ...nothingYet(rate) });
  }
  for (const provider of ['generic', 'shopify'] as const) {
    const store = await startStore(provider);
    stores.push(store);
    brand.shops.push({ provider, integrationId: await connectTestStore(app.context, brand.id, store) });
  }
  return brand;
}

const BRANDS = 2;

export async function openWorld(app: { url: string; links: string; context: Context }): Promise<World> {
  const stores: TestStore[] = [];
  const brands: Brand[] = [];
  for (let i = 0; i < BRANDS; i += 1) brands.push(await openBrand(app, stores));
  return {
    brands,
    close: async () => {
      for (const store of stores) await store.close();
    },
  };
}
