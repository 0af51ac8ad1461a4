import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, ledgerOf, makeBrand, send, startApp, type TestApp, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { connectAgent, errorOf } from '../../harness/interfaces/agent.ts';

let app: TestApp;
const alias = unique('session');

beforeAll(async () => {
  app = await startApp({ alias });
  const rows = [
    creator(1, { username: 'anaeats', city: 'San Francisco', state: 'CA', category: 'Food', follower_count: 48_000 }),
    creator(2, { username: 'bobcooks', city: 'Oakland', state: 'CA', category: 'Food', follower_count: 21_000 }),
    creator(3, { username: 'carlruns', city: 'Boston', state: 'MA' }),
  ];
  await putDirectory(app.context.elastic, alias, rows);
});
afterAll(() => app?.close());

/** One line a call: what an agent asked and what it was told. */
async function openSession(key: string) {
  const client = await connectAgent(app.url, key);
  const transcript: string[] = [];
  const use = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args });
    const refusal = result.isError ? errorOf(result) : undefined;
    transcript.push(`${name} ${JSON.stringify(args)} → ${refusal ? `${refusal.code} ${refusal.rule ?? ''}` : 'ok'}`);
    // biome-ignore lint/suspicious/noExplicitAny: an answer's body is what the test is about to check.
    const answer: any = result.structuredContent;
    return { answer, refusal };
  };
  return { use, transcript, close: () => client.close() };
}

test('An agent previews a search, creates a campaign and codes, and a person applies the payout it planned', async () => {
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 1_000 });
  const search = await openSession(await brand.key('data'));
  const people = { city: 'Bay Area', category: 'Food' };
  const preview = await search.use('search_creators', { ...people, preview: true });
  expect(preview.answer.pagination.total).toBe(2);
  expect((await ledgerOf(app.context, brand)).charged).toBe(0);
  const page = { ...people, limit: 10, idempotency_key: 'page-1' };
  const found = await search.use('search_creators', page);
  expect((await search.use('search_creators', page)).answer.data).toEqual(found.answer.data);
  expect(found.answer.data.map(({ username }: { username: string }) => username)).toEqual(['anaeats', 'bobcooks']);
  expect((await ledgerOf(app.context, brand)).charged).toBe(10);

  const key = await brand.key('brand');
  const work = await openSession(key);
  const email = 'ana@example.com';
  await work.use('create_campaign', {
    name: 'Bay Area food',
    compensation: { type: 'commission', amount: 10 },
    idempotency_key: 'campaign-1',
  });
  await work.use('add_to_roster', { creator_email: email });
  const codes = await work.use('bulk_create_affiliate_codes', { all_missing: true, commission_rate: 10 });
  expect(codes.answer.data.created).toHaveLength(1);
  const payout = { creator_email: email, amount: 250, method: 'bank_transfer' };
  const refused = await work.use('create_payout', payout);
  expect(refused.refusal).toMatchObject({ code: 'POLICY_REFUSED', rule: 'money_out' });

  await send(`${app.url}/v1/agent-policy`, key, 'PATCH', { money_out: true, person_above: 100 });
  expect((await work.use('create_payout', payout)).refusal).toMatchObject({ rule: 'person_above' });
  const planned = await work.use('create_payout', { ...payout, mode: 'plan' });
  const applied = await send(`${app.url}/v1/plans/${planned.answer.plan_id}/apply`, key, 'POST', {});
  expect(applied.body.answer.data).toMatchObject({ amount: 250, creator_email: email });
  expect((await call(`${app.url}/v1/payouts`, key)).body.pagination.total).toBe(1);

  expect([...search.transcript, ...work.transcript].map((line) => line.replace(/ \{.*\} →/, ' →'))).toEqual([
    'search_creators → ok',
    'search_creators → ok',
    'search_creators → ok',
    'create_campaign → ok',
    'add_to_roster → ok',
    'bulk_create_affiliate_codes → ok',
    'create_payout → POLICY_REFUSED money_out',
    'create_payout → POLICY_REFUSED person_above',
    'create_payout → ok',
  ]);
  await search.close();
  await work.close();
});
