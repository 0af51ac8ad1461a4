import { afterAll, beforeAll, expect, it } from 'vitest';
import { lockBrand } from '../../../src/platform/brands/brands.ts';
import { made, makeBrand, send, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
let other: TestApp;
beforeAll(async () => {
  other = await startApp();
  app = await startApp({ isOwn: true });
});
afterAll(() => app?.close());

it('Changes of a brand that wait for one another leave connections to other brands, and all are made in the end', async () => {
  const [busy, calm] = [await makeBrand(app.context), await makeBrand(app.context)];
  const [busyKey, calmKey] = [await busy.key('brand'), await calm.key('brand')];
  const release = Promise.withResolvers<void>();
  const isLocked = Promise.withResolvers<void>();
  const locking = other.context.postgres.db.transaction().execute(async (trx) => {
    await lockBrand(trx, busy.id);
    isLocked.resolve();
    await release.promise;
  });
  await isLocked.promise;
  const waiting = Promise.all(
    Array.from({ length: 20 }, (_, i) => send(`${app.url}/v1/lists`, busyKey, 'POST', { name: `list ${i}` })),
  );
  for (let i = 0; i < 10; i += 1) await made(`${app.url}/v1/lists`, calmKey, { name: `list ${i}` });
  release.resolve();
  await locking;
  const statuses = (await waiting).map(({ status }) => status);
  // On a busy machine some may have waited for longer than a change may.
  expect(statuses.filter((status) => status !== 201 && status !== 429)).toEqual([]);
  expect(statuses).toContain(201);
});
