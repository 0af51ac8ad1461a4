import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../../src/local/engines/port.ts';
import { deskOf } from '../../harness/affiliates/affiliates.ts';
import { makeLink, PHONE } from '../../harness/affiliates/clicks.ts';
import {
  connectTestStore,
  deliver,
  foldAll,
  signedDelivery,
  startStore,
  WEBHOOK_SECRET,
} from '../../harness/affiliates/store.ts';
import { openStorefront } from '../../harness/affiliates/storefront.ts';
import {
  call,
  made,
  makeBrand,
  send,
  startApp,
  type TestApp,
  type TestBrand,
  unique,
  until,
} from '../../harness/app.ts';
import { hasBrowser, openBrowser } from '../../harness/interfaces/browser.ts';
import { deadlineMs } from '../../run/deadline.ts';

const manual = readFileSync(path.join(import.meta.dirname, '../../../docs/stores.md'), 'utf8');
const blocksOf = (language: string) =>
  [...manual.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text);
const blockOf = (language: string) => blocksOf(language)[0] ?? '';
const children: ChildProcess[] = [];
let app: TestApp;
let brand: TestBrand;
let key: string;

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(async () => {
  for (const child of children) child.kill();
  await app?.close();
});

/** Runs the manual's store; answers where it is. */
async function startManual(env: NodeJS.ProcessEnv): Promise<string> {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'store-')), 'store.mjs');
  writeFileSync(file, blockOf('js'));
  const port = await findFreePort();
  const said = { ...env, PORT: String(port), PATH: '' };
  children.push(spawn(process.execPath, [file], { env: said, stdio: 'ignore' }));
  const url = `http://127.0.0.1:${port}`;
  await until('the store of the manual', () => fetch(url).then(Boolean, () => false));
  return url;
}

describe('the store of the manual', () => {
  it('is connected, its coupon is verified and its orders pay', async () => {
    expect(blockOf('js').trim().split('\n').length).toBeLessThanOrEqual(45);
    const token = unique('token');
    const secrets = { TOKEN: token, WEBHOOK_SECRET };
    const store = { ...(await startStore('generic')), token };
    await store.close();
    const first = await startManual(secrets);
    const integration = await connectTestStore(app.context, brand.id, { ...store, url: first });
    await made(`${app.url}/v1/roster`, key, { creator_email: 'ana@mail.example' });
    const offer = {
      creator_email: 'ana@mail.example',
      value: 'ana10',
      integration_id: integration,
      commission_rate: 10,
    };
    expect((await made(`${app.url}/v1/affiliates/links`, key, offer)).currency).toBe('USD');
    const shipping = await send(`${app.url}/v1/affiliates/links`, key, 'POST', { ...offer, value: 'SHIP' });
    expect(shipping.body.details).toMatchObject([{ field: 'value', code: 'coupon_not_percentage' }]);
    const missing = await send(`${app.url}/v1/affiliates/links`, key, 'POST', { ...offer, value: 'NOPE' });
    expect(missing.body.details).toMatchObject([{ field: 'value', code: 'coupon_not_found' }]);

    const selling = await startManual({ ...secrets, INGEST_URL: `${app.url}/ingest/generic/${integration}` });
    const { body } = await call(`${selling}/buy?amount=80.00&code=ANA10`, undefined, { method: 'POST' });
    expect(body.reported).toBe(200);
    await foldAll(app.context, integration);
    const explained = await call(`${app.url}/v1/affiliates/explain?order_id=${body.order_id}`, key);
    expect(explained.body.data.attributed).toBe(true);
    const [commission] = (await call(`${app.url}/v1/affiliates/commissions`, key)).body.data;
    expect(commission).toMatchObject({ creator_email: 'ana@mail.example', commission: 8 });
  });

  it('accepts the delivery in the manual unchanged', async () => {
    const store = await startStore('generic');
    const integration = await connectTestStore(app.context, brand.id, store);
    const { event, createdAt, data } = JSON.parse(blockOf('json'));
    const delivery = signedDelivery('generic', WEBHOOK_SECRET, event, data, new Date(createdAt));
    expect(await deliver(app.url, 'generic', integration, delivery)).toMatchObject({ status: 200 });
    await store.close();
  });

  it('has its shapes in the OpenAPI document', async () => {
    const { schemas } = (await call(`${app.url}/openapi.json`)).body.components;
    expect(Object.keys(schemas.GenericStoreOrder.properties)).toEqual(
      expect.arrayContaining(['order_id', 'amount', 'codes', 'click_ids', 'refunds']),
    );
    expect(Object.keys(schemas.GenericStoreInfo.properties)).toEqual(['name', 'currency', 'storefront_url']);
    expect(Object.keys(schemas.GenericStoreCoupon.properties)).toEqual(['code', 'percentage', 'active', 'ends_at']);
    expect(schemas.GenericStoreDelivery.properties.event.enum).toHaveLength(5);
  });
});

describe.skipIf(!hasBrowser('The checkout of the manual'))('the checkout of the manual', () => {
  it('sends the click of a tracked link with the order', async () => {
    const [script = '', form = ''] = blocksOf('html');
    const browser = await openBrowser();
    const shop = await openStorefront();
    shop.html = script.replace('https://links.example', app.links) + form;
    const link = await makeLink(await deskOf(app, brand), `${shop.url}/`);
    const page = await browser.newPage({ userAgent: PHONE });
    page.setDefaultTimeout(deadlineMs);
    await page.goto(`${app.links}/r/${link.slug}`);
    const click = new URL(page.url()).searchParams.get('click_id');
    await page.goto(`${shop.url}/checkout`);
    await page.getByRole('button', { name: 'Buy' }).click();
    await page.waitForURL('**/order');
    expect(shop.orders).toEqual([`click_id=${click}`]);
    shop.close();
    await browser.close();
  });
});
