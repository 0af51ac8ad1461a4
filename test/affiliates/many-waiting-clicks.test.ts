import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLICK_STREAM } from '../../src/analytics/figures/sums.ts';
import { openDesk, SHOP } from '../harness/affiliates/affiliates.ts';
import { click, makeLink, metricOf, storedClicks } from '../harness/affiliates/clicks.ts';
import { call, makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

const alias = unique('waiting');
let app: TestApp;

beforeAll(async () => {
  const env = { CLICKS_REDIS_URL: ownRedis(), CLICKS_MAX_MB: '1' };
  app = await startApp({ alias, env });
  await putDirectory(app.context.elastic, alias, [creator(1)]);
});
afterAll(() => app?.close());

it('When waiting clicks fill their memory, visitors are redirected, a header says the click is not recorded, and searches are charged', async () => {
  const link = await makeLink(await openDesk(app), SHOP);
  const { redis, clicksRedis } = app.context;
  expect((await click(app, link.slug)).headers.get('x-click-recorded')).toBeNull();
  expect(await clicksRedis.client.xlen(CLICK_STREAM)).toBe(1);
  expect(JSON.stringify(await redis.client.xrange(CLICK_STREAM, '-', '+'))).not.toContain(link.id);

  const large = await clicksRedis.client.xadd(CLICK_STREAM, '*', 'rows', 'x'.repeat(1_100_000), 'repeats', '');
  const refused = await click(app, link.slug);
  expect([refused.status, refused.headers.get('x-click-recorded')]).toEqual([302, 'false']);
  expect(await metricOf(app, 'rollcall_clicks_lost_total')).toBe(1);
  expect(await metricOf(app, 'rollcall_clicks_waiting_limit_bytes')).toBe(1_048_576);
  expect(await metricOf(app, 'rollcall_clicks_waiting_bytes')).toBeGreaterThan(1_048_576);
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 100 });
  expect((await call(`${app.url}/v1/creators/search`, await brand.key('data'))).status).toBe(200);

  await clicksRedis.client.xdel(CLICK_STREAM, large ?? '');
  expect((await click(app, link.slug)).headers.get('x-click-recorded')).toBeNull();
  expect(await storedClicks(app, link.id)).toHaveLength(2);
});
