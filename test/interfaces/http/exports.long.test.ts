import { afterEach, describe, expect, it } from 'vitest';
import { engineUrls, startApp, until } from '../../harness/app.ts';
import { endDownloads, isWhole, ROSTER, unread, withLongRoster } from '../../harness/kit/downloads.ts';
import { startProxy } from '../../harness/kit/proxy.ts';

afterEach(endDownloads);

describe('exports that nobody reads', () => {
  it('are ended if they are read steadily but too slowly, and the brand’s next one gets its turn', async () => {
    const app = await startApp();
    const desk = await withLongRoster(app);
    const dripping = await unread(app, desk);
    const timer = setInterval(() => dripping.takeOne(), 4_000);
    await until('the end of what drips', async () => (await desk.get(ROSTER, 'text/csv')).status === 200);
    clearInterval(timer);
    expect(isWhole(await dripping.rest())).toBe(false);
  });

  it('are cut off if PostgreSQL is lost, and work again as soon as it is back', async () => {
    const proxy = await startProxy(engineUrls().postgres);
    const apart = await startApp({ urls: { postgres: proxy.url } });
    const desk = await withLongRoster(apart);
    for (let i = 0; i < 4; i += 1) {
      const begun = await unread(apart, desk);
      await proxy.cut();
      await proxy.restore();
      expect(isWhole(await begun.rest())).toBe(false);
    }
    await until('an export', async () => (await desk.get(ROSTER, 'text/csv')).status === 200);
    const whole = await (await unread(apart, desk)).rest();
    expect([isWhole(whole), whole.split('active').length - 1]).toEqual([true, 12_000]);
    await apart.close();
    await proxy.close();
  });

  it('do not keep a process from stopping, and are cut off when it stops', async () => {
    const apart = await startApp({ isOwn: true });
    const begun = await unread(apart, await withLongRoster(apart));
    await apart.close();
    expect(isWhole(await begun.rest())).toBe(false);
  });
});
