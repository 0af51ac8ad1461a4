import { createManualCommission, type ManualCommission } from '../../../src/affiliates/reviews/reviews.ts';
import { asTest } from '../../harness/affiliates/sales.ts';
import type { TestStore } from '../../harness/affiliates/store.ts';
import { type TestApp, unique } from '../../harness/app.ts';
import { type Door, openDoor } from './door.ts';
import { type History, type LinkSpec, START_MS } from './history.ts';
import type { Oracle, OracleLink, Reported } from './model.ts';

/** An order as its store has it: every version it ever had, reported or not. */
export interface StoredOrder {
  versions: Reported[];
  email: string | null;
}

/** One history's brand: what the app received, and what the oracle makes of it. */
export interface World {
  door: Door;
  oracle: Oracle;
  emails: string[];
  /** Those that are connected. */
  stores: TestStore[];
  /** Their ids, in the same order. */
  storeIds: string[];
  creatorIds: string[];
  /** By link, where its short URL leads. */
  slugs: Map<OracleLink, string>;
  /** When the app may still hold a link as it was before, by its own second's worth of memory. */
  switchedAt: Map<OracleLink, number>;
  orders: StoredOrder[];
  /** Order times of the history: no two are alike, so that the oldest is one. */
  usedTimes: Set<number>;
  /** A click of another brand's. */
  foreign: string;
  counter: number;
  /** Records a commission without an order; answers its id. */
  record(input: ManualCommission): Promise<string>;
}

/** By provider and currency: stores outside the app, shared by all worlds. */
export type Shops = Map<string, TestStore>;

async function makeLink(door: Door, stores: string[], spec: LinkSpec, email: string, shops: TestStore[]) {
  const store = spec.store === null ? null : spec.store % stores.length;
  const shop = store === null ? undefined : shops[store];
  const value = unique(spec.type === 'link' ? 'l' : 'C');
  const code = spec.type === 'link' ? value : value.toUpperCase();
  if (shop && spec.type === 'discount_code') {
    shop.coupons.set(code.toLowerCase(), { kind: 'percentage', amount: 10, active: true });
  }
  const host = shop?.host ?? 'shop.example';
  const { data } = await door.ask('POST', '/v1/affiliates/links', {
    ...{ creator_email: email, type: spec.type, value: code, commission_rate: spec.ratePpm / 10_000 },
    ...{ hold_days: spec.holdDays, attribution_days: spec.attributionDays, pays_renewals: spec.paysRenewals },
    ...(spec.type === 'link' ? { destination_url: `https://${host}/thing?x=1` } : {}),
    ...(store === null ? { currency: spec.currency } : { integration_id: stores[store] }),
  });
  return { data, code, store, currency: shop?.currency ?? spec.currency };
}

/** Makes the brand with its roster, stores and links at the beginning of time. */
export async function openWorld(app: TestApp, history: History, shops: Shops, foreign: string): Promise<World> {
  const door = await openDoor(app);
  const { currency, isAutomatic } = history;
  await door.ask('PATCH', '/v1/brand', { settings: { currency, auto_approve_commissions: isAutomatic } });
  const emails = Array.from({ length: history.creators }, () => `${unique('ann')}@mail.example`);
  for (const email of emails) await door.ask('POST', '/v1/roster', { creator_email: email });
  const creators: { id: string; email: string }[] = (await door.ask('GET', '/v1/creators')).data;
  const creatorIds = emails.map((email) => creators.find((one) => one.email === email)?.id ?? '');
  const own = history.stores.flatMap(({ provider, currency: code }) => shops.get(`${provider} ${code}`) ?? []);
  const ids: string[] = [];
  const opened: TestStore[] = [];
  for (const shop of own) {
    if (opened.includes(shop)) continue;
    opened.push(shop);
    ids.push(await door.connect(shop));
  }
  const brand: { id: string } = (await door.ask('GET', '/v1/brand')).data;
  const oracle: Oracle = {
    currency,
    isAutomatic,
    links: [],
    clicks: [],
    orders: new Map(),
    payouts: [],
    customers: [],
  };
  const world: World = {
    ...{
      door,
      oracle,
      emails,
      stores: opened,
      storeIds: ids,
      creatorIds,
      slugs: new Map(),
      switchedAt: new Map(),
      orders: [],
      usedTimes: new Set(),
    },
    ...{ foreign, counter: 0 },
    record: (input) => asTest(app.context, brand, async (work) => (await createManualCommission(work, input)).id),
  };
  for (const spec of history.links) {
    const creator = spec.creator % emails.length;
    const { data, code, ...terms } = await makeLink(door, ids, spec, emails[creator] ?? '', opened);
    const { type, ratePpm, holdDays, attributionDays, paysRenewals } = spec;
    const fixed = { holdDays, attributionDays, paysRenewals };
    const states = [{ at: START_MS, active: true }];
    const link = { id: data.id, creator, type, value: code, ratePpm, ...fixed, states, ...terms };
    oracle.links.push(link);
    if (type === 'link') world.slugs.set(link, data.url.slice(data.url.lastIndexOf('/') + 1));
  }
  return world;
}

/** Of a list by an index that may be larger than it. */
export const pick = <T>(list: readonly T[], index: number): T | undefined =>
  list.length === 0 ? undefined : list[index % list.length];
