import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;
let key: string;

beforeAll(async () => {
  app = await startApp();
  key = await (await makeBrand(app.context)).key('brand');
});
afterAll(() => app?.close());

const add = (body: object) => send(`${app.url}/v1/roster/add`, key, 'POST', body);

describe('the handle of a creator on the roster', () => {
  it.each([
    ['https://www.instagram.com/dr.one/', 'dr.one'],
    ['instagram.com/dr.two', 'dr.two'],
    ['https://instagram.com/dr.three?igsh=abc', 'dr.three'],
    ['dr.four/', 'dr.four'],
    ['@dr.five', 'dr.five'],
  ])('may be an address: %s', async (ig_handle, handle) => {
    const { status, body } = await add({ ig_handle });
    expect([status, body.data.ig_handle]).toEqual([201, handle]);
  });

  it.each([
    [{ ig_handle: 'https://www.instagram.com/p/C1a2b3/' }, 'ig_handle', 'not_a_profile', 'profile on Instagram'],
    [{ ig_handle: 'instagram.com/explore' }, 'ig_handle', 'not_a_profile', 'profile on Instagram'],
    [{ ig_handle: 'https://www.tiktok.com/@ana' }, 'ig_handle', 'other_platform', 'send it as tt_handle'],
    [{ tt_handle: 'instagram.com/ana' }, 'tt_handle', 'other_platform', 'send it as ig_handle'],
    [{ tt_handle: 'https://vm.tiktok.com/ZM1/' }, 'tt_handle', 'not_a_profile', 'profile on TikTok'],
    [{ ig_handle: 'https://www.youtube.com/@ana' }, 'ig_handle', 'other_platform', 'YouTube'],
    [{ ig_handle: 'two words' }, 'ig_handle', 'invalid_format', 'must be at most 50 letters'],
  ])('is refused as %j', async (sent, field, code, message) => {
    const { status, body } = await add(sent);
    expect([status, body.details]).toMatchObject([422, [{ field, code, message: expect.stringContaining(message) }]]);
  });

  it('is found by its address', async () => {
    const { body } = await call(`${app.url}/v1/roster?handle=${encodeURIComponent('instagram.com/dr.one/')}`, key);
    expect(body.data.map(({ ig_handle }: { ig_handle: string }) => ig_handle)).toEqual(['dr.one']);
  });
});
