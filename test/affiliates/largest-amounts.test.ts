import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp } from '../harness/app.ts';
import { email } from '../harness/platform/people.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

it('a payout and a commission are at most ten billion dollars, so that their sums can be read', async () => {
  const key = await (await makeBrand(app.context)).key('brand');
  const to = email();
  await send(`${app.url}/v1/roster`, key, 'POST', { creator_email: to });
  const record = {
    payout: (amount: number) =>
      send(`${app.url}/v1/payouts`, key, 'POST', { creator_email: to, amount, method: 'manual' }),
    commission: (amount: number) =>
      send(`${app.url}/api/v1/commissions`, key, 'POST', { creator_email: to, amount, status: 'approved' }),
  };
  for (const one of Object.values(record)) {
    for (const amount of [10_000_000_000.01, 90_071_992_547_409, 1e300]) {
      const { status, body } = await one(amount);
      expect([status, body.details]).toEqual([
        422,
        [{ field: 'amount', code: 'invalid', message: expect.stringContaining('must be at most 10000000000; got') }],
      ]);
    }
    for (let i = 0; i < 3; i += 1) expect((await one(10_000_000_000)).status).toBe(201);
  }
  const read = [
    'affiliates/ledger',
    'affiliates/ledger/journal',
    'payouts',
    'payouts/preview',
    'commissions',
    'roster',
  ];
  for (const path of read) expect([path, (await call(`${app.url}/v1/${path}`, key)).status]).toEqual([path, 200]);
});
