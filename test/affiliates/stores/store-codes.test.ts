import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeAssignment } from '../../harness/affiliates/sales.ts';
import { openShop, type Shop } from '../../harness/affiliates/shop.ts';
import { call, send, startApp, type TestApp, unique } from '../../harness/app.ts';

let app: TestApp;
let shop: Shop;
let key: string;

beforeAll(async () => {
  app = await startApp();
});
beforeEach(async () => {
  shop = await openShop(app, 'generic');
  key = await shop.brand.key('brand');
});
afterAll(() => app?.close());

let orders = 0;
/** What became of an order with this code, placed then. */
async function placed(code: string, at: Date) {
  orders += 1;
  const times = { placed_at: at.toISOString(), paid_at: at.toISOString(), updated_at: at.toISOString() };
  const order = { order_id: `o${orders}`, currency: 'USD', amount: '100.00', codes: [code], ...times };
  expect((await shop.report('order.paid', order)).status).toBe(200);
  return (await call(`${app.url}/v1/affiliates/explain?order_id=o${orders}`, key)).body.data;
}
const ago = (ms: number) => new Date(Date.now() - ms);
const rename = async (id: string, value: string) =>
  expect((await send(`${app.url}/v1/affiliates/links/${id}`, key, 'PATCH', { value })).status).toBe(200);
const paidTo = (link_id: string) => ({ attributed: true, candidates: [{ link_id, outcome: 'won' }] });
const nobody = (reason: string) => ({ attributed: false, candidates: [{ reason }] });

describe('a code pays the creator who had it when the order was placed', () => {
  it('even if another creator has it now', async () => {
    const { assignment } = shop;
    const other = await makeAssignment(app.context, shop.brand);
    const before = ago(3_600_000);
    await rename(assignment.linkId, unique('NEW'));
    await rename(other.linkId, assignment.code.toLowerCase());
    expect(await placed(assignment.code, before)).toMatchObject(paidTo(assignment.linkId));
    expect(await placed(assignment.code, ago(-1))).toMatchObject(paidTo(other.linkId));
    await rename(other.linkId, unique('LATER'));
    expect(await placed(assignment.code, ago(-1))).toMatchObject(nobody('unknown_code'));
  });

  it('but it pays nobody for an order from before any creator had it', async () => {
    const { linkId, code } = shop.assignment;
    const [second, third] = [unique('SECOND'), unique('THIRD')];
    const before = ago(3_600_000);
    await rename(linkId, second);
    await rename(linkId, third);
    for (const later of [second, third]) expect(await placed(later, before)).toMatchObject(nobody('unknown_code'));
    expect(await placed(code, before)).toMatchObject(paidTo(linkId));
    expect(await placed(third, ago(-1))).toMatchObject(paidTo(linkId));
    await rename(linkId, code);
    expect(await placed(code, ago(-1))).toMatchObject(paidTo(linkId));
    expect(await placed(code, before)).toMatchObject(paidTo(linkId));
    expect(await placed(second, before)).toMatchObject(nobody('unknown_code'));
  });
});

it('a code created within the second that its store reports for the order still pays', async () => {
  const creator_email = `${unique('ann')}@mail.example`;
  await send(`${app.url}/v1/roster`, key, 'POST', { creator_email });
  const made = { creator_email, type: 'discount_code', value: unique('NOW').toUpperCase(), commission_rate: 10 };
  const { data } = (await send(`${app.url}/v1/affiliates/links`, key, 'POST', made)).body;
  const second = Math.floor(Date.parse(data.created_at) / 1_000) * 1_000;
  expect(await placed(made.value, new Date(second))).toMatchObject(paidTo(data.id));
  expect(await placed(made.value, new Date(second - 1_000))).toMatchObject(nobody('code_inactive'));
});
