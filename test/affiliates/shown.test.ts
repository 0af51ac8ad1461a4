import { afterAll, beforeAll, expect, it } from 'vitest';
import { get, makePayer, type Payer, recorded, settle } from '../harness/affiliates/paying.ts';
import { makeAssignment, makeSale, report } from '../harness/affiliates/sales.ts';
import { send, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const post = (owner: Payer, path: string, body: object) => send(`${app.url}${path}`, owner.key, 'POST', body);

it('a link or bulk code without a rate has the brand’s default rate, and one with a rate of 0 has 0', async () => {
  const owner = await makePayer(app);
  await send(`${app.url}/v1/brand`, owner.key, 'PATCH', { settings: { default_commission_rate: 12.5 } });
  const link = { creator_email: owner.ann.email };
  const rates = [];
  for (const body of [
    { value: 'DEFAULT' },
    { value: 'NONE', commission_rate: 0 },
    { value: 'OWN', commission_rate: 3 },
  ]) {
    rates.push((await post(owner, '/v1/affiliates/links', { ...link, ...body })).body.data.commission_rate);
  }
  expect(rates).toEqual([12.5, 0, 3]);
  await post(owner, '/v1/roster', { creator_email: 'bea@mail.example' });
  const bulk = await post(owner, '/v1/affiliates/links/bulk', { creators: [{ email: 'bea@mail.example' }] });
  const { id } = bulk.body.data?.created?.[0] ?? bulk.body.created[0];
  const rows = (await get(owner, '/v1/affiliates/links?limit=100')).body.data;
  expect(rows.find((row: { id: string }) => row.id === id).commission_rate).toBe(12.5);
});

it('two stores of one provider are distinguished in `source`, and the ledger’s order_id is the store’s', async () => {
  const owner = await makePayer(app);
  const one = await makeSale(app.context, owner.brand, { assignment: owner.ann });
  const two = await makeSale(app.context, owner.brand, { assignment: await makeAssignment(app.context, owner.brand) });
  const read = async ({ id }: { id: string }) => (await get(owner, `/v1/commissions/${id}`)).body.data;
  const [first, second] = [await read(one), await read(two)];
  expect(first.source).not.toBe(second.source);
  expect([first.source, first.integration_id]).toEqual([expect.stringMatching(/^generic:/), one.source.id]);
  const { data } = (await get(owner, '/v1/affiliates/ledger')).body;
  expect(data.map((entry: { order_id: string }) => entry.order_id).sort()).toEqual([one.orderId, two.orderId].sort());
  expect(data[0].order_record_id).toMatch(/^ord_/);
});

it('conversion_rate counts orders that came by a click; a top creator without a name has their link’s', async () => {
  const owner = await makePayer(app);
  const bea = await makeAssignment(app.context, owner.brand);
  const { db } = app.context.postgres;
  await db.updateTable('creators').set({ name: null }).where('id', '=', bea.creatorId).execute();
  await db.updateTable('links').set({ creatorName: 'Bea B.' }).where('id', '=', bea.linkId).execute();
  const { countConversionsByClick } = await import('../../src/analytics/summary/summary.ts');
  const { listCreatorNames } = await import('../../src/analytics/labels.ts');
  expect((await listCreatorNames(db, owner.brand.id, [bea.creatorId])).get(bea.creatorId)).toBe('Bea B.');
  await makeSale(app.context, owner.brand, { assignment: owner.ann });
  const clicked = await makeSale(app.context, owner.brand, { assignment: bea });
  const period = { from: new Date(0), until: new Date(), shown: { from: '', to: '' } };
  expect(await countConversionsByClick(db, owner.brand.id, period)).toBe(0);
  await db.updateTable('commissions').set({ clickId: 'clk_x' }).where('id', '=', clicked.id).execute();
  expect(await countConversionsByClick(db, owner.brand.id, period)).toBe(1);
});

it('a commission list says whether the order is paid', async () => {
  const owner = await makePayer(app);
  const sale = await makeSale(app.context, owner.brand, { assignment: owner.ann, paidAt: null });
  const [before] = (await get(owner, '/v1/commissions')).body.data;
  expect(before).toMatchObject({ order_paid: false, order_paid_at: null, approvable_at: null });
  await report(app.context, sale, { ...sale.facts, paidAt: new Date('2026-03-02T00:00:00Z'), updatedAt: new Date() });
  const [after] = (await get(owner, '/v1/commissions')).body.data;
  expect(after).toMatchObject({ order_paid: true, order_paid_at: '2026-03-02T00:00:00.000Z' });
  await settle(owner, (await recorded(owner, { amount: 1 })).id);
});
