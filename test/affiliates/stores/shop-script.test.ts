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

  it('tells if a click was given out, and no more', async () => {
    const click = mintClick(app.context.secrets.key('click'), {
      linkId: 'lnk_0Tb5wZk3aBcDeFgHiJkL',
      atMs: Date.now(),
      days: 7,
    });
    const ask = async (id: string) => (await fetch(`${app.links}/r.js?v=1&click=${id}`)).status;
    expect([await ask(click), await ask(click.replace(/.$/, '~')), await ask('')]).toEqual([204, 404, 404]);
  });

  it('is the minified form of its source', async () => {
    expect(await shopScriptDrift()).toEqual([]);
  });

  it('exists in one version, and another is not found', async () => {
    expect((await fetch(`${app.links}/r.js?v=2`)).status).toBe(404);
  });
});
