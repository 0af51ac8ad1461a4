import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openFolding } from '../../../src/affiliates/stores/deliveries/deliveries.jobs.ts';
import { insertDeliveries } from '../../../src/affiliates/stores/deliveries/deliveries.ts';
import { newId } from '../../../src/kit/values/ids.ts';
import { makeAssignment } from '../../harness/affiliates/sales.ts';
import { makeBrand, startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';

const BATCH = 200;
let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await makeDatabase('folding');
  app = await startApp({ urls: { postgres: database.url } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** A brand with so many deliveries that wait; they are about no order. */
async function makeWaiting(count: number): Promise<string> {
  const { postgres, secrets } = app.context;
  const brand = await makeBrand(app.context);
  const { source } = await makeAssignment(app.context, brand);
  const store = await postgres.db
    .selectFrom('integrations')
    .select(['id', 'provider', 'secrets'])
    .where('id', '=', source.id)
    .executeTakeFirstOrThrow();
  const rows = Array.from({ length: count }, () => {
    const id = newId('sdl', Date.now());
    const sealedBody = secrets.seal('{"event":"cart.filled","createdAt":"2026-03-02T10:00:00Z","data":{}}', id);
    const { id: integrationId, ...sealed } = store;
    return { id, integrationId, ...sealed, topic: null, headers: {}, sealedBody };
  });
  expect((await insertDeliveries(postgres.db, rows, new Date())).size).toBe(count);
  return brand.id;
}

it('No backlog delays another brand’s next delivery by more than a batch', async () => {
  const backlogs: string[] = [];
  for (let i = 0; i < 8; i += 1) backlogs.push(await makeWaiting(3 * BATCH));
  const last = await makeWaiting(1);
  await openFolding(app.context)();
  const { rows } = await sql<{ brandId: string; before: number }>`
    select brand_id, count(*) filter (where finished_at < (
      select finished_at from store_deliveries where brand_id = ${last})) as before
    from store_deliveries where brand_id = any(${backlogs}) group by brand_id`.execute(app.context.postgres.db);
  expect(rows).toHaveLength(8);
  // The one that it had before, and one that ran at the same time.
  for (const { before } of rows) expect(before).toBeLessThanOrEqual(2 * BATCH);
  const left = await sql`select from store_deliveries where state = 'waiting'`.execute(app.context.postgres.db);
  expect(left.rows).toEqual([]);
});
