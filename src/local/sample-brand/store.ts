import { randomBytes } from 'node:crypto';
import { createLink } from '../../affiliates/links/create-link.ts';
import type { OrderSource } from '../../affiliates/orders/orders.shapes.ts';
import { recordReadings } from '../../affiliates/orders/record.ts';
import { connectStore } from '../../affiliates/stores/connections/connect.ts';
import { updateIntegration } from '../../affiliates/stores/connections/connections.ts';
import { markReceived, updateHealth } from '../../affiliates/stores/connections/health.ts';
import type { ItemFacts, OrderFacts } from '../../affiliates/stores/formats/facts.ts';
import type { Reading } from '../../affiliates/stores/formats/provider.ts';
import { type Random, seededRandom, weighted } from '../../directory/imports/indexing/random.ts';
import { linkFields, toRow } from '../../interfaces/links-host/row.ts';
import { NO_UTM } from '../../interfaces/links-host/utm.ts';
import type { Work } from '../../kit/operation/work.ts';
import { mint } from '../../kit/values/click-token.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import type { Device } from '../../kit/values/visitor.ts';
import type { Past } from './past.ts';
import type { Person } from './people.ts';
import { DAYS, known, PERIODS, type Schedule, toStart } from './schedule.ts';

export const ORDERS = 2_000;
export const CLICKS = 36_000;
/** Creators with a link and a code. */
export const SELLING = 30;
const SEED = 2_000;
const SHOP = 'https://shop.lumen.example';

/** An assignment of a creator, with all that clicks and redemptions need. */
interface Assigned {
  email: string;
  linkId: string;
  fields: string;
  code: string;
  /** Their share of the traffic. */
  weight: number;
  /** The day of the sample from which on they sell: the first of a period. */
  from: number;
}

const COUNTRIES = weighted(
  [...'US US US US US US GB GB CA CA DE FR AU NL ES IT SE BR MX IE'.split(' '), ''],
  (country) => (country === '' ? 0.6 : 1),
);
const DEVICES = weighted<readonly [Device, number]>(
  [
    ['mobile', 74],
    ['desktop', 21],
    ['tablet', 5],
  ],
  ([, n]) => n,
);
const REFERRERS = weighted<readonly [string, number]>(
  [
    ...[
      ['l.instagram.com', 46],
      ['www.tiktok.com', 18],
      ['', 17],
      ['www.youtube.com', 8],
    ],
    ...[
      ['www.google.com', 5],
      ['out.reddit.com', 3],
      ['t.co', 2],
      ['www.pinterest.com', 1],
    ],
  ].map(([host, n]) => [String(host), Number(n)] as const),
  ([, n]) => n,
);
const HOURS = weighted(
  Array.from({ length: 24 }, (_, hour) => hour),
  (hour) => [9, 7, 5, 3, 2, 2, 2, 3, 4, 6, 7, 8, 9, 10, 10, 10, 11, 12, 13, 14, 15, 15, 14, 12][hour] ?? 1,
);
/** The creator whose code a coupon site published: their place, and since when it brings which share of all orders. */
const LEAKED = { place: 21, from: DAYS - 6, share: 0.14, host: 'www.retailmenot.com' } as const;
/** Sunday first. */
const WEEKDAYS = [1.24, 0.93, 0.86, 0.9, 0.97, 1.04, 1.18] as const;
/** Order lines with this many of a product; prices are in cents. */
const product = (sku: string, title: string, price: number) => (quantity: number) =>
  ({ lineId: sku, sku, title, quantity, amountMinor: quantity * price }) satisfies ItemFacts;
const cleanser = product('LUM-CLEANSE', 'Gentle cleanser', 2_400);
const sun = product('LUM-SUN-50', 'Sun cream SPF 50', 3_200);
const serum = product('LUM-SERUM-30', 'Vitamin C serum', 3_800);
const barrier = product('LUM-BARRIER', 'Barrier cream and refill', 4_600);
const night = product('LUM-NIGHT', 'Night cream', 5_200);
const travel = product('LUM-SUN-20', 'Sun cream SPF 50, travel size', 900);
const BASKETS = [
  ...[[cleanser(1)], [sun(1)], [serum(1)], [barrier(1)], [night(1)], [sun(2)], [barrier(1), sun(1)], [sun(3)]],
  ...[
    [barrier(2), sun(1)],
    [night(2), serum(2)],
  ],
];
/** Customers of these creators, by place, subscribe to the product by the creator's code, and their renewals pay the creator. */
const SUBSCRIBED = { places: [0, 13], product: serum(1), everyMs: 30 * DAY_MS };
const EXTRAS = [[], [], [], [travel(1)], [travel(2)]];

/** Models the traffic of a day: growth, weekdays, and a launch that fades. */
function measureTraffic(now: Date, day: number): number {
  const weekday = new Date(toStart(now, day) + DAY_MS / 2).getUTCDay();
  const sinceLaunch = day - (DAYS - 26);
  const launch = sinceLaunch < 0 ? 0 : 0.7 * Math.exp(-sinceLaunch / 5);
  return (0.45 + (day / DAYS) * 0.9 + launch) * (WEEKDAYS[weekday] ?? 1);
}

/** Divides a total among the days as they are busy, to the last one. */
function divide(total: number, now: Date): number[] {
  const weights = Array.from({ length: DAYS }, (_, day) => measureTraffic(now, day));
  const sum = weights.reduce((all, weight) => all + weight, 0);
  let before = 0;
  let givenCount = 0;
  return weights.map((weight) => {
    before += weight;
    const count = Math.round((total * before) / sum) - givenCount;
    givenCount += count;
    return count;
  });
}

/** The order that a creator made with their own code, which waits for the brand. */
const OWN = { order: ORDERS - 30, place: 4 } as const;

/** A moment of the day, by the hours at which people shop. */
function drawMoment(random: Random, now: Date, day: number): number {
  const start = toStart(now, day);
  const intoDay = start - (start % DAY_MS) - start;
  const wishedMs = intoDay + HOURS(random) * HOUR_MS + random.below(HOUR_MS);
  return start + ((wishedMs + 2 * DAY_MS) % DAY_MS);
}

interface Click {
  atMs: number;
  token: string;
}

interface Story {
  now: Date;
  random: Random;
  assigned: Assigned[];
  /** Clicks of the latest days, which may lead to an order. */
  recent: Click[];
  rows: string[];
  customers: string[];
  subscriptions: Subscription[];
  orders: number;
}

interface Subscription {
  id: string;
  email: string;
  dueAtMs: number;
}

const findLeaked = ({ assigned }: Story, day: number) => (day < LEAKED.from ? undefined : assigned[LEAKED.place]);

function draw(story: Story, day: number): Assigned | undefined {
  const selling = story.assigned.filter(({ from }) => from <= day);
  return selling.length === 0 ? undefined : weighted(selling, ({ weight }) => weight)(story.random);
}

/** Clicks of a day: most count, some are bots, prefetches and repeats. */
function click(story: Story, key: Buffer, day: number, count: number): void {
  const { random, now, rows } = story;
  const clicks: Click[] = [];
  for (let n = 0; n < count; n += 1) {
    const link = draw(story, day);
    if (!link) return;
    const atMs = drawMoment(random, now, day);
    const share = random.next();
    const kind = share < 0.9 ? 'counted' : share < 0.95 ? 'bot' : share < 0.98 ? 'repeat' : 'prefetch';
    const [device] = kind === 'bot' ? (['bot'] as const) : DEVICES(random);
    const { id, token } = mint(key, { linkId: link.linkId, atMs, days: 30 });
    const [usual] = REFERRERS(random);
    const referrerHost = link === findLeaked(story, day) ? LEAKED.host : usual;
    // A third of the visitors come again.
    const visitor = String(1_000_003 * (1 + random.below(CLICKS * 0.66)));
    rows.push(
      toRow(
        id,
        link.fields,
        atMs,
        { kind, visitor, country: COUNTRIES(random), device, rule: '', referrerHost },
        NO_UTM,
      ),
    );
    if (kind === 'counted') clicks.push({ atMs, token });
  }
  story.recent = [...story.recent.filter(({ atMs }) => atMs > toStart(now, day - 2)), ...clicks];
}

/** A new customer, or one of those who came before, who are the ones that look for coupons. */
function drawCustomer({ random, customers }: Story, isCoupon: boolean): string {
  if (customers.length > 20 && (isCoupon || random.chance(0.28))) return random.pick(customers);
  const customer = `customer${customers.length + 1}@shoppers.example`;
  customers.push(customer);
  return customer;
}

/** Draws the customer's way to the shop: by a link, a code, a published code, or none of them. */
function drawSource(story: Story, day: number, atMs: number): { codes: string[]; clickIds: string[] } {
  const { random, recent } = story;
  const share = random.next();
  const before = share < 0.46 ? recent.filter((one) => one.atMs < atMs) : [];
  if (before.length > 0) return { codes: [], clickIds: [random.pick(before).token] };
  const by = share < 0.72 ? draw(story, day) : share > 1 - LEAKED.share ? findLeaked(story, day) : undefined;
  return { codes: by === undefined ? [] : [by.code], clickIds: [] };
}

type Bought = Pick<OrderFacts, 'orderId' | 'codes' | 'clickIds' | 'customerEmail' | 'kind' | 'subscriptionId'> & {
  items: ItemFacts[];
};

/** The order as the first of a subscription or as the one that is due, if it is either. */
function subscribe({ subscriptions, assigned }: Story, bought: Bought, atMs: number): Bought {
  const { places, product: item, everyMs } = SUBSCRIBED;
  const { orderId, items, codes, clickIds, customerEmail: email } = bought;
  const due = subscriptions.find(({ dueAtMs }) => dueAtMs <= atMs);
  if (due && codes.length === 0 && clickIds.length === 0) {
    due.dueAtMs = atMs + everyMs;
    return { ...bought, items: [item], customerEmail: due.email, kind: 'renewal', subscriptionId: due.id };
  }
  const isSold = places.some((place) => codes.includes(assigned[place]?.code ?? ''));
  if (!isSold || email === null || !items.some(({ sku }) => sku === item.sku)) return bought;
  const id = `S-${orderId.slice(2)}`;
  subscriptions.push({ id, email, dueAtMs: atMs + everyMs });
  return { ...bought, kind: 'first', subscriptionId: id };
}

function makeOrder(story: Story, day: number, atMs: number): OrderFacts {
  const { random } = story;
  const occurredAt = new Date(atMs);
  const paidAt = random.chance(0.005) ? null : new Date(atMs + MINUTE_MS);
  story.orders += 1;
  const source = drawSource(story, day, atMs);
  const own = story.orders === OWN.order ? story.assigned[OWN.place] : undefined;
  const isCoupon = source.codes.some((code) => code === findLeaked(story, day)?.code);
  const drawn: Bought = {
    ...source,
    ...(own && { codes: [own.code], clickIds: [] }),
    items: [...random.pick(BASKETS), ...random.pick(EXTRAS)],
    orderId: `L-${20_000 + story.orders}`,
    customerEmail: own?.email ?? drawCustomer(story, isCoupon),
    kind: 'once',
    subscriptionId: null,
  };
  const bought = own ? drawn : subscribe(story, drawn, atMs);
  return {
    ...bought,
    currency: 'USD',
    occurredAt,
    paidAt,
    cancelledAt: null,
    baseMinor: bought.items.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
    isTest: false,
    previousSubscriptionId: null,
    customerId: null,
    country: null,
    dispute: null,
    refunds: [],
    hasAllRefunds: true,
    updatedAt: paidAt ?? occurredAt,
  };
}

/** A refund that the store reports some days later; a third of them are in part. */
function makeRefund(random: Random, { orderId, currency, baseMinor }: OrderFacts, at: Date): Reading {
  const amountMinor = random.chance(0.33) ? Math.round(baseMinor / 2) : baseMinor;
  const refunds = [{ refundId: `R-${orderId}`, amountMinor, at }];
  return { kind: 'refund', notes: [], facts: { orderId, currency, refunds, updatedAt: at, hasAllRefunds: false } };
}

const makeLoss = ({ orderId }: OrderFacts, at: Date): Reading => ({
  kind: 'dispute',
  notes: [],
  facts: { orderId, disputeId: `D-${orderId}`, status: 'lost', at },
});

const REFUNDED = 0.024;
/** The one order of which a bank took the money back. */
const LOST = 900;

/** Each campaign gives links and codes to the next creators, by turns at these percentages. */
const LAUNCHES = [
  { campaign: 'glow', days: 90.3, until: 14, rates: [12] },
  { campaign: 'summer', days: 61, until: 10, rates: [8, 10, 12, 15] },
  { campaign: 'barrier', days: 26, until: SELLING - 24, rates: [15, 10] },
] as const;
/** A connected store that is never called: its address leads nowhere. */
async function connect({ change, context: { secrets } }: Past): Promise<OrderSource> {
  const facts = { name: 'Lumen Skin', currency: 'USD', storefrontUrl: SHOP };
  const storeSecrets = { token: randomBytes(16).toString('hex'), webhookSecret: randomBytes(16).toString('hex') };
  const store = {
    provider: 'generic',
    baseUrl: `${SHOP}/rollcall`,
    secrets: storeSecrets,
    facts,
    apiVersion: null,
  } as const;
  return await change('connect_affiliate_store', async (work) => {
    const row = await connectStore(work, secrets, store);
    await updateIntegration(work.db, work.brandId, row.id, { sweepAt: null, webhooksDueAt: null });
    return row;
  });
}

interface Assignment {
  place: number;
  campaign: string;
  rate: number | undefined;
  from: number;
  storeId: string;
}

/** The coupons of the store, as it would report them: each code takes off the percentage that it ends with. */
const COUPON = { currency: 'USD', storefrontHost: new URL(SHOP).host, coupon: { percentage: 10, endsAt: null } };

async function assign(
  work: Work,
  linksUrl: string,
  person: Person,
  { place, campaign, rate, from, storeId }: Assignment,
): Promise<Assigned> {
  const { email, nickname, name } = person;
  const terms = {
    creator_email: email,
    campaign_id: campaign,
    commission_rate: rate,
    currency: 'USD',
    hold_days: 14,
    attribution_days: 30,
    pays_renewals: SUBSCRIBED.places.includes(place),
    forward_parameters: true,
    // While a sample is filled, nobody is mailed.
    notify: true,
  };
  const code = `${nickname.toUpperCase()}10`;
  const coded = { ...terms, type: 'discount_code' as const, value: code, integration_id: storeId };
  await createLink(work, coded, linksUrl, COUPON);
  const link = { type: 'link' as const, value: `lumen-${nickname}`, destination_url: `${SHOP}/?from=${nickname}` };
  const { id: linkId, creatorId, currency } = await createLink(work, { ...terms, ...link }, linksUrl, undefined);
  const fields = linkFields({ brandId: work.brandId, id: linkId, creatorId, currency });
  // The first sell most, as anywhere; a name says nothing of it.
  const weight = 1 / (1 + ((place * 7) % SELLING) * 0.35) + name.length / 400;
  return { email, linkId, fields, code, weight, from };
}

/** The store of the sample with its clicks, orders and refunds. Returns the rows of clicks, complete once all is performed. */
export function addStore(
  schedule: Schedule,
  { people, ids, now }: { people: readonly Person[]; ids: ReadonlyMap<string, string>; now: Date },
): readonly string[] {
  const { ago, add } = schedule;
  const story: Story = {
    now,
    random: seededRandom(SEED),
    assigned: [],
    recent: [],
    rows: [],
    customers: [],
    subscriptions: [],
    orders: 0,
  };
  const later = new Map<number, Reading[]>();
  let source: OrderSource | undefined;
  const begin = async (past: Past) => {
    source = await connect(past);
  };
  const getSource = (): OrderSource => {
    if (!source) throw new Error('The sample has no store.');
    return source;
  };
  add(ago(91.9), begin, 'alone');
  const selling = [...people.slice(0, SELLING).entries()];
  for (const { campaign, days, until, rates } of LAUNCHES) {
    const from = PERIODS.find((day) => day > DAYS - days) ?? DAYS;
    const nextSellers = selling.splice(0, until);
    add(ago(days), ({ change, context: { config } }) =>
      change('create_affiliate_link', async (work) => {
        const { id: storeId } = getSource();
        for (const [place, person] of nextSellers) {
          const terms = { place, campaign: known(ids, campaign), rate: rates[place % rates.length], from, storeId };
          story.assigned.push(await assign(work, config.linksUrl, person, terms));
        }
      }),
    );
  }
  const [clicks, orders] = [divide(CLICKS, now), divide(ORDERS, now)];
  function listReadings(secret: Buffer, day: number): Reading[] {
    click(story, secret, day, clicks[day] ?? 0);
    const lastMs = now.getTime() - 5 * MINUTE_MS;
    const moments = Array.from({ length: orders[day] ?? 0 }, () =>
      Math.min(drawMoment(story.random, now, day), lastMs),
    );
    // A store numbers its orders as they come.
    const dayOrders = moments.toSorted((one, other) => one - other).map((atMs) => makeOrder(story, day, atMs));
    for (const order of dayOrders) {
      const isLost = story.orders >= LOST && story.orders - dayOrders.length < LOST && order === dayOrders[0];
      if (order.paidAt === null || !(isLost || story.random.chance(REFUNDED))) continue;
      const on = day + 3 + story.random.below(18);
      const at = new Date(Math.max(toStart(now, on) + HOUR_MS, order.paidAt.getTime() + DAY_MS));
      const reading = isLost ? makeLoss(order, at) : makeRefund(story.random, order, at);
      later.set(on, [...(later.get(on) ?? []), reading]);
    }
    return [...dayOrders.map((facts): Reading => ({ kind: 'order', notes: [], facts })), ...(later.get(day) ?? [])];
  }
  let reportedDays = 0;
  for (const days of PERIODS.filter((day) => day > 0)) {
    const from = reportedDays;
    reportedDays = days;
    const end = new Date(toStart(now, days) - MINUTE_MS);
    const report = async ({ change, context: { secrets, postgres } }: Past) => {
      const store = getSource();
      const each = Array.from({ length: days - from }, (_, i) => listReadings(secrets.key('click'), from + i));
      await change('ingest', (work) => recordReadings(work, secrets, store, each.flat()));
      if (days < DAYS) return;
      await updateHealth(postgres.db, store, { isSynced: true, failures: 0, isFailing: false }, end);
      await markReceived(postgres.db, store.id, end);
    };
    add(end, report, 'money');
  }
  return story.rows;
}
