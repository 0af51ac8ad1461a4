import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDesk, SHOP } from '../../harness/affiliates/affiliates.ts';
import { click, makeLink } from '../../harness/affiliates/clicks.ts';
import { engineUrls, startApp, type TestApp, until } from '../../harness/app.ts';
import { ownRedis } from '../../harness/database.ts';
import { startProxy } from '../../harness/kit/proxy.ts';

const redis = ownRedis();
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ urls: { redis } });
});
afterAll(() => app?.close());

/** The real one, whatever a test left behind. */
const realNow = performance.now.bind(performance);
// Whoever shares this process would have them after a failure.
afterEach(() => void vi.restoreAllMocks());

describe('a PostgreSQL that hangs', () => {
  it('is waited for by one visitor of a known link, and for a limited time by visitors of others', async () => {
    const proxy = await startProxy(engineUrls().postgres);
    const other = await startApp({ urls: { redis, postgres: proxy.url } });
    const desk = await openDesk(app);
    const [known, unread] = [await makeLink(desk, SHOP), await makeLink(desk, SHOP)];
    await until('the link to be read', async () => (await click(other, known.slug)).status === 302);
    const time = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + 1_100);
    proxy.freeze();
    for (let i = 0; i < 6; i += 1) expect((await click(other, known.slug)).status).toBe(302);
    const { status, headers } = await click(other, unread.slug);
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    await proxy.restore();
    await until('PostgreSQL', async () => (await click(other, unread.slug)).status === 302);
    time.mockRestore();
    await other.close();
    await proxy.close();
  });
});
