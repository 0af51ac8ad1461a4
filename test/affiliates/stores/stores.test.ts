import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readClickIdFromUrl } from '../../../src/affiliates/stores/formats/click.ts';
import { getClient } from '../../../src/affiliates/stores/formats/clients.ts';
import { divideHalfEven, readDecimal, toMinorUnits } from '../../../src/affiliates/stores/formats/money.ts';
import { PROVIDERS } from '../../../src/affiliates/stores/formats/provider.ts';
import { requested, signedDelivery, startStore, startStores } from '../../harness/affiliates/store.ts';

let stores: Awaited<ReturnType<typeof startStores>>;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores?.close());

const get = (provider: string) => stores.get(provider);

const topicOf = (provider: (typeof PROVIDERS)[number], topic: string, data: object) => {
  const { headers, body } = signedDelivery(provider, 's', topic, data);
  return getClient(provider).read({ headers, body: JSON.parse(body) }, requested(get(provider)));
};

describe('money of stores', () => {
  /** As ISO 4217 has them, whatever `Intl` shows of them. */
  const DECIMALS = { USD: 2, EUR: 2, JPY: 0, KWD: 3, HUF: 2, IDR: 2, IQD: 3, MGA: 2, UYI: 0, CLF: 4 } as const;
  const currency = fc.constantFrom(...Object.entries(DECIMALS));

  it('is read exactly, to the minor unit, up to the maximum of an order', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 1_000_000_000_000n), currency, fc.nat(3), (minor, [code, decimals], zeros) => {
        const digits = minor.toString().padStart(decimals + 1, '0');
        const whole = digits.slice(0, digits.length - decimals);
        const fraction = digits.slice(digits.length - decimals) + '0'.repeat(zeros);
        const decimal = readDecimal(fraction === '' ? whole : `${whole}.${fraction}`);
        expect(decimal).toBeDefined();
        expect(toMinorUnits(decimal ?? -1n, code)).toBe(Number(minor));
      }),
    );
  });

  it.each([
    ['USD', '10000000000', '10000000000.01'],
    ['JPY', '1000000000000', '1000000000001'],
    ['KWD', '1000000000', '1000000000.001'],
    ['CLF', '100000000', '100000000.0001'],
    ['USD', '10000000000', '999999999999999999'],
    ['KWD', '1000000000', '99999999999999.999'],
  ])('in %s is at most %s: %s is refused, with both', (code, most, amount) => {
    const read = (text: string) => toMinorUnits(readDecimal(text) ?? -1n, code);
    expect(read(most)).toBe(1_000_000_000_000);
    const problem = { path: ['amount'], message: `must be at most ${most} ${code}`, input: amount };
    expect(() => read(amount)).toThrow(expect.objectContaining({ issues: [expect.objectContaining(problem)] }));
  });

  it('is summed before it is rounded, and rounded half to even', () => {
    const minor = (text: string, code = 'USD') => toMinorUnits(readDecimal(text) ?? -1n, code);
    expect(['0.005', '0.015', '0.025', '0.0250001', '10.004999'].map((text) => minor(text))).toEqual([
      0, 2, 2, 3, 1000,
    ]);
    expect([minor('2.5', 'JPY'), minor('3.5', 'JPY'), minor('1.0005', 'KWD')]).toEqual([2, 4, 1000]);
    expect([divideHalfEven(-5n, 2n), divideHalfEven(-7n, 2n), divideHalfEven(7n, -2n)]).toEqual([-2n, -4n, -4n]);
    expect(minor('-3.00')).toBe(0);
  });

  it.each(['', ' ', '1,00', '1e3', '0x10', '.5', '5.', 'NaN', 'Infinity', '--1', '1.123456789', '1 000'])(
    '%j is not an amount',
    (text) => expect(readDecimal(text)).toBeUndefined(),
  );

  it('any text is either an amount or refused, and never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => ['bigint', 'undefined'].includes(typeof readDecimal(text))));
  });
});

describe('the click id of a landing page', () => {
  it.each([
    ['/products/x?utm=a&click_id=clk_1', 'clk_1'],
    ['https://shop.example/?click_id=clk_2#top', 'clk_2'],
    ['/?a=%zz&click_id=clk%2D3', 'clk-3'],
    ['/products#?click_id=no', undefined],
    ['/', undefined],
    ['', undefined],
    [null, undefined],
  ])('of %j is %j', (url, id) => expect(readClickIdFromUrl(url)).toBe(id));
});

describe.each(PROVIDERS)('%s', (provider) => {
  it('says who it is', async () => {
    const store = get(provider);
    expect(await getClient(provider).connect(requested(store))).toEqual({
      name: 'A store',
      currency: 'EUR',
      storefrontUrl: expect.stringMatching(new RegExp(`^https://${store.host}/?$`)),
      ...(provider !== 'generic' && { timeZone: null }),
    });
  });

  it('is refused at an address with a user name or password', async () => {
    const store = await startStore(provider);
    for (const login of ['me', ':pw']) {
      store.host = `${login}@shop.example`;
      await expect(getClient(provider).connect(requested(store))).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
      });
    }
    await store.close();
  });

  it('has an active percentage coupon, in any case, or says what is wrong with it', async () => {
    const store = get(provider);
    store.coupons.set('ana10', { kind: 'percentage', amount: 10, active: true });
    store.coupons.set('old', { kind: 'percentage', amount: 10, active: false });
    store.coupons.set('five', { kind: 'fixed', amount: 5, active: true });
    store.coupons.set('ship', { kind: 'free_shipping', amount: 0, active: true });
    const find = (code: string) => getClient(provider).findCoupon(requested(store), code, new Date());
    expect(await find('Ana10')).toEqual({ state: 'active', percentage: 10, endsAt: null });
    expect(await find('OLD')).toEqual({ state: 'inactive' });
    expect(await find('FIVE')).toEqual({ state: 'not_percentage' });
    expect(await find('SHIP')).toEqual({ state: 'not_percentage' });
    expect(await find('no/such code?&')).toEqual({ state: 'not_found' });
  });

  it('refusing its token is distinguished from not answering', async () => {
    const store = get(provider);
    const connect = (token: string) => getClient(provider).connect({ ...requested(store), token });
    await expect(connect('wrong')).rejects.toMatchObject({ code: 'CONFLICT' });
    for (const status of [301, 404, 429, 500]) {
      store.failWith = status;
      await expect(connect(store.token)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    }
    store.failWith = undefined;
  });

  it('is not contacted at an address that is not allowed', async () => {
    const store = get(provider);
    const before = store.requests.length;
    await expect(getClient(provider).connect({ ...requested(store), allow: [] })).rejects.toMatchObject({
      status: 503,
    });
    expect(store.requests).toHaveLength(before);
  });

  it('signs its deliveries: any other byte, secret or signature is refused', () => {
    const { headers, body } = signedDelivery(provider, 'secret', 'order.created', { a: 'ü' });
    const { verify } = getClient(provider);
    expect(verify(Buffer.from(body), headers, 'secret')).toBe(true);
    expect(verify(Buffer.from(`${body} `), headers, 'secret')).toBe(false);
    expect(verify(Buffer.from(body), headers, 'Secret')).toBe(false);
    for (const [name, value] of Object.entries(headers).filter(([header]) => /signature|hmac/.test(header))) {
      const flipped = `${value.slice(0, -2)}${value.at(-2) === 'A' ? 'B' : 'A'}${value.slice(-1)}`;
      for (const other of ['', 'x', `${value}0`, value.slice(0, -1), flipped, ` ${value}`, undefined])
        expect(verify(Buffer.from(body), { ...headers, [name]: other }, 'secret'), String(other)).toBe(false);
    }
  });

  it('sends topics that are not orders: they are ignored', async () => {
    expect(await topicOf(provider, 'products/update', { id: 1, data: {} })).toBeUndefined();
  });
});

describe('Shopify', () => {
  it('answers a missing scope with status 200, which counts as a refused token, unlike throttling', async () => {
    const store = get('shopify');
    store.denyWith = 'ACCESS_DENIED';
    await expect(getClient('shopify').connect(requested(store))).rejects.toMatchObject({ code: 'CONFLICT' });
    store.denyWith = 'THROTTLED';
    await expect(getClient('shopify').connect(requested(store))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    store.denyWith = undefined;
  });
});

describe('A generic store', () => {
  it('gets every problem of an order at once, both wrong amounts and missing fields', async () => {
    const refunds = [{ refund_id: 'r', amount: -1, at: 'soon' }];
    const order = { currency: 'USD', amount: '1.001', refunds };
    const { issues } = await topicOf('generic', 'order.paid', order).catch((error: unknown) => Object(error));
    const paths = issues.map(({ path }: { path: unknown[] }) => path.join('.')).sort();
    expect(paths).toEqual(['data.amount', 'data.order_id', 'data.refunds.0.amount', 'data.refunds.0.at']);
  });
});

describe('WooCommerce', () => {
  it('reports a used-up coupon as inactive', async () => {
    const store = get('woocommerce');
    store.coupons.set('used', { kind: 'percentage', amount: 10, active: true, usedUp: true });
    const found = await getClient('woocommerce').findCoupon(requested(store), 'used', new Date());
    expect(found).toEqual({ state: 'inactive' });
  });

  it('recognizes only its own kind of ping', () => {
    const { isPing } = getClient('woocommerce');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(isPing(Buffer.from('webhook_id=12'), form)).toBe(true);
    expect(isPing(Buffer.from('webhook_id=12&a=b'), form)).toBe(false);
    expect(isPing(Buffer.from('webhook_id=12'), { 'content-type': 'application/json' })).toBe(false);
  });
});
