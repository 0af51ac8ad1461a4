import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimDue } from '../../../src/platform/webhooks/claims.ts';
import { makeBrand, startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';

const WEBHOOKS = 60_000;
const EACH = 2;
const SLOTS = 128;
const CLAIMERS = 4;

let database: TestDatabase;
let app: TestApp;
const dueAt = new Date(Date.now() - 60_000);

/** Rows of webhooks whose deliveries are all due; a claim reads nothing else. */
async function seed(brandId: string): Promise<void> {
  const session = await database.open();
  await session.query(
    `insert into webhook_subscriptions (id, brand_id, variant, url, events, secret, secret_hint, from_seq, created_at,
      last_triggered_at)
    select 'whk_' || n, $1, 'current', 'https://example.com', '{}', '', '', 0, $2, $2 from generate_series(1, $3) n`,
    [brandId, dueAt, WEBHOOKS],
  );
  await session.query(
    `insert into webhook_deliveries (id, brand_id, subscription_id, event_id, seq, event, state, next_attempt_at,
      created_at)
    select 'whd_' || n || '_' || i, $1, 'whk_' || n, 'evt_' || i, i, 'order.created', 'pending', $2, $2
    from generate_series(1, $3) n, generate_series(1, $4) i`,
    [brandId, dueAt, WEBHOOKS, EACH],
  );
  await session.query('analyze');
  await session.end();
}

beforeAll(async () => {
  database = await makeDatabase('claims');
  app = await startApp({ urls: { postgres: database.url } });
  await seed((await makeBrand(app.context)).id);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const claim = (slots = SLOTS, now = new Date()) =>
  claimDue(app.context.postgres.db, { now, slots, slow: false, stalled: [] });

it('Four workers that claim together from 60,000 due webhooks never get the same delivery', async () => {
  const together = await Promise.all(Array.from({ length: CLAIMERS }, () => claim()));
  // Different deliveries, if not always of different webhooks: one whose claim began before another's ended may see its
  // webhooks in their old place of the queue, and gets their next deliveries.
  const claimed = together.flat().map(({ id }) => id);
  expect(new Set(claimed).size).toBe(claimed.length);
  for (const batch of together) expect(new Set(batch.map((one) => one.subscriptionId)).size).toBe(batch.length);
  // Two that reach the same row at the same moment both pass over it.
  expect(claimed.length).toBeGreaterThan(CLAIMERS * SLOTS * 0.75);
});

it('A claim does not wait for another that is not finished, and takes its turn behind it', async () => {
  const session = await database.open();
  await session.query('begin');
  const { rows } = await session.query(
    'select subscription_id from webhook_turns where due_at <= now() order by due_at limit 128 for update',
  );
  const claimed = await claim();
  await session.query('rollback');
  await session.end();
  const locked = new Set(rows.map(({ subscription_id }) => subscription_id));
  expect(claimed).toHaveLength(SLOTS);
  expect(claimed.filter(({ subscriptionId }) => locked.has(subscriptionId))).toEqual([]);
});

it('All webhooks get a delivery before any of them gets its next one', async () => {
  const took: number[] = [];
  const served = new Map<string, number>();
  for (let n = 0; n < 20; n += 1) {
    const from = performance.now();
    for (const { subscriptionId } of await claim()) served.set(subscriptionId, (served.get(subscriptionId) ?? 0) + 1);
    took.push(performance.now() - from);
  }
  const median = took.sort((one, other) => one - other)[10];
  process.stderr.write(`a claim of ${SLOTS} among ${WEBHOOKS} due webhooks: ${median?.toFixed(1)} ms\n`);
  expect([served.size, Math.max(...served.values())]).toEqual([20 * SLOTS, 1]);
});

it('Four workers together never have more than eight attempts of a webhook in flight', async () => {
  const session = await database.open();
  await session.query(
    `insert into webhook_deliveries (id, brand_id, subscription_id, event_id, seq, event, state, next_attempt_at, created_at)
    select 'whd_busy_' || i, brand_id, id, 'evt_busy_' || i, 100 + i, 'order.created', 'pending', $1, $1
    from webhook_subscriptions, generate_series(1, 100) i where id = 'whk_60000'`,
    [dueAt],
  );
  let inFlight = 0;
  // The same moment throughout, because claims expire after seconds.
  const now = new Date();
  for (let n = 0; n < 10; n += 1) {
    await session.query(
      "update webhook_turns set due_at = $1::timestamptz - interval '1 hour' where subscription_id = 'whk_60000'",
      [dueAt],
    );
    const claimed = (await Promise.all(Array.from({ length: CLAIMERS }, () => claim(1, now)))).flat();
    inFlight += claimed.filter(({ subscriptionId }) => subscriptionId === 'whk_60000').length;
  }
  await session.end();
  expect(inFlight).toBe(8);
});
