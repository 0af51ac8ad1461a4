import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../../src/affiliates/stores/formats/provider.ts';
import { problemsOf } from '../../harness/affiliates/affiliates.ts';
import { openShop } from '../../harness/affiliates/shop.ts';
import { deliver, signedText, WEBHOOK_SECRET } from '../../harness/affiliates/store.ts';
import { call, makeBrand, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
let key: string;

beforeAll(async () => {
  app = await startApp();
  key = await (await makeBrand(app.context)).key('brand');
});
afterAll(() => app?.close());

/** So many arrays in one another. */
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const patchBrand = (body: string, more: object = {}) =>
  call(`${app.url}/v1/brand`, key, {
    method: 'PATCH',
    body,
    headers: { 'content-type': 'application/json', ...more },
  });

describe('a body', () => {
  it.each([101, 3_000, 5_000, 100_000, 500_000])('with %i levels is 422 and is not parsed', async (levels) => {
    for (const body of [arrays(levels), ...(levels <= 100_000 ? [objects(levels)] : [])]) {
      const answer = await patchBrand(body, { 'idempotency-key': `deep-${levels}` });
      expect([answer.status, answer.body.code]).toEqual([422, 'VALIDATION_ERROR']);
      expect(problemsOf(answer)).toEqual(['body too_deep']);
    }
  });

  it('counts the depth of all its fields, including ignored ones', async () => {
    const ignored = await patchBrand(`{"description": "x", "more": ${arrays(99)}}`, { 'idempotency-key': 'shallow' });
    expect([ignored.status, ignored.headers.get('x-ignored-params')]).toEqual([200, 'body.more']);
    expect(problemsOf(await patchBrand(`{"description": "x", "more": ${arrays(100)}}`))).toEqual(['body too_deep']);
  });

  it('that is wide, or has brackets in its text, is not deep', async () => {
    const wide = JSON.stringify({ description: '"[{\\'.repeat(1_000), more: Array(20_000).fill([{}]) });
    expect((await patchBrand(wide)).status).toBe(200);
  });
});

describe.each(PROVIDERS)('a delivery of %s', (provider) => {
  it.each([101, 5_000])('with %i levels is not read', async (levels) => {
    const shop = await openShop(app, provider);
    const topic = provider === 'shopify' ? 'orders/paid' : 'order.updated';
    for (const body of [arrays(levels), `{"event": "order.paid", "more": ${arrays(levels)}}`]) {
      const delivery = signedText(provider, WEBHOOK_SECRET, topic, body);
      const { became, ...answer } = await deliver(app.url, provider, shop.id, delivery);
      if (provider === 'generic') expect([answer.status, problemsOf(answer)]).toEqual([422, ['body too_deep']]);
      else expect(became).toMatchObject({ state: 'failed', reason: { field: 'body', code: 'too_deep' } });
    }
    await shop.store.close();
  });
});
