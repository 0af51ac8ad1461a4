import { afterAll, beforeAll, expect, it } from 'vitest';
import { compareFigures } from '../../src/affiliates/ledger/compare-figures.ts';
import { get, makePayer, type Payer } from '../harness/affiliates/paying.ts';
import { balancesOf } from '../harness/affiliates/sales.ts';
import { send, startApp, type TestApp } from '../harness/app.ts';
import { listEvents } from '../harness/workflow/applying.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const post = (owner: Payer, lines: readonly object[], source = 'Former tool') =>
  send(`${app.url}/v1/past-commissions/batch`, owner.key, 'POST', { source, past_commissions: lines });
const listOf = async (owner: Payer, query = '') => (await get(owner, `/v1/past-commissions${query}`)).body;

const line = (owner: Payer, change: object = {}) => ({
  ...{ creator_email: owner.ann.email.toUpperCase(), reference: 'PO-1', amount: 12.5, currency: 'EUR' },
  ...{ paid_at: '2025-11-30T12:00:00+01:00', ...change },
});

it('what a creator was paid elsewhere is recorded once by source and reference, and the last paid comes first', async () => {
  const owner = await makePayer(app);
  const earlier = line(owner, { reference: 'PO-0', paid_at: '2024-01-01T00:00:00Z', currency: 'JPY', amount: 900 });
  const calls = await Promise.all(Array.from({ length: 5 }, () => post(owner, [line(owner), earlier, line(owner)])));
  expect(calls.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const sums: { recorded: number; known: number }[] = calls.map(({ body }) => body.data);
  expect(sums.reduce((sum, { recorded }) => sum + recorded, 0)).toBe(2);
  expect(sums.reduce((sum, { known }) => sum + known, 0)).toBe(13);
  expect((await post(owner, [line(owner, { amount: 99 })], 'Another tool')).body.data).toEqual({
    recorded: 1,
    known: 0,
  });
  const { data } = await listOf(owner, '?source=Former%20tool');
  expect(data).toMatchObject([
    { creator_email: owner.ann.email, source: 'Former tool', reference: 'PO-1', amount: 12.5, currency: 'EUR' },
    { reference: 'PO-0', amount: 900, currency: 'JPY', paid_at: '2024-01-01T00:00:00.000Z' },
  ]);
  expect(data[0].paid_at).toBe('2025-11-30T11:00:00.000Z');
  expect((await listOf(owner, `?creator_email=${owner.ann.email}`)).pagination.total).toBe(3);
  expect((await listOf(owner, '?creator_email=nobody@mail.example')).data).toEqual([]);
});

it('one invalid line refuses all of them, with every reason', async () => {
  const owner = await makePayer(app);
  const { status, body } = await post(owner, [
    line(owner),
    line(owner, { creator_email: 'stranger@mail.example' }),
    line(owner, { amount: 1.234 }),
    line(owner, { currency: 'JPY' }),
  ]);
  expect(status).toBe(422);
  expect(body.details.map(({ field, code }: { field: string; code: string }) => [field, code])).toEqual([
    ['past_commissions.1.creator_email', 'not_on_roster'],
    ['past_commissions.2.amount', 'invalid'],
    ['past_commissions.3.amount', 'invalid'],
  ]);
  expect((await post(owner, [line(owner, { amount: 0 })])).status).toBe(422);
  const future = await post(owner, [line(owner), line(owner, { paid_at: '2999-01-01T00:00:00Z' })]);
  expect(future.body.details).toMatchObject([{ field: 'past_commissions.1.paid_at' }]);
  expect((await listOf(owner)).data).toEqual([]);
});

it('no entry, balance, figure or event comes from it; it moves with a merged creator, and can be deleted', async () => {
  const owner = await makePayer(app);
  const added = await send(`${app.url}/v1/roster`, owner.key, 'POST', { creator_email: 'twice@mail.example' });
  const kept = (await get(owner, `/v1/roster?creator_email=${owner.ann.email}`)).body.data[0];
  const events = await listEvents(app, owner.brand.id);
  await post(owner, [line(owner, { creator_email: 'twice@mail.example' })]);
  expect(await balancesOf(app.context, owner.brand)).toEqual({});
  const merged = await send(`${app.url}/v1/roster/${added.body.data.id}/merge`, owner.key, 'POST', { into: kept.id });
  expect(merged.status).toBe(200);
  const [{ id, creator_email: email }] = (await listOf(owner)).data;
  expect(email).toBe(owner.ann.email);
  expect((await get(owner, `/v1/roster/${kept.id}/balance`)).body.data.by_currency).toEqual([]);
  expect((await send(`${app.url}/v1/past-commissions/${id}`, owner.key, 'DELETE')).body.data).toMatchObject({ id });
  expect((await listOf(owner)).data).toEqual([]);
  expect(await listEvents(app, owner.brand.id)).toEqual(events);
  const { postgres, clickhouse } = app.context;
  expect(await compareFigures({ db: postgres.db, clickhouse }, owner.brand.id)).toEqual([]);
});
