import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../../src/affiliates/stores/formats/provider.ts';
import { LINKS } from '../../harness/affiliates/affiliates.ts';
import { openShop } from '../../harness/affiliates/shop.ts';
import { connectTestStore, deliver, signedDelivery, WEBHOOK_SECRET } from '../../harness/affiliates/store.ts';
import { call, send, startApp, type TestApp } from '../../harness/app.ts';

type Provider = (typeof PROVIDERS)[number];

let app: TestApp;
/** The same installation under another ROLLCALL_SECRET. */
let changed: TestApp;

beforeAll(async () => {
  app = await startApp();
  changed = await startApp({ env: { ROLLCALL_SECRET: 'decade00'.repeat(8) } });
});
afterAll(async () => {
  await app?.close();
  await changed?.close();
});

/** A store that was connected under the old secret, as it is met under the new one. */
async function openLost(provider: Provider) {
  const { brand, store, id, assignment } = await openShop(app, provider);
  const key = await brand.key('brand');
  const code = { value: 'ANA10', creator_email: assignment.email, integration_id: id };
  return {
    read: async () => (await call(`${changed.url}/v1/affiliates/integrations/${id}`, key)).body.data,
    report: () => deliver(changed.url, provider, id, signedDelivery(provider, WEBHOOK_SECRET, 'x', {})),
    assign: () => send(changed.url + LINKS, key, 'POST', code),
    connectAgain: () => connectTestStore(changed.context, brand.id, store),
    close: () => store.close(),
  };
}

describe.each(PROVIDERS)('a store of %s whose secrets cannot be opened', (provider) => {
  it('refuses deliveries with 503, counts them, and shows this until it is connected again', async () => {
    const { read, report, connectAgain, close } = await openLost(provider);
    const { status, body, headers } = await report();
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '2']);
    const health = { status: 'failing', failures_24h: 1 };
    expect(await read()).toMatchObject({ status: 'reauth_required', webhook_health: health });
    await connectAgain();
    expect((await report()).status).toBe(200);
    expect(await read()).toMatchObject({ status: 'connected', webhook_health: { ...health, status: 'ok' } });
    await close();
  });

  it('refuses its coupons with 409, and says why', async () => {
    const { read, assign, close } = await openLost(provider);
    const { status, body } = await assign();
    expect([status, body.code, body.integration_status]).toEqual([409, 'CONFLICT', 'reauth_required']);
    expect(await read()).toMatchObject({ status: 'reauth_required' });
    await close();
  });
});
