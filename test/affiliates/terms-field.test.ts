import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { openShop, type TermsShop } from './terms-shop.ts';

const DAY_MS = 86_400_000;
/** Codes are made before the subscriptions begin, and the present comes after them. */
const [BEFORE, START] = [Date.now() - 391 * DAY_MS, Date.now() - 390 * DAY_MS];
const clock = { at: BEFORE, now: () => new Date(clock.at) };

let app: TestApp;
let shop: TermsShop;
beforeAll(async () => {
  app = await startApp({ clock });
  shop = await openShop(app);
});
afterAll(() => app?.close());

type Placed = Awaited<ReturnType<TermsShop['place']>>;

const SUBSCRIPTION = { rate: { percent: 10 }, covers: 'subscription' };

/** A subscriber, whose orders are days apart. */
function subscribe(subscription_id: string | undefined = unique('sub')) {
  const customer_email = `${unique('buyer')}@mail.example`;
  const of = { customer_email, items: [{ sku: unique('sku'), amount: 50 }] };
  return async (days: number, order: object): Promise<Placed> => {
    clock.at = START + days * DAY_MS;
    const at = clock.now().toISOString();
    return await shop.place({ ...of, subscription_id, amount: 50, placed_at: at, paid_at: at, ...order });
  };
}

/** What orders pay, and to whom. */
const paid = async (placed: readonly Placed[]) =>
  await Promise.all(
    placed.map(async (one) => {
      const { commission } = await shop.explain(one);
      return commission === null ? null : `${commission.creator_email} ${commission.commission}`;
    }),
  );

const reasons = async (one: Placed) =>
  (await shop.explain(one)).candidates.map(({ reason }: { reason: string | null }) => reason);

describe('a subscription as billing tools report it', () => {
  beforeEach(() => {
    clock.at = BEFORE;
  });
  afterEach(async () => {
    expect(await shop.listProblems()).toEqual([]);
  });

  it('pays from its trial through a change of plan and a pause, each refund its own order only, and for no longer than a year', async () => {
    const ana = await shop.makeCode({ ...SUBSCRIPTION, months: 12 });
    const bill = subscribe();
    const orders = [
      await bill(0, { kind: 'first', amount: 0, items: [], codes: [ana.value] }),
      await bill(14, { kind: 'renewal' }),
      await bill(44, { kind: 'upgrade', amount: 20, items: [{ sku: 'PRO', amount: 20 }] }),
      await bill(74, { kind: 'renewal', amount: 80, items: [{ sku: 'PRO', amount: 80 }] }),
      // After a pause of half a year.
      await bill(260, { kind: 'renewal', amount: 80, items: [{ sku: 'PRO', amount: 80 }] }),
      await bill(385, { kind: 'renewal', amount: 80, items: [{ sku: 'PRO', amount: 80 }] }),
    ];
    const of = (amount: number) => `${ana.creator_email} ${amount}`;
    expect(await paid(orders)).toEqual([of(0), of(5), of(2), of(8), of(8), null]);
    const [, second, , fourth, , last] = orders;
    expect(last && (await reasons(last))).toEqual(['duration_over']);
    clock.at = Date.now();
    expect(second && (await shop.refund(second, 50))).toBe(0);
    expect(fourth && (await shop.refund(fourth, 20))).toBe(6);
    expect(await paid(orders)).toEqual([of(0), of(0), of(2), of(6), of(8), null]);
  });

  it('is followed by one that its customer begins anew, which pays as long as its terms say', async () => {
    const [endless, short] = [await shop.makeCode(SUBSCRIPTION), await shop.makeCode({ ...SUBSCRIPTION, months: 6 })];
    const again = await Promise.all(
      [endless, short].map(async ({ value }) => {
        const [old, fresh] = [unique('sub'), unique('sub')];
        const bill = subscribe(old);
        const anew = { subscription_id: fresh, previous_subscription_id: old };
        await bill(0, { kind: 'first', codes: [value] });
        return [
          await bill(370, { kind: 'resubscribe', ...anew }),
          await bill(385, { kind: 'renewal', subscription_id: fresh }),
        ];
      }),
    );
    expect(await Promise.all(again.map(paid))).toEqual([
      [`${endless.creator_email} 5`, `${endless.creator_email} 5`],
      [null, null],
    ]);
  });

  it('is of the creator who sold it: another one’s code wins the one order that carries it', async () => {
    const ana = await shop.makeCode(SUBSCRIPTION);
    const ben = await shop.makeCode({ ...SUBSCRIPTION, rate: { percent: 20 } });
    const cy = await shop.makeCode({ rate: { percent: 30 } });
    const bill = subscribe();
    const orders = [
      await bill(0, { kind: 'first', codes: [ana.value] }),
      await bill(30, { kind: 'renewal', codes: [ben.value] }),
      await bill(60, { kind: 'renewal' }),
      // A code that pays no renewals does not qualify for one.
      await bill(90, { kind: 'renewal', codes: [cy.value] }),
    ];
    const [of, ofBen] = [`${ana.creator_email} 5`, `${ben.creator_email} 10`];
    expect(await paid(orders)).toEqual([of, ofBen, of, of]);
  });

  it('is known by the address of its customer, in whatever case, and by no likeness of it', async () => {
    const ana = await shop.makeCode(SUBSCRIPTION);
    const name = unique('Buyer.One');
    const bill = subscribe('');
    const at = (customer_email: string) => ({ customer_email, subscription_id: undefined });
    const orders = [
      await bill(0, { kind: 'first', codes: [ana.value], ...at(`${name}@Gmail.com`) }),
      await bill(30, { kind: 'renewal', ...at(`${name.toLowerCase()}@gmail.COM`) }),
      await bill(60, { kind: 'renewal', ...at(`${name.replace('.', '')}@gmail.com`) }),
      await bill(60, { kind: 'once', ...at(`${name}@gmail.com`) }),
    ];
    const of = `${ana.creator_email} 5`;
    expect(await paid(orders)).toEqual([of, of, null, null]);
  });

  it('that comes before its first order pays once that is known, unless somebody rejected what sold it', async () => {
    const ana = await shop.makeCode(SUBSCRIPTION);
    const [bill, reject] = [subscribe(), subscribe()];
    const early = await bill(362, { kind: 'renewal' });
    expect(early.commission).toBeNull();
    await bill(332, { kind: 'first', codes: [ana.value] });
    expect(await paid([early])).toEqual([`${ana.creator_email} 5`]);

    const sold = await reject(0, { kind: 'first', codes: [ana.value] });
    const { commission } = await shop.explain(sold);
    await shop.tell('PATCH', `/v1/affiliates/commissions/${commission.id}`, { status: 'rejected' });
    const renewal = await reject(30, { kind: 'renewal' });
    expect([await paid([renewal]), await reasons(renewal)]).toEqual([[null], ['origin_rejected']]);
  });
});
