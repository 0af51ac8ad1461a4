import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintClick } from '../../../src/kit/values/click-token.ts';
import { shopScriptDrift } from '../../check/shop-script.ts';
import { startApp, type TestApp } from '../../harness/app.ts';

const MAX_BYTES = 1_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => await app?.close());

describe('the script of shops', () => {
  it('is at most 1,000 bytes compressed, and cached under its version and its ETag', async () => {
    const plain = await fetch(`${app.links}/r.js?v=1`, { headers: { 'accept-encoding': 'identity' } });
    const text = await plain.text();
    expect(gzipSync(text, { level: 9 }).length).toBeLessThanOrEqual(MAX_BYTES);
    expect(Object.fromEntries(plain.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': expect.stringMatching(/^public, max-age=\d+/),
      'access-control-allow-origin': '*',
    });
    const compressed = await fetch(`${app.links}/r.js`);
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(Number(compressed.headers.get('content-length'))).toBeLessThanOrEqual(MAX_BYTES);
    expect(await compressed.text()).toBe(text);
    const etag = plain.headers.get('etag') ?? '';
    const again = await fetch(`${app.links}/r.js?v=1`, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('tells which clicks were given out, in their order, and no more', async () => {
    const [one, two] = [5_000, 0].map((agoMs) =>
      mintClick(app.context.secrets.key('click'), {
        linkId: 'lnk_0Tb5wZk3aBcDeFgHiJkL',
        atMs: Date.now() - agoMs,
        days: 7,
      }),
    );
    const ask = async (ids: unknown[]) => {
      const answer = await fetch(`${app.links}/r.js?v=1&genuine=${ids.join('.')}`);
      return [answer.status, await answer.text()];
    };
    const forged = one?.replace(/.{16}$/, '1'.repeat(16));
    expect(await ask([one, forged, two, 'clk_x'])).toEqual([200, `${one}.${two}`]);
    expect(await ask([forged])).toEqual([200, '']);
    expect(await ask([''])).toEqual([200, '']);
    expect((await ask(['clk_1'.repeat(2_000)]))[1]).toBe('');
  });

  it('is the minified form of its source', async () => {
    expect(await shopScriptDrift()).toEqual([]);
  });

  it('exists in one version, and another is not found', async () => {
    expect((await fetch(`${app.links}/r.js?v=2`)).status).toBe(404);
  });
});
