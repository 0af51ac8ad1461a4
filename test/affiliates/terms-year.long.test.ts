import { afterAll, beforeAll, expect, it } from 'vitest';
import { inSnapshot } from '../../src/affiliates/ledger/ledger.ts';
import { verifyRecords } from '../../src/affiliates/ledger/verify-ledger.ts';
import { fromMinor } from '../../src/kit/values/decimals.ts';
import { randomOf } from '../harness/affiliates/leaking-codes.ts';
import { keysInTurn, makeBrand, send, unique } from '../harness/app.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';
import { type ModelOrder, type ModelRule, type ModelTerms, TermsModel } from './oracle/terms-model.ts';
import { openStories } from './terms-story.ts';

const BRANDS = randomRuns(2);
const STEPS = 130;
const YEAR_MS = 365 * 86_400_000;
const SKUS = ['TEA', 'MILK', 'OATS'];

let stories: Awaited<ReturnType<typeof openStories>>;
beforeAll(async () => {
  stories = await openStories();
});
afterAll(() => stories?.close());

function makeRandom(seed: number) {
  const random = randomOf(seed);
  const below = (most: number) => Math.floor(random() * most);
  const isOften = (share: number) => random() < share;
  const pick = <T>(values: readonly T[]): T => {
    const value = values[below(values.length)];
    if (value === undefined) throw new Error('There is nothing to pick.');
    return value;
  };
  const maybe = <T>(share: number, value: () => T): T | null => (isOften(share) ? value() : null);

  function makeRule(): ModelRule {
    const when = pick<ModelRule['when']>([
      { product: pick(SKUS) },
      { kind: pick(['first', 'renewal', 'upgrade'] as const) },
      { by: pick(['code', 'customer'] as const) },
      { customer: pick(['new', 'returning'] as const) },
      { paymentTo: 1 + below(3) },
      { monthOrdersFrom: 1 + below(4) },
      { product: pick(SKUS), customer: 'returning' },
    ]);
    return { when, ...(isOften(0.7) ? { percent: below(40) } : { flatMinor: 1 + below(2_000) }) };
  }

  const makeTerms = (place: string): ModelTerms => {
    const covers = pick(['order', 'subscription', 'subscription', 'customer'] as const);
    const isLimited = isOften(0.6);
    return {
      ...{ place, when: {}, covers },
      ...(isOften(0.8) ? { percent: 1 + below(30) } : { flatMinor: 1 + below(2_000) }),
      months: covers === 'order' ? null : maybe(0.4, () => 1 + below(6)),
      payments: covers === 'order' ? null : maybe(0.4, () => 1 + below(4)),
      rules: isLimited ? Array.from({ length: below(4) }, makeRule) : [],
      capOrder: isLimited ? maybe(0.2, () => 100 + below(1_500)) : null,
      capCustomer: isLimited ? maybe(0.3, () => 500 + below(4_000)) : null,
      capMonth: isLimited ? maybe(0.3, () => 500 + below(4_000)) : null,
      budgetMonth: isLimited ? maybe(0.3, () => 500 + below(4_000)) : null,
    };
  };
  return { below, isOften, pick, maybe, makeTerms };
}

const usd = (minor: number) => ({ USD: minor / 100 });

function toRate({ percent, flatMinor }: ModelRule) {
  return percent === undefined ? { flat: usd(flatMinor ?? 0), per: 'order' } : { percent };
}

/** The terms as the API takes them. */
function toBody(terms: ModelTerms) {
  const { covers, months, payments, rules, capOrder, capCustomer, capMonth, budgetMonth } = terms;
  const caps = {
    ...(capOrder === null ? {} : { order: usd(capOrder) }),
    ...(capCustomer === null ? {} : { customer: usd(capCustomer) }),
    ...(capMonth === null ? {} : { month: usd(capMonth) }),
  };
  return {
    rate: toRate(terms),
    rules: rules.map((rule, i) => {
      const { product, paymentTo, monthOrdersFrom, kind, ...when } = rule.when;
      const condition = {
        ...when,
        ...(product === undefined ? {} : { product: [product] }),
        ...(kind === undefined ? {} : { kind: [kind] }),
        ...(paymentTo === undefined ? {} : { payment: { to: paymentTo } }),
        ...(monthOrdersFrom === undefined ? {} : { volume: { per: 'month', orders_from: monthOrdersFrom } }),
      };
      return { name: `Rule ${i}`, when: condition, rate: toRate(rule) };
    }),
    ...{ covers, months, payments },
    ...(Object.keys(caps).length === 0 ? {} : { caps }),
    ...(budgetMonth === null ? {} : { budget: { per: 'month', amount: usd(budgetMonth) } }),
  };
}

/** One brand's year: orders, payments, cancellations, refunds and new terms, told to the API and to the model. */
async function live(seed: number): Promise<void> {
  const { app, setTime } = stories;
  const { below, isOften, pick, maybe, makeTerms } = makeRandom(seed);
  let at = Date.parse('2025-01-01T00:00:00Z');
  setTime(new Date(at));
  const brand = await makeBrand(app.context);
  const nextKey = await keysInTurn(brand, 4);
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await send(`${app.url}${path}`, nextKey(), method, body);
    expect([answer.status < 300, answer.body.details ?? answer.body.error], `${method} ${path}`).toEqual([
      true,
      undefined,
    ]);
    return answer.body.data;
  };
  const model = new TermsModel();
  const suffix = unique('y');
  const links: { creator: string; value: string; terms: ModelTerms; id: string }[] = [];
  for (const creator of ['ana', 'ben', 'cid']) {
    const creator_email = `${creator}@${suffix}.example`;
    await ask('POST', '/v1/roster', { creator_email });
    const terms = makeTerms(creator);
    const value = `${creator}${suffix}`.toUpperCase().replaceAll('-', '');
    const link = await ask('POST', '/v1/affiliates/links', {
      creator_email,
      value,
      hold_days: 0,
      terms: toBody(terms),
    });
    links.push({ creator, value, terms, id: link.id });
  }
  const told: { order: ModelOrder; body: Record<string, unknown> & { order_id: string }; id: string }[] = [];
  const subscriptions: { person: number; id: string; sku: string; currency: 'USD' | 'EUR' }[] = [];
  const time = (ms = at) => new Date(ms).toISOString();

  async function report(one: (typeof told)[number]): Promise<void> {
    one.body = { ...one.body, updated_at: time() };
    one.id = (await ask('POST', '/v1/orders', one.body)).id;
  }

  function makeOrder(): { order: ModelOrder; carried: (typeof links)[number] | null } {
    const continued = isOften(0.5) && subscriptions.length > 0 ? pick(subscriptions) : null;
    const kind = continued
      ? pick(['renewal', 'renewal', 'renewal', 'upgrade', 'resubscribe', 'once'] as const)
      : pick(['once', 'first'] as const);
    const person = continued && isOften(0.9) ? continued.person : below(8);
    const isNew = kind === 'first' || kind === 'resubscribe';
    const id = isNew ? `s${subscriptions.length}` : (continued?.id ?? null);
    const sku = continued && isOften(0.8) ? continued.sku : pick(SKUS);
    const currency = continued?.currency ?? (isOften(0.9) ? ('USD' as const) : ('EUR' as const));
    if (isNew && id) subscriptions.push({ person, id, sku, currency });
    const isFree = isNew && isOften(0.2);
    const other = maybe(0.4, () => pick(SKUS.filter((one) => one !== sku)));
    const order: ModelOrder = {
      ...{ at, kind, currency, refunds: [], decision: null, owner: null, isCancelled: false },
      subscription: kind === 'once' && isOften(0.7) ? null : isOften(0.8) ? id : null,
      previous: kind === 'resubscribe' ? (continued?.id ?? null) : null,
      customerId: maybe(0.6, () => `c${person}`),
      email: maybe(0.9, () => `p${person}${isOften(0.2) ? 'work' : ''}@${suffix}.example`),
      lines: [sku, other].flatMap((one) => (one === null ? [] : [{ sku: one, minor: isFree ? 0 : 1 + below(15_000) }])),
      isPaid: isOften(0.85),
    };
    return { order, carried: maybe(kind === 'renewal' ? 0.2 : 0.6, () => pick(links)) };
  }

  async function place(): Promise<void> {
    const { order, carried } = makeOrder();
    model.decide(order, carried);
    const minor = order.lines.reduce((sum, line) => sum + line.minor, 0);
    const body = {
      ...{
        source: 'shop',
        order_id: `o${told.length}`,
        currency: order.currency,
        kind: order.kind,
        amount: minor / 100,
      },
      ...{ placed_at: time(), paid_at: order.isPaid ? time() : null, customer_email: order.email },
      ...(order.subscription === null ? {} : { subscription_id: order.subscription }),
      ...(order.previous === null ? {} : { previous_subscription_id: order.previous }),
      ...(order.customerId === null ? {} : { customer_external_id: order.customerId }),
      ...(carried ? { codes: [carried.value] } : {}),
      items: order.lines.map((line) => ({ sku: line.sku, amount: line.minor / 100 })),
    };
    const one = { order, body, id: '' };
    told.push(one);
    await report(one);
  }

  async function change(): Promise<void> {
    const one = pick(told);
    const { order } = one;
    if (order.isCancelled) return;
    if (!order.isPaid && isOften(0.5)) {
      order.isCancelled = true;
      one.body.cancelled_at = time();
      return await report(one);
    }
    if (!order.isPaid) {
      model.payLater(order);
      one.body.paid_at = time();
      return await report(one);
    }
    const left =
      order.lines.reduce((sum, line) => sum + line.minor, 0) - order.refunds.reduce((sum, minor) => sum + minor, 0);
    if (left === 0) return;
    const refund = isOften(0.2) ? left : 1 + below(left);
    order.refunds.push(refund);
    const body = { refund_id: unique('r'), amount: refund / 100, at: time(), items: [] };
    await ask('POST', `/v1/orders/${one.id}/refunds`, body);
  }

  for (let step = 0; step < STEPS; step += 1) {
    at += 1_000 + below((2 * YEAR_MS) / STEPS);
    setTime(new Date(at));
    if (told.length > 3 && isOften(0.25)) await change();
    else if (isOften(0.04)) {
      const link = pick(links);
      link.terms = makeTerms(link.creator);
      await ask('PATCH', `/v1/affiliates/links/${link.id}`, { terms: toBody(link.terms) });
    } else await place();
  }
  const [got, right]: string[][] = [[], []];
  for (const { order, body } of told) {
    const { commission } = await ask('GET', `/v1/affiliates/explain?order_id=${body.order_id}`);
    const named = `${body.order_id} ${order.kind} ${order.subscription} ${time(order.at)}:`;
    got?.push(
      commission ? `${named} ${commission.creator_email.split('@')[0]} ${commission.commission}` : `${named} nobody`,
    );
    const { decision } = order;
    right?.push(
      decision ? `${named} ${decision.creator} ${fromMinor(model.pay(order), order.currency)}` : `${named} nobody`,
    );
  }
  expect(got, `seed ${seed}`).toEqual(right);
  expect((await inSnapshot(app.context.postgres.db, (trx) => verifyRecords(trx, brand.id))).problems).toEqual([]);
}

it.each(Array.from({ length: BRANDS }, (_, place) => testSeed + place))(
  'A year of a brand with terms pays each order as the model of docs/terms.md says (seed %i).',
  async (seed) => {
    await live(seed);
  },
);
