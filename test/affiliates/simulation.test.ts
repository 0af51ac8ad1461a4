import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  makeRivals,
  type ReportedOrder,
  type Rivals,
  reportAll,
  reportedOrder,
} from '../harness/affiliates/rival-codes.ts';
import { send, startApp, type TestApp } from '../harness/app.ts';
import { testSeed as seed } from '../harness/kit/random-runs.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const histories = (count: number, from = 0): ReportedOrder[] =>
  fc.sample(reportedOrder, { numRuns: count, seed: seed + from });
const contested = (more: Pick<ReportedOrder, 'codes' | 'clicks' | 'cents'>): ReportedOrder => ({
  ...{ daysAgo: 12, currency: 'USD', isPaid: true, isCancelled: false, isTest: false, isRenewal: false },
  ...{ refundCents: 0, isReportedAgain: false, ...more },
});
const OLDER = { of: 0, days: 5 } as const;
const NEWER = { of: 1, days: 4 } as const;
/** Orders that each rule decides otherwise, whatever was drawn. */
const CONTESTED = [
  contested({ codes: [], clicks: [OLDER, NEWER], cents: 9_000 }),
  contested({ codes: ['first'], clicks: [NEWER], cents: 9_000 }),
  contested({ codes: ['first'], clicks: [], cents: 1_000 }),
];
const PERIOD = { from: new Date(Date.now() - 70 * 24 * 60 * 60 * 1_000).toISOString() };

const simulate = async ({ key }: Rivals, rules: object, more: object = PERIOD) =>
  await send(`${app.url}/v1/affiliates/simulate`, key, 'POST', { ...more, rules });

/** What a brand owes, by the names that two brands share. */
async function owedBy({ key, creators }: Rivals) {
  const nameOf = new Map(
    creators.flatMap(({ assignment, linkId }, place) => [
      [assignment.linkId, `code ${place}`],
      [linkId, `link ${place}`],
    ]),
  );
  const { body } = await send(`${app.url}/v1/orders?limit=100`, key, 'GET');
  return new Map<string, { link: string | undefined; commission: number; paid: boolean }>(
    body.data.map((order: { order_id: string; link_id: string | null; commission: number | null; paid_at: string }) => [
      order.order_id,
      {
        link: order.link_id === null ? undefined : nameOf.get(order.link_id),
        commission: Math.round((order.commission ?? 0) * 100),
        paid: order.paid_at !== null,
      },
    ]),
  );
}

type Sums = Record<string, number | string>;
/** The totals of one side, without currencies in which nothing was won. */
const sideOf = (totals: Sums[], side: 'now' | 'simulated') =>
  totals
    .map((row) => [
      ...[row.currency, row[`orders_${side}`], row[`commission_${side}_minor`], row[`in_review_${side}_minor`]],
    ])
    .filter(([, orders]) => orders !== 0);

describe(`a simulation (seed ${seed})`, () => {
  it("of today's rules changes no order of a random history, nor do reviews and payments", async () => {
    const rivals = await makeRivals(app);
    await reportAll(rivals, histories(36));
    const approvable = await send(`${app.url}/v1/commissions?approvable=true&limit=100`, rivals.key, 'GET');
    const due = approvable.body.data.filter(({ commission }: { commission: number }) => commission > 0);
    const [paid, rejected, ...others] = due.map(({ id }: { id: string }) => id);
    await send(`${app.url}/v1/affiliates/commissions/${rejected}`, rivals.key, 'PATCH', { status: 'rejected' });
    for (const id of [paid, ...others.slice(0, 3)]) {
      await send(`${app.url}/v1/affiliates/commissions/${id}`, rivals.key, 'PATCH', { status: 'approved' });
    }
    const { creator_email } = due[0];
    const payout = { creator_email, commission_ids: [paid], amount: due[0].commission, currency: due[0].currency };
    const made = await send(`${app.url}/v1/payouts`, rivals.key, 'POST', { ...payout, method: 'wallet' });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const explicit = { model: 'last_click', coupon_policy: 'code_wins', min_order: 0, attribution_days: null };
    for (const rules of [{}, explicit]) {
      const { status, body } = await simulate(rivals, rules);
      expect(status, JSON.stringify(body)).toBe(200);
      expect([body.meta.changed, body.data.changed]).toEqual([0, []]);
      expect(body.meta.orders).toBeGreaterThan(10);
      expect(sideOf(body.data.totals, 'simulated')).toEqual(sideOf(body.data.totals, 'now'));
      for (const row of body.data.creators) {
        expect([row.orders_simulated, row.commission_simulated_minor, row.in_review_simulated_minor]).toEqual([
          ...[row.orders_now, row.commission_now_minor, row.in_review_now_minor],
        ]);
      }
    }
  });

  it.each<[rules: Record<string, unknown>, set: (rivals: Rivals) => Promise<unknown>]>([
    [{ model: 'first_click' }, setRules({ model: 'first_click' })],
    [{ coupon_policy: 'click_wins', min_order: 40 }, setRules({ coupon_policy: 'click_wins', min_order: 40 })],
    [
      { attribution_days: 3, rate: 7.5, hold_days: 45 },
      async ({ creators, key }: Rivals) => {
        const terms = { attribution_days: 3, commission_rate: 7.5, hold_days: 45 };
        for (const { assignment, linkId } of creators) {
          for (const id of [assignment.linkId, linkId]) {
            const { status } = await send(`${app.url}/v1/affiliates/links/${id}`, key, 'PATCH', terms);
            expect(status).toBe(200);
          }
        }
      },
    ],
    [
      { model: 'first_click', coupon_policy: 'click_wins' },
      setRules({ model: 'first_click', coupon_policy: 'click_wins' }),
    ],
  ])('of %j says what the same orders pay once the rules are set', async (rules, set) => {
    const drawn = histories(20, 1).map((order) => ({ ...order, isReportedAgain: false }));
    const history = [...CONTESTED, ...drawn];
    const [before, after] = [await makeRivals(app), await makeRivals(app)];
    await reportAll(before, history);
    await set(after);
    await reportAll(after, history);
    const said = (await simulate(before, rules)).body;
    const owed = (await simulate(after, {})).body;
    expect(sideOf(said.data.totals, 'simulated')).toEqual(sideOf(owed.data.totals, 'now'));
    const [was, is] = [await owedBy(before), await owedBy(after)];
    const differing = [...is].filter(([id, one]) => {
      const old = was.get(id);
      return one.paid && (old?.link !== one.link || old?.commission !== one.commission);
    });
    expect(said.data.changed.map(({ order_id }: { order_id: string }) => order_id).sort()).toEqual(
      differing.map(([id]) => id).sort(),
    );
    expect(said.meta.changed).toBeGreaterThan(0);
    for (const { reason } of said.data.changed) expect(reason).toMatch(/\.$/);
  });

  it('reads only: it writes no event, no audit entry and no order, and any rule leaves what was decided', async () => {
    const rivals = await makeRivals(app);
    await reportAll(rivals, histories(10, 2));
    const seen = async () => {
      const paths = ['orders?limit=100', 'audit-log?limit=100', 'events?limit=100', 'commissions?limit=100'];
      return await Promise.all(
        paths.map(async (path) => (await send(`${app.url}/v1/${path}`, rivals.key, 'GET')).body),
      );
    };
    const before = await seen();
    await simulate(rivals, { model: 'first_click', rate: 50, min_order: 100 });
    await send(`${app.url}/v1/affiliates/rules`, rivals.key, 'PATCH', {});
    expect(await seen()).toEqual(before);
  });

  it('counts the orders that came with nothing, which no rule finds again', async () => {
    const rivals = await makeRivals(app);
    const plain = { cents: 100, currency: 'USD' as const, isPaid: true, isCancelled: false, isTest: false };
    const alone = {
      ...plain,
      daysAgo: 3,
      isRenewal: false,
      codes: [],
      clicks: [],
      refundCents: 0,
      isReportedAgain: false,
    };
    await reportAll(rivals, [alone, { ...alone, codes: ['first'] }, { ...alone, clicks: [{ of: 0, days: 20 }] }]);
    const { body } = await simulate(rivals, { attribution_days: 90 });
    expect(body.meta).toMatchObject({ orders: 3, without_candidates: 1, changed: 1 });
    expect(body.data.changed[0]).toMatchObject({
      ...{
        order_id: 'order-2',
        now: null,
        simulated: { rule: 'last_click', commission_rate: 20, commission_minor: 20 },
      },
      reason: expect.stringMatching(/last click within its window/),
    });
  });

  it.each([
    [{ from: '2026-02-02', to: '2026-02-01', rules: {} }, 'from'],
    [{ rules: { attribution_days: 0 } }, 'rules.attribution_days'],
    [{ rules: { hold_days: 91 } }, 'rules.hold_days'],
    [{ rules: { min_order: 1.234 } }, 'rules.min_order'],
    [{ rules: { rate: 101 } }, 'rules.rate'],
    [{ rules: { model: 'any' } }, 'rules.model'],
  ])('of %j is 422 and names %s', async (body, field) => {
    const rivals = await makeRivals(app);
    const answer = await send(`${app.url}/v1/affiliates/simulate`, rivals.key, 'POST', body);
    expect([answer.status, answer.body.details?.[0]?.field]).toEqual([422, field]);
  });
});

function setRules(rules: object) {
  return async ({ key }: Rivals) => {
    const { status } = await send(`${app.url}/v1/affiliates/rules`, key, 'PATCH', rules);
    expect(status).toBe(200);
  };
}

describe('the rules of attribution', () => {
  it('are the defaults until they are changed, are kept in the brand’s currency, and null clears the minimum', async () => {
    const { key } = await makeRivals(app);
    const rules = async (method: 'GET' | 'PATCH', body?: object) =>
      (await send(`${app.url}/v1/affiliates/rules`, key, method, body)).body.data;
    const defaults = {
      terms: null,
      budget: [],
      customer_policy: 'order_wins',
      model: 'last_click',
      coupon_policy: 'code_wins',
      min_order: null,
      currency: 'USD',
    };
    expect(await rules('GET')).toEqual({ ...defaults, updated_at: null });
    expect(await rules('PATCH', { min_order: 12.5 })).toMatchObject({ ...defaults, min_order: 12.5 });
    await send(`${app.url}/v1/brand`, key, 'PATCH', { settings: { currency: 'EUR' } });
    expect(await rules('GET')).toMatchObject({ ...defaults, min_order: 12.5, currency: 'USD' });
    expect(await rules('PATCH', { model: 'first_click' })).toMatchObject({ model: 'first_click', min_order: 12.5 });
    expect(await rules('PATCH', { min_order: null })).toMatchObject({ min_order: null, currency: 'EUR' });
  });
});
