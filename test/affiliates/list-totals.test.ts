import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approved, get, makePayer, type Payer, recorded } from '../harness/affiliates/paying.ts';
import { daysAgo, makeSale, orderFacts, report } from '../harness/affiliates/sales.ts';
import { call, send, startApp, type TestApp } from '../harness/app.ts';

type Item = { [name: string]: string | number | null };

let app: TestApp;
let owner: Payer;

/** A brand with sales, commissions and payouts in dollars, euros and yen, some rejected, voided or unattributed. */
beforeAll(async () => {
  app = await startApp();
  owner = await makePayer(app);
  const sale = (orderId: string, facts: object) =>
    makeSale(app.context, owner.brand, { assignment: owner.ann, orderId, ...facts });
  await approved(owner, { orderId: 'one', amountMinor: 12_345, occurredAt: daysAgo(40) });
  await sale('two', { amountMinor: 99_999, occurredAt: daysAgo(30) });
  await sale('three', { amountMinor: 5_001, currency: 'EUR', occurredAt: daysAgo(25) });
  await sale('four', { amountMinor: 7_000, currency: 'JPY', occurredAt: daysAgo(20) });
  const { id } = await sale('five', { amountMinor: 30_000, occurredAt: daysAgo(15) });
  const rejection = await send(`${app.url}/v1/affiliates/commissions/${id}`, owner.key, 'PATCH', {
    status: 'rejected',
  });
  expect(rejection.status).toBe(200);
  await report(app.context, owner.ann, orderFacts(daysAgo(10), { orderId: 'nobody', customerEmail: null }));
  await recorded(owner, { amount: 12.34 });
  await recorded(owner, { amount: 5.5, currency: 'EUR' });
  const wrong = await recorded(owner, { amount: 1_000 });
  const voided = await send(`${app.url}/v1/payouts/${wrong.id}/void`, owner.key, 'POST', { reason: 'Typed wrong.' });
  expect(voided.status).toBe(200);
  const past = ['EUR', 'USD', 'EUR'].map((currency, i) => ({
    ...{ creator_email: owner.ann.email, reference: `PO-${i}`, currency },
    ...{ amount: 10.25 + i, paid_at: `2025-11-0${i + 1}T12:00:00Z` },
  }));
  const batch = { source: 'Former tool', past_commissions: past };
  expect((await send(`${app.url}/v1/past-commissions/batch`, owner.key, 'POST', batch)).status).toBe(200);
});
afterAll(() => app?.close());

const isSent = ({ status }: Item) => status !== 'voided' && status !== 'returned';

/** Adds up the figures that the items show, in hundredths, which is exact. */
function addUp(path: string, items: readonly Item[], sums: readonly string[]) {
  const groups = [...Map.groupBy(items, ({ currency }) => String(currency))].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return groups.map(([currency, some]) => ({
    currency,
    count: some.length,
    ...Object.fromEntries(
      sums.map((name) => {
        const shown = some.filter((item) => !path.startsWith('/v1/payouts') || isSent(item));
        return [name, shown.reduce((sum, item) => sum + Math.round(Number(item[name] ?? 0) * 100), 0) / 100];
      }),
    ),
  }));
}

describe('with totals=true, a list', () => {
  it.each([
    ['/v1/commissions', ['amount', 'commission']],
    ['/v1/affiliates/commissions', ['amount', 'commission']],
    ['/v1/commissions?status=pending', ['amount', 'commission']],
    ['/v1/commissions?currency=EUR', ['amount', 'commission']],
    ['/v1/commissions?status=paid', ['amount', 'commission']],
    ['/v1/orders', ['amount', 'commission']],
    ['/v1/orders?attributed=false', ['amount', 'commission']],
    ['/v1/orders?customer=new', ['amount', 'commission']],
    ['/v1/payouts', ['amount']],
    ['/v1/payouts?status=voided', ['amount']],
    ['/v1/past-commissions', ['amount']],
    ['/v1/past-commissions?source=Nothing', ['amount']],
  ] as const)('of %s answers the count and sums of all pages by currency', async (path, sums) => {
    const { body: all } = await get(owner, path);
    expect(all.totals).toBeUndefined();
    const { status, body } = await get(owner, `${path}${path.includes('?') ? '&' : '?'}totals=true&limit=1`);
    expect(status).toBe(200);
    expect(body.totals).toEqual(addUp(path, all.data, sums));
    expect(body.pagination.total).toBe(all.pagination.total);
  });

  it('counts only rows of the brand', async () => {
    const stranger = await makePayer(app);
    for (const path of ['commissions', 'orders', 'payouts', 'past-commissions']) {
      expect([path, (await get(stranger, `/v1/${path}?totals=true`)).body.totals]).toEqual([path, []]);
    }
  });
});

describe('a sort by a figure', () => {
  it.each([
    ['/v1/commissions', 'amount'],
    ['/v1/commissions', 'commission'],
    ['/v1/orders', 'amount'],
    ['/v1/orders', 'commission'],
    ['/v1/payouts', 'amount'],
    ['/v1/past-commissions', 'amount'],
  ])('puts the largest of %s first by %s, on pages and in the file', async (path, sort) => {
    const { body } = await get(owner, `${path}?sort=${sort}`);
    // Minor units, which is the order that the API documents whatever the currency.
    const minor = (item: Item) => Number(item[sort]) * (item.currency === 'JPY' ? 1 : 100);
    const figures: number[] = body.data.map(minor);
    expect(figures.length).toBeGreaterThan(2);
    expect(figures).toEqual(figures.toSorted((one, other) => other - one));
    const ids: string[] = body.data.map(({ id }: { id: string }) => id);
    const paged = await Promise.all(ids.map((_, i) => get(owner, `${path}?sort=${sort}&limit=1&page=${i + 1}`)));
    expect(paged.map(({ body: page }) => page.data[0].id)).toEqual(ids);
    const headers = { accept: 'text/csv' };
    const file: string = (await call(`${app.url}${path}?sort=${sort}`, owner.key, { headers })).body;
    const lines = file.trim().split('\n').slice(1);
    expect(ids.map((id) => lines.findIndex((text) => text.includes(id)))).toEqual(ids.map((_, i) => i));
  });

  it('that a list does not have is refused by name', async () => {
    const { status, body } = await get(owner, '/v1/payouts?sort=commission');
    expect([status, body.code, body.details[0].field]).toEqual([422, 'VALIDATION_ERROR', 'sort']);
  });
});
