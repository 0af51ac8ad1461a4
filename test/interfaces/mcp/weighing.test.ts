import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../../../src/interfaces/nouns.ts';
import { type Answer, call, makeBrand, send, startApp, type TestApp, unique } from '../../harness/app.ts';
import { connectAgent, errorOf } from '../../harness/interfaces/agent.ts';

let app: TestApp;
const EMAIL = 'ana@example.com';

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

/** An agent under a policy, of a brand whose default rate is 40%. */
async function makeAgent(policy: object) {
  const key = await (await makeBrand(app.context)).key('brand');
  const rest = (path: string, method: string, body: unknown): Promise<Answer> =>
    send(`${app.url}/v1${path}`, key, method, body);
  await rest('/roster', 'POST', { creator_email: EMAIL });
  await rest('/brand', 'PATCH', { settings: { default_commission_rate: 40 } });
  await rest('/agent-policy', 'PATCH', policy);
  const client = await connectAgent(app.url, key);
  const use = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  return {
    rest,
    totalOf: async (path: string) => (await call(`${app.url}/v1${path}`, key)).body.pagination.total,
    brand: async () => (await call(`${app.url}/v1/brand`, key)).body.data,
    allowed: async (name: string, args: Record<string, unknown>) => {
      const result = await use(name, args);
      expect(result.isError, JSON.stringify(result.content)).toBeFalsy();
      return JSON.parse(JSON.stringify(result.structuredContent)).data;
    },
    refusedBy: async (name: string, args: Record<string, unknown>) => errorOf(await use(name, args)).rule,
    close: () => client.close(),
  };
}

const CODES = 'bulk_create_affiliate_codes';

test('The highest rate applies to the rate of a link, even if it is the brand’s default', async () => {
  const { allowed, refusedBy, totalOf, rest, close } = await makeAgent({ highest_rate: 15 });
  const link = { creator_email: EMAIL, value: unique('code') };
  const ways: [string, Record<string, unknown>][] = [
    ['create_affiliate_link', link],
    ['create_affiliate_link', { ...link, commission_rate: 15.5 }],
    [CODES, { all_missing: true }],
    [CODES, { creators: [{ email: EMAIL }] }],
    [CODES, { all_missing: true, type: 'link', destination_url: 'https://shop.example/' }],
  ];
  for (const [tool, args] of ways) {
    expect(await refusedBy(tool, args), JSON.stringify(args)).toBe('highest_rate');
    expect(await refusedBy(tool, { ...args, mode: 'plan' }), JSON.stringify(args)).toBe('highest_rate');
  }
  expect(await totalOf('/affiliates/links')).toBe(0);
  const { id } = await allowed('create_affiliate_link', { ...link, commission_rate: 15 });
  expect(await refusedBy('update_affiliate_link', { id, commission_rate: 40 })).toBe('highest_rate');
  expect(await allowed('update_affiliate_link', { id, commission_rate: 5 })).toMatchObject({ commission_rate: 5 });
  expect((await rest('/affiliates/links', 'POST', { ...link, value: unique('own') })).body.data.commission_rate).toBe(
    40,
  );
  await close();
});

test('An agent cannot raise the brand’s default rate above the highest rate, and may change other fields of the brand', async () => {
  const { allowed, refusedBy, brand, close } = await makeAgent({ highest_rate: 15 });
  const raise = (percent: number) => ({ settings: { default_commission_rate: percent } });
  expect(await refusedBy('update_brand', raise(16))).toBe('highest_rate');
  expect((await brand()).settings.default_commission_rate).toBe(40);
  await allowed('update_brand', { industry: 'Shoes' });
  await allowed('update_brand', raise(15));
  expect((await brand()).settings.default_commission_rate).toBe(15);
  await close();
});

const CONTRACT = { creator_email: EMAIL, title: 'Launch', deliverables: [{ type: 'reel' }] };
const fixed = (amount: number, more = {}) => ({ compensation: { type: 'fixed', amount, ...more } });
const rated = (amount: number) => ({ compensation: { type: 'commission', amount } });

test('Campaigns and contracts of agents offer no rate above the highest and no amount above the person limit', async () => {
  const { allowed, refusedBy, totalOf, close } = await makeAgent({ highest_rate: 15, person_above: 100 });
  for (const [tool, args, list] of [
    ['campaign', { name: 'x' }, '/campaigns'],
    ['contract', CONTRACT, '/contracts'],
  ] as const) {
    const make = `create_${tool}`;
    const change = `update_${tool}`;
    expect(await refusedBy(make, { ...args, ...rated(16) })).toBe('highest_rate');
    expect(await refusedBy(make, { ...args, ...fixed(101) })).toBe('person_above');
    expect(await refusedBy(make, { ...args, ...fixed(1, { currency: 'GBP' }) })).toBe('currency');
    expect(await totalOf(list)).toBe(0);
    expect(await allowed(make, { ...args, ...fixed(101), mode: 'plan' })).toMatchObject({ status: 'open' });
    const { id } = await allowed(make, { ...args, ...fixed(100) });
    expect(await refusedBy(change, { id, ...fixed(5_000) })).toBe('person_above');
    expect(await refusedBy(change, { id, ...rated(99) })).toBe('highest_rate');
    expect(await allowed(change, { id, ...rated(15) })).toMatchObject({ id });
  }
  await close();
});

test('An agent may change anything but the terms that a person offered', async () => {
  const { allowed, rest, close } = await makeAgent({ highest_rate: 15, person_above: 100 });
  for (const compensation of [fixed(5_000), rated(30)]) {
    const { id } = (await rest('/campaigns', 'POST', { name: 'Old', ...compensation })).body.data;
    expect(await allowed('update_campaign', { id, name: 'New' })).toMatchObject({ title: 'New' });
  }
  await close();
});

test('An agent cannot shift the policy’s limits by changing the brand’s currency', async () => {
  const { allowed, refusedBy, brand, rest, close } = await makeAgent({ person_above: 100 });
  const change = { settings: { currency: 'KWD' } };
  expect(await refusedBy('update_brand', change)).toBe('currency');
  expect((await brand()).settings.currency).toBe('USD');
  await rest('/agent-policy', 'PATCH', { person_above: null });
  await allowed('update_brand', change);
  expect((await brand()).settings.currency).toBe('KWD');
  await close();
});

test('Every paying operation declares its amount fields', () => {
  const paying = operations.filter(({ hints }) => hints.moneyOut);
  expect(paying.length).toBeGreaterThan(0);
  expect(paying.filter(({ weighs }) => weighs.paid === undefined)).toEqual([]);
});
