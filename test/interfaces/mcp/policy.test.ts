import { afterAll, beforeAll, expect, test } from 'vitest';
import { approved, get, makePayer } from '../../harness/affiliates/paying.ts';
import { makeAssignment } from '../../harness/affiliates/sales.ts';
import { type Answer, call, makeBrand, send, startApp, type TestApp, unique } from '../../harness/app.ts';
import { connectAgent, errorOf } from '../../harness/interfaces/agent.ts';

let app: TestApp;
const EMAIL = 'ana@example.com';

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

async function makeAgent() {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const rest = (path: string, method: string, body: unknown): Promise<Answer> =>
    send(`${app.url}/v1${path}`, key, method, body);
  await rest('/roster', 'POST', { creator_email: EMAIL });
  const client = await connectAgent(app.url, key);
  const use = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  return { key, rest, use, close: () => client.close() };
}
const PAYOUT = { creator_email: EMAIL, amount: 80, method: 'manual' };

test('Agents cannot pay until the brand allows it, and the error names the rule', async () => {
  const { use, rest, close } = await makeAgent();
  expect(errorOf(await use('create_payout', PAYOUT))).toMatchObject({ code: 'POLICY_REFUSED', rule: 'money_out' });
  expect((await rest('/agent-policy', 'PATCH', { money_out: true })).body.data.money_out).toBe(true);
  expect((await use('create_payout', PAYOUT)).isError).toBeFalsy();
  await close();
});

test('A payout above the person limit or the daily limit is refused, and of two concurrent ones only one goes through', async () => {
  const { use, rest, close } = await makeAgent();
  await rest('/agent-policy', 'PATCH', { money_out: true, person_above: 100, payouts_per_day: 150 });
  const above = errorOf(await use('create_payout', { ...PAYOUT, amount: 101 }));
  expect(above).toMatchObject({ code: 'POLICY_REFUSED', rule: 'person_above' });
  const both = await Promise.all([use('create_payout', PAYOUT), use('create_payout', PAYOUT)]);
  expect(both.filter(({ isError }) => !isError)).toHaveLength(1);
  const refused = both.find(({ isError }) => isError);
  expect(refused && errorOf(refused)).toMatchObject({ rule: 'payouts_per_day' });
  await close();
});

test('An agent settles a payout recorded by a person within the person limit, and it counts once toward the daily limit', async () => {
  const { use, rest, close } = await makeAgent();
  const record = async (amount: number) => (await rest('/payouts', 'POST', { ...PAYOUT, amount })).body.data.id;
  const [small, large] = [await record(80), await record(500)];
  const settle = (id: string, more = {}) => use('settle_payout', { id, status: 'paid', ...more });
  expect(errorOf(await settle(small))).toMatchObject({ code: 'POLICY_REFUSED', rule: 'money_out' });
  await rest('/agent-policy', 'PATCH', { money_out: true, person_above: 100, payouts_per_day: 100 });
  expect(errorOf(await settle(large))).toMatchObject({ code: 'POLICY_REFUSED', rule: 'person_above' });
  const planned = await settle(large, { mode: 'plan' });
  expect(planned.isError).toBeFalsy();
  expect((await settle(small)).structuredContent).toMatchObject({ data: { id: small, status: 'paid' } });
  expect((await rest(`/payouts/${large}`, 'PATCH', { status: 'paid' })).body.data.status).toBe('paid');
  await close();
});

test('A batch of payouts obeys the same policy as single payouts: permission, person limit and daily limit', async () => {
  const payer = await makePayer(app);
  await approved(payer, { amountMinor: 80_000 });
  await approved(payer, { amountMinor: 60_000, assignment: await makeAssignment(app.context, payer.brand) });
  const client = await connectAgent(app.url, payer.key);
  const pay = (more = {}) =>
    client.callTool({ name: 'pay_payout_batch', arguments: { method: 'bank_transfer', ...more } });
  const allow = (policy: object) => send(`${app.url}/v1/agent-policy`, payer.key, 'PATCH', policy);
  expect(errorOf(await pay())).toMatchObject({ code: 'POLICY_REFUSED', rule: 'money_out' });
  await allow({ money_out: true, person_above: 70 });
  expect(errorOf(await pay())).toMatchObject({ rule: 'person_above' });
  await allow({ person_above: null, payouts_per_day: 139.99 });
  expect(errorOf(await pay())).toMatchObject({ rule: 'payouts_per_day' });
  expect((await get(payer, '/v1/payouts')).body.pagination.total).toBe(0);
  expect((await pay({ mode: 'plan' })).isError).toBeFalsy();
  await allow({ payouts_per_day: 140 });
  expect((await pay()).isError).toBeFalsy();
  expect((await get(payer, '/v1/payouts')).body.pagination.total).toBe(2);
  await client.close();
});

test('Agents are refused tools that are not allowed and rates that are too high; the brand itself is not', async () => {
  const { use, rest, close } = await makeAgent();
  await rest('/agent-policy', 'PATCH', { highest_rate: 20, allowed_tools: ['create_campaign', 'list_campaigns'] });
  expect(errorOf(await use('get_brand', {}))).toMatchObject({ rule: 'allowed_tools' });
  const rate = { name: 'x', compensation: { type: 'commission', amount: 25 } };
  expect(errorOf(await use('create_campaign', rate))).toMatchObject({ rule: 'highest_rate' });
  const { body } = await rest('/campaigns', 'POST', { ...rate, compensation: { type: 'commission', amount: 10 } });
  await rest('/agent-policy', 'PATCH', { allowed_tools: null });
  const amend = (amount: number, more = {}) =>
    use('update_campaign', { id: body.data.id, compensation: { amount }, ...more });
  expect(errorOf(await amend(25))).toMatchObject({ rule: 'highest_rate' });
  expect(errorOf(await amend(25, { mode: 'plan' }))).toMatchObject({ rule: 'highest_rate' });
  expect((await amend(15)).isError).toBeFalsy();
  expect((await rest('/campaigns', 'POST', rate)).status).toBe(201);
  await close();
});

test('Agents have no tools to change their policy or apply a plan', async () => {
  const { use, close } = await makeAgent();
  for (const name of ['update_agent_policy', 'apply_plan']) {
    expect(errorOf(await use(name, {})).code).toBe('NOT_FOUND');
  }
  await close();
});

test('A planned change shows what it would do, changes nothing, and is applied once by a person', async () => {
  const { use, rest, key, close } = await makeAgent();
  await rest('/agent-policy', 'PATCH', { money_out: true, person_above: 10 });
  const planned = await use('create_payout', { ...PAYOUT, mode: 'plan' });
  expect(planned.structuredContent).toMatchObject({
    plan_id: expect.stringMatching(/^pln_/),
    data: { operation: 'create_payout', status: 'open', by_agent: true, events: ['payout.created'] },
  });
  const get = (path: string) => call(`${app.url}/v1${path}`, key);
  expect((await get('/payouts')).body.pagination.total).toBe(0);
  const { body } = await get('/plans?status=open');
  expect(body.data[0].changes[0]).toMatchObject({ old: null, new: { amount: 80 } });
  const csv = await call(`${app.url}/v1/plans?status=open`, key, { headers: { accept: 'text/csv' } });
  expect(csv.body.split('\n')).toMatchObject([
    Object.keys(body.data[0]).join(','),
    expect.stringMatching(/^pln_\w+,create_payout,open,.*Record a payout: 80 USD/),
    '',
  ]);
  const apply = () => rest(`/plans/${body.data[0].id}/apply`, 'POST', {});
  const both = await Promise.all([apply(), apply()]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect((await get('/payouts')).body.pagination.total).toBe(1);
  expect(both.find(({ status }) => status === 200)?.body.answer.data.amount).toBe(80);
  await close();
});

test('REST answers mode=plan with 202 and the diff, and a plan whose records changed is not applied', async () => {
  const { rest, key } = await makeAgent();
  const { body: made } = await rest('/campaigns', 'POST', { name: 'Old' });
  const planned = await rest(`/campaigns/${made.data.id}?mode=plan`, 'PATCH', { name: 'New' });
  expect(planned.status).toBe(202);
  expect(planned.body.data.changes).toMatchObject([{ old: { title: 'Old' }, new: { title: 'New' } }]);
  expect((await call(`${app.url}/v1/campaigns/${made.data.id}`, key)).body.data.title).toBe('Old');
  await rest(`/campaigns/${made.data.id}`, 'PATCH', { name: 'Meanwhile' });
  const applied = await rest(`/plans/${planned.body.plan_id}/apply`, 'POST', {});
  expect([applied.status, applied.body.code]).toEqual([409, 'PLAN_OUTDATED']);
  expect((await rest(`/campaigns/${made.data.id}?mode=maybe`, 'PATCH', {})).status).toBe(422);
});

test('A planned change without a body is applied like any other', async () => {
  const { rest, key } = await makeAgent();
  const { body: made } = await rest('/affiliates/links', 'POST', { creator_email: EMAIL, value: unique('code') });
  const planned = await send(`${app.url}/v1/affiliates/links/${made.data.id}?mode=plan`, key, 'DELETE');
  expect(planned.status).toBe(202);
  const applied = await send(`${app.url}/v1/plans/${planned.body.plan_id}/apply`, key, 'POST');
  expect(applied.status).toBe(200);
  expect((await call(`${app.url}/v1/affiliates/links/${made.data.id}`, key)).body.data.active).toBe(false);
});

test('A plan expires after a day and is hidden from other brands', async () => {
  let later = 0;
  const clock = { now: () => new Date(Date.now() + later) };
  const own = await startApp({ clock });
  const key = await (await makeBrand(own.context)).key('brand');
  const planned = await send(`${own.url}/v1/campaigns?mode=plan`, key, 'POST', { name: 'Late' });
  const stranger = await (await makeBrand(own.context)).key('brand');
  const path = `${own.url}/v1/plans/${planned.body.plan_id}/apply`;
  expect((await send(path, stranger, 'POST', {})).status).toBe(404);
  later = 24 * 60 * 60 * 1_000;
  const applied = await send(path, key, 'POST', {});
  expect([applied.status, applied.body.current_status]).toEqual([409, 'expired']);
  await own.close();
});
