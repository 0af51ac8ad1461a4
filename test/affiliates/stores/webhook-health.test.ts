import { afterAll, beforeAll, expect, it } from 'vitest';
import { countFailure } from '../../../src/affiliates/stores/connections/health.ts';
import { connectTestStore, startStore, type TestStore } from '../../harness/affiliates/store.ts';
import { call, makeBrand, startApp, type TestApp } from '../../harness/app.ts';

let now = new Date('2026-03-02T10:59:00Z');
let app: TestApp;
let store: TestStore;

beforeAll(async () => {
  app = await startApp({ clock: { now: () => now } });
  store = await startStore('generic');
});
afterAll(async () => {
  await store?.close();
  await app?.close();
});

it('a refused delivery counts for a whole day, and for less than an hour more', async () => {
  const brand = await makeBrand(app.context);
  const id = await connectTestStore(app.context, brand.id, store);
  const key = await brand.key('brand');
  await countFailure(app.context.postgres.db, id, now);
  const failuresAt = async (time: string) => {
    now = new Date(time);
    const { body } = await call(`${app.url}/v1/affiliates/integrations/${id}`, key);
    return body.data.webhook_health.failures_24h;
  };
  expect(await failuresAt('2026-03-02T10:59:30Z')).toBe(1);
  expect(await failuresAt('2026-03-03T10:00:00Z')).toBe(1);
  expect(await failuresAt('2026-03-03T10:58:59Z')).toBe(1);
  expect(await failuresAt('2026-03-03T11:00:00Z')).toBe(0);
});
