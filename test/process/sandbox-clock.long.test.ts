import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop } from '../harness/affiliates/shop.ts';
import { call, makeBrand, startApp, startServer, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { runCli } from '../harness/process/cli.ts';

const DAY_MS = 86_400_000;
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('sandbox');
  app = await startApp({ urls: { postgres: database.url }, env: { ROLLCALL_SANDBOX: '1' } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const clock = (...args: string[]) =>
  runCli(['clock', ...args], { DATABASE_URL: database.url, ROLLCALL_SANDBOX: 'really' });
const aheadOf = async (url: string) => {
  const { headers } = await call(`${url}/healthz`);
  return new Date(headers.get('x-rollcall-clock') ?? '').getTime() - Date.now();
};

describe('the clock of a sandbox', () => {
  it('shows the real time until it is advanced, which every process follows within a second or two', async () => {
    expect(Math.abs(await aheadOf(app.url))).toBeLessThan(30_000);
    const server = await startServer(unique('none'), { DATABASE_URL: database.url, ROLLCALL_SANDBOX: 'really' });
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const { status, out, said } = await clock('advance', '31d');
    expect([status, said]).toEqual([0, '31d ahead.\n']);
    expect(new Date(out.trim()).getTime() - Date.now()).toBeGreaterThan(31 * DAY_MS - 60_000);
    for (const url of [app.url, server.url]) {
      await until(`${url} is a month ahead`, async () => (await aheadOf(url)) > 31 * DAY_MS - 60_000);
    }
    const made = await call(`${app.url}/v1/campaigns`, key, {
      method: 'POST',
      body: '{"name":"Later"}',
      headers: { 'content-type': 'application/json' },
    });
    expect(new Date(made.body.data.created_at).getTime() - Date.now()).toBeGreaterThan(30 * DAY_MS);
    expect((await clock('advance', '12h')).said).toBe('31d12h ahead.\n');
    expect((await clock('show')).said).toBe('31d12h ahead.\n');
    await until('the last half day', async () => (await aheadOf(app.url)) > 31.4 * DAY_MS);
    const shop = await openShop(app, 'generic');
    const at = app.context.clock.now().toISOString();
    const order = { order_id: unique('o'), currency: 'USD', amount: 100, codes: [shop.assignment.code] };
    const reported = await shop.report('order.paid', { ...order, placed_at: at, paid_at: at, updated_at: at });
    expect([reported.status, reported.body]).toEqual([200, { received: true }]);
    await shop.store.close();
    await server.stop();
    const next = await startServer(unique('none'), { DATABASE_URL: database.url, ROLLCALL_SANDBOX: 'really' });
    expect(await aheadOf(next.url)).toBeGreaterThan(31.4 * DAY_MS);
    await next.stop();
  });
});
