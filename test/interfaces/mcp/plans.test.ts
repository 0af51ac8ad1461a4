import { afterAll, beforeAll, expect, test } from 'vitest';
import { approved, get, makePayer, type Payer, recorded } from '../../harness/affiliates/paying.ts';
import { makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { type Answer, call, send, startApp, type TestApp, unique } from '../../harness/app.ts';
import { connectAgent } from '../../harness/interfaces/agent.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk } from '../../harness/workflow/work.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
});
afterAll(() => app?.close());

interface Planned {
  plan_id: string;
  data: { summary: string; changes: Answer['body'][]; events: string[] };
}

type Door = 'REST' | 'MCP';
/** Both read the same plan of the same operation: the first test shows it, and the others plan through REST. */
const DOORS: readonly Door[] = ['REST', 'MCP'];

/** Plans a change through a door: by its method and path, or by the tool of its name. */
async function plan(
  { key }: Pick<Payer, 'key'>,
  door: Door,
  [tool, method, path]: readonly [string, string, string],
  args: Record<string, unknown>,
  params: Record<string, unknown> = {},
): Promise<Planned> {
  if (door === 'REST') {
    const answer = await send(`${app.url}${path}?mode=plan`, key, method, args);
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    return answer.body;
  }
  const client = await connectAgent(app.url, key);
  const result = await client.callTool({ name: tool, arguments: { ...args, ...params, mode: 'plan' } });
  await client.close();
  expect(result.isError, JSON.stringify(result.content)).toBeFalsy();
  return JSON.parse(JSON.stringify(result.structuredContent));
}

const applyPlan = ({ key }: Pick<Payer, 'key'>, { plan_id }: Planned): Promise<Answer> =>
  send(`${app.url}/v1/plans/${plan_id}/apply`, key, 'POST', {});

const BATCH = ['pay_payout_batch', 'POST', '/v1/payouts/batch'] as const;
const PAYOUT = ['create_payout', 'POST', '/v1/payouts'] as const;
const BULK = ['bulk_create_affiliate_codes', 'POST', '/v1/affiliates/links/bulk'] as const;

async function makeWatched(): Promise<Payer> {
  const payer = await makePayer(app);
  await send(`${app.url}/v1/agent-policy`, payer.key, 'PATCH', { money_out: true, person_above: 50 });
  return payer;
}

const totalOf = async (payer: Payer) => (await get(payer, '/v1/payouts')).body.pagination.total;
const statusOf = async (payer: Payer, { plan_id }: Planned) =>
  (await get(payer, `/v1/plans/${plan_id}`)).body.data.status;

/** Whoever applies is told what would happen now; the plan stays open and nobody is paid. */
async function expectOutdated(payer: Payer, planned: Planned, now: object[]): Promise<void> {
  const before = await totalOf(payer);
  const refused = await applyPlan(payer, planned);
  expect([refused.status, refused.body.code], JSON.stringify(refused.body)).toEqual([409, 'PLAN_OUTDATED']);
  expect(refused.body.changes).toMatchObject(now);
  expect(await totalOf(payer)).toBe(before);
  expect(await statusOf(payer, planned)).toBe('open');
}

test.each(DOORS)('A batch planned through %s pays the planned 10 USD or nothing, never 9,010', async (door) => {
  const payer = await makeWatched();
  await approved(payer, { amountMinor: 10_000 });
  const planned = await plan(payer, door, BATCH, { method: 'bank_transfer' });
  expect(planned.data.changes).toMatchObject([{ old: null, new: { amount: 10 } }]);
  const bo = await makeAssignment(app.context, payer.brand, { email: `${unique('zoe')}@mail.example` });
  await approved(payer, { amountMinor: 9_000_000, assignment: bo });
  await expectOutdated(payer, planned, [{ new: { amount: 10 } }, { new: { amount: 9_000 } }]);
  const again = await plan(payer, door, BATCH, { method: 'bank_transfer' });
  expect((await applyPlan(payer, again)).body.answer.data.by_currency).toMatchObject([{ total: 9_010, payouts: 2 }]);
});

test('A planned batch for one creator never pays another', async () => {
  const payer = await makeWatched();
  await approved(payer, { amountMinor: 10_000 });
  const planned = await plan(payer, 'REST', BATCH, { method: 'bank_transfer' });
  const paid = await send(`${app.url}/v1/payouts/batch`, payer.key, 'POST', { method: 'bank_transfer' });
  expect(paid.body.data.payouts).toMatchObject([{ amount: 10 }]);
  const other = await makeAssignment(app.context, payer.brand);
  await approved(payer, { amountMinor: 5_000_000, assignment: other });
  await expectOutdated(payer, planned, [{ new: { creator_id: other.creatorId, amount: 5_000 } }]);
});

test('A planned payout is not paid to a creator who took over the address', async () => {
  const payer = await makeWatched();
  const { email } = payer.ann;
  const body = { creator_email: email, amount: 10, method: 'manual' };
  const planned = await plan(payer, 'REST', PAYOUT, body);
  const entry = (await get(payer, `/v1/roster?creator_email=${email}`)).body.data[0];
  const rename = (id: string, creator_email: string) =>
    send(`${app.url}/v1/roster/${id}`, payer.key, 'PATCH', { creator_email });
  expect((await rename(entry.id, `${unique('ann')}@mail.example`)).status).toBe(200);
  const other = await makeAssignment(app.context, payer.brand, { email });
  await expectOutdated(payer, planned, [{ new: { creator_id: other.creatorId } }]);
  const same = await plan(payer, 'REST', PAYOUT, body);
  expect((await applyPlan(payer, same)).body.answer.data).toMatchObject({ creator_email: email, amount: 10 });
});

test('A planned payout keeps its currency', async () => {
  const payer = await makeWatched();
  const body = { creator_email: payer.ann.email, amount: 10, method: 'manual' };
  const planned = await plan(payer, 'REST', PAYOUT, body);
  await send(`${app.url}/v1/brand`, payer.key, 'PATCH', { settings: { currency: 'GBP' } });
  await expectOutdated(payer, planned, [{ new: { currency: 'GBP' } }]);
});

test('A planned settlement pays only the planned commissions', async () => {
  const payer = await makeWatched();
  const first = await approved(payer, { amountMinor: 10_000 });
  const { id } = await recorded(payer, { amount: 100 });
  const settling = ['settle_payout', 'PATCH', `/v1/payouts/${id}`] as const;
  const planned = await plan(payer, 'REST', settling, { status: 'paid' }, { id });
  expect(planned.data.changes).toMatchObject([{ new: { amount: 100, commission_ids: [first.id] } }]);
  const second = await approved(payer, { amountMinor: 20_000 });
  await expectOutdated(payer, planned, [{ new: { commission_ids: expect.arrayContaining([first.id, second.id]) } }]);
  const again = await plan(payer, 'REST', settling, { status: 'paid' }, { id });
  expect((await applyPlan(payer, again)).body.answer.data).toMatchObject({ status: 'paid', allocated_amount: 30 });
});

test('A plan says in a sentence, in the units of the API, what a person decides about', async () => {
  const payer = await makeWatched();
  const change = { settings: { default_commission_rate: 12 } };
  const brand = await plan(payer, 'REST', ['update_brand', 'PATCH', '/v1/brand'], change);
  expect(brand.data.summary).toMatch(/: default_commission_rate \d+ → 12\.$/);
  expect(brand.data.changes).toMatchObject([{ new: { default_commission_rate: 12 } }]);
  const body = { creator_email: payer.ann.email, amount: 10, method: 'manual' };
  const payout = await plan(payer, 'REST', PAYOUT, body);
  expect(payout.data.summary).toContain(': 10 USD');
  expect(Object.keys(payout.data.changes[0]?.new ?? {})).not.toContain('brand_id');
});

test('A planned approval shows its amount, and is refused if the amount has changed', async () => {
  const payer = await makeWatched();
  const sale = await makeSale(app.context, payer.brand, { assignment: payer.ann, amountMinor: 10_000 });
  const review = ['update_commission', 'PATCH', `/v1/affiliates/commissions/${sale.id}`] as const;
  const planned = await plan(payer, 'REST', review, { status: 'approved' });
  expect(planned.data.changes).toMatchObject([{ new: { status: 'approved', commission: 10, currency: 'USD' } }]);
  await app.context.postgres.db
    .updateTable('commissions')
    .set({ commissionMinor: 500_000 })
    .where('id', '=', sale.id)
    .execute();
  await expectOutdated(payer, planned, [{ new: { commission: 5_000 } }]);
});

test('Planned codes are generated again for the same creators at the same rate', async () => {
  const payer = await makeWatched();
  const emails = [payer.ann.email, (await makeAssignment(app.context, payer.brand)).email];
  const missing = { all_missing: true, type: 'link', destination_url: 'https://shop.example/' };
  const planned = await plan(payer, 'REST', BULK, missing);
  expect(planned.data.changes).toMatchObject([{ generated: ['value'] }, { generated: ['value'] }]);
  const { body, status } = await applyPlan(payer, planned);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.answer.data.created.map((one: { creator_email: string }) => one.creator_email).sort()).toEqual(
    emails.sort(),
  );
  await makeAssignment(app.context, payer.brand);
  const outdated = await plan(payer, 'REST', BULK, missing);
  await send(`${app.url}/v1/brand`, payer.key, 'PATCH', { settings: { default_commission_rate: 40 } });
  await expectOutdated(payer, outdated, [{ new: { commission_rate: 40 } }]);
});

test('A planned change of any noun is applied as shown, even if it generates values', async () => {
  const desk = await openWorkDesk(app);
  const key = await desk.brand.key('brand');
  const creator_email = desk.creator;
  await send(`${app.url}/v1/campaigns/${desk.campaign}`, key, 'PATCH', { status: 'active' });
  const applied = async (method: string, path: string, body: object) => {
    const planned = await send(`${app.url}${path}?mode=plan`, key, method, body);
    expect(planned.status, `${path} ${JSON.stringify(planned.body)}`).toBe(202);
    const answer = await applyPlan({ key }, planned.body);
    expect(answer.status, `${path} ${JSON.stringify([planned.body.data, answer.body])}`).toBe(200);
    return answer.body.answer.data;
  };
  const terms = { terms: { days: 30, channels: ['ads'] }, compensation: { type: 'fixed', amount: 500 } };
  const contract = {
    creator_email,
    title: 'Launch',
    deliverables: [{ type: 'reel', platform: 'video_app' }],
    ...terms,
  };
  await applied('POST', '/v1/contracts', { ...contract, send_for_signature: true });
  const { id } = await applied('POST', '/v1/contracts', contract);
  await applied('PATCH', `/v1/contracts/${id}`, { title: 'Another' });
  await applied('POST', `/v1/contracts/${id}/send`, {});
  await applied('POST', `/v1/contracts/${id}/void`, {});
  const brief = await applied('POST', '/v1/briefs', { title: 'A reel', creator_email, content_type: 'reel' });
  await applied('POST', `/v1/briefs/${brief.id}`, { action: 'send' });
  const link = { creator_email, type: 'link', value: 'https://shop.example/a', commission_rate: 10 };
  await applied('POST', '/v1/affiliates/links', link);
  const made = await applied('POST', '/v1/affiliates/links', {
    ...link,
    value: unique('one'),
    destination_url: link.value,
  });
  await applied('PATCH', `/v1/affiliates/links/${made.id}`, { value: unique('two') });
  await applied('POST', '/v1/affiliates/links/bulk', { all_missing: true, type: 'discount_code' });
  const hook = await applied('POST', '/v1/webhooks', { url: 'https://receiver.invalid/', events: ['payout.created'] });
  await applied('PATCH', `/v1/webhooks/${hook.id}`, { active: false });
  await applied('PATCH', `/v1/webhooks/${hook.id}`, { active: true });
  await applied('POST', '/v1/messages', { creator_email, body: 'Hello', send_email: true });
  await applied('POST', '/v1/messages', { creator_email, body: 'Hello again' });
  await applied('POST', '/v1/shipments', { creator_email, product_description: 'Shoes' });
  await applied('POST', '/v1/content', { url: 'https://www.instagram.com/reel/Cabc123', creator_email });
  await applied('POST', '/v1/deliverables', { creator_email, type: 'reel' });
  await applied('POST', '/v1/roster', { creator_email: `${unique('new')}@mail.example` });
  await applied('POST', '/v1/payouts', { creator_email, amount: 5, method: 'wallet', wallet_email: creator_email });
  await applied('POST', '/v1/assets/folders', { name: 'Summer' });
  await applied('PATCH', '/v1/brand', { name: unique('Renamed') });
  expect((await call(`${app.url}/v1/plans?status=open`, key)).body.pagination.total).toBe(0);
});
