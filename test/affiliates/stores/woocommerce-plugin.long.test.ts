import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { strFromU8, unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { carryOutDataRequests } from '../../../src/affiliates/data-requests/data-requests.jobs.ts';
import { mintClick } from '../../../src/kit/values/click-token.ts';
import {
  connectTestStore,
  deliver,
  foldAll,
  signedDelivery,
  startStore,
  type TestStore,
  WEBHOOK_SECRET,
} from '../../harness/affiliates/store.ts';
import { wooOrder } from '../../harness/affiliates/woo-order.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand, until } from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';

const run = promisify(execFile);
const RUNNER = path.join(import.meta.dirname, '../../harness/affiliates/wordpress/run.php');
const DAY = 86_400;

/** Whether this machine has PHP; says once what is not tested without it. */
function hasPhp(): boolean {
  const { status } = spawnSync('php', ['-v']);
  if (status !== 0) process.stderr.write('The WooCommerce plugin is not run: no php on the PATH.\n');
  return status === 0;
}

const Happened = z.looseObject({
  cookies: z.array(z.looseObject({ name: z.string(), value: z.string(), expires: z.number() })),
  scripts: z.array(z.object({ url: z.string(), tag: z.string() })),
  saved: z.number(),
  html: z.string(),
});

let app: TestApp;
let database: TestDatabase;
let store: TestStore;
let brand: TestBrand;
let id: string;

beforeAll(async () => {
  database = await makeDatabase('plugin');
  app = await startApp({ urls: { postgres: database.url, redis: ownRedis() } });
  store = await startStore('woocommerce');
  brand = await makeBrand(app.context);
  id = await connectTestStore(app.context, brand.id, store);
});
afterAll(async () => {
  await store?.close();
  await app?.close();
  await database?.drop();
});

const download = async (of: string) => await fetch(`${app.links}/plugin/woocommerce/${of}.zip`);

async function pluginOf(integration: string): Promise<string> {
  const files = unzipSync(new Uint8Array(await (await download(integration)).arrayBuffer()));
  expect(Object.keys(files)).toEqual(['rollcall-for-woocommerce/rollcall.php']);
  return strFromU8(files['rollcall-for-woocommerce/rollcall.php'] ?? new Uint8Array());
}

const clickOf = ({ days = 30, daysAgo = 0 } = {}) =>
  mintClick(app.context.secrets.key('click'), {
    ...{ linkId: 'lnk_0Tb5wZk3aBcDeFgHiJkL', atMs: Date.now() - daysAgo * DAY * 1_000, days },
  });

describe('the download of the WooCommerce plugin', () => {
  it('is an archive of one file, with its requirements and the webhook address of this store', async () => {
    const answer = await download(id);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': 'attachment; filename="rollcall-for-woocommerce.zip"',
    });
    const php = await pluginOf(id);
    expect(php).toContain(' * Requires Plugins: woocommerce\n');
    expect(php).toContain("const LINKS_URL   = 'https://go.example';");
    expect(php).toContain(`const WEBHOOK_URL = 'https://go.example/ingest/woocommerce/${id}';`);
    expect(php).not.toContain('{{');
  });

  it('is not found for a store that is not a connected WooCommerce', async () => {
    const shopify = await startStore('shopify');
    const other = await connectTestStore(app.context, (await makeBrand(app.context)).id, shopify);
    for (const of of [other, 'int_0Tb5wZk3aBcDeFgHiJkL', '..%2f..%2fpackage']) {
      expect((await download(of)).status).toBe(404);
    }
    await shopify.close();
  });
});

describe.skipIf(!hasPhp())('the WooCommerce plugin', () => {
  let file: string;
  beforeAll(async () => {
    const folder = path.join(mkdtempSync(path.join(tmpdir(), 'plugin-')), 'rollcall-for-woocommerce');
    mkdirSync(folder);
    file = path.join(folder, 'rollcall.php');
    writeFileSync(file, await pluginOf(id));
  });

  /** Loads it beside stand-ins of WordPress and does what `act` names; answers what happened. */
  async function load(scenario: object, plugin = file) {
    const { stdout } = await run('php', ['-n', RUNNER, plugin, JSON.stringify(scenario)]);
    return Happened.parse(JSON.parse(stdout));
  }

  it.each([7, 90])(
    'keeps the click of a landing page for the %s days of its link, by a cookie of the server',
    async (days) => {
      const click = clickOf({ days });
      const { cookies } = await load({ get: { click_id: click }, act: ['template_redirect'] });
      expect(cookies).toMatchObject([
        { name: 'rollcall_click', value: click, path: '/', secure: true, httponly: false, samesite: 'Lax' },
      ]);
      expect((cookies[0]?.expires ?? 0) - Date.now() / 1_000).toBeCloseTo(days * DAY, -3);
    },
  );

  it('keeps no expired click, and nothing else from a URL', async () => {
    for (const value of [clickOf({ days: 7, daysAgo: 8 }), 'clk_1', `${clickOf()}\n`, ['x'], "a'b"]) {
      const { cookies } = await load({ get: { click_id: value }, act: ['template_redirect'] });
      expect(cookies).toEqual([]);
    }
  });

  it('keeps the last five clicks in their order, and lets none that was not given out take the place of one', async () => {
    const clicks = Array.from({ length: 5 }, () => clickOf());
    const [first, ...others] = clicks;
    const land = async (click_id: string, rollcall_click: string) =>
      (await load({ get: { click_id }, cookie: { rollcall_click }, act: ['template_redirect'] })).cookies;
    expect(await land(others[0] ?? '', first ?? '')).toMatchObject([{ value: clicks.slice(0, 2).join('.') }]);
    // Nobody answers at this links host.
    expect(await land(clickOf(), clicks.join('.'))).toEqual([]);
    const script = await load({ web: { click_id: clicks.join('.') }, act: ['rest_api_init', 'script'] });
    expect(script.cookies).toMatchObject([{ value: clicks.join('.') }]);
    const { meta } = await load({ cookie: { rollcall_click: clicks.join('.') }, act: ['checkout'] });
    expect(meta).toEqual({ _click_id: clicks.join('.') });
  });

  it('keeps no click of a visitor who has not agreed', async () => {
    const get = { click_id: clickOf() };
    const act = ['template_redirect', 'wp_enqueue_scripts'];
    const refused = await load({ get, consent: false, act });
    expect(refused.cookies).toEqual([]);
    expect((await load({ get, consent: true, act })).cookies).toHaveLength(1);
    const waiting = await load({ get, options: { rollcall_consent: 'wait' }, act });
    expect(waiting.cookies).toEqual([]);
    expect(waiting.scripts[0]?.tag).toContain(' data-consent="wait"');
  });

  it('includes the script for pages that a cache serves, and keeps the click that the script finds', async () => {
    const click = clickOf();
    const happened = await load({
      ...{ web: { click_id: click }, act: ['wp_enqueue_scripts', 'rest_api_init', 'script'] },
    });
    expect(happened.scripts).toEqual([
      {
        url: 'https://go.example/r.js?v=1',
        tag: '<script async data-keep="https://shop.example/wp-json/rollcall/v1/click" src="https://go.example/r.js?v=1"></script>',
      },
    ]);
    expect(happened).toMatchObject({ routes: { 'rollcall/v1/click': 'POST' }, kept: { kept: true } });
    expect(happened.cookies).toMatchObject([{ value: click }]);
    const wrong = await load({ web: { click_id: 'x' }, act: ['rest_api_init', 'script'] });
    expect(wrong).toMatchObject({ cookies: [], kept: { kept: false } });
  });

  it('adds the click to the order, at the classic checkout and at the checkout block', async () => {
    const cookie = { rollcall_click: clickOf() };
    const meta = { _click_id: cookie.rollcall_click };
    expect(await load({ cookie, act: ['checkout'] })).toMatchObject({ meta, saved: 0 });
    expect(await load({ cookie, act: ['blocks'] })).toMatchObject({ meta, saved: 1 });
    for (const value of ['<b>', clickOf({ days: 1, daysAgo: 2 })]) {
      expect((await load({ cookie: { rollcall_click: value }, act: ['checkout'] })).meta).toEqual({});
    }
  });

  it('adds no click to the renewal of a subscription, and prevents copying one', async () => {
    const cookie = { rollcall_click: clickOf() };
    expect(await load({ cookie, renewal: true, act: ['blocks', 'renewal'] })).toMatchObject({
      ...{ meta: {}, copied: { _billing_email: 'a@b.example' } },
    });
    expect((await load({ act: ['renewal'] })).copied).toEqual({ _billing_email: 'a@b.example' });
  });

  it('declares that it works with order tables and the blocks of cart and checkout', async () => {
    const { compatible } = await load({ act: ['before_woocommerce_init'] });
    expect(compatible).toEqual({ custom_order_tables: true, cart_checkout_blocks: true });
  });

  it('tests its connection on its page in WooCommerce, and says what is wrong', async () => {
    const here = await pluginOf(id);
    const at = async (url: string) => {
      const copy = `${file}.${url.length}.php`;
      writeFileSync(copy, here.replaceAll('https://go.example', url).replace(id, url === app.links ? id : 'int_none'));
      return (await load({ post: { rollcall_test: '1' }, act: ['admin_menu', 'admin_init'] }, copy)).html;
    };
    expect(await at(app.links)).toMatch(/success.*The script can be loaded\..*success.*Rollcall knows this store\./s);
    expect(await at(app.url)).toMatch(
      /success.*error.*Rollcall does not know this store. Connect it, then download the plugin again: the answer is 404\./s,
    );
    expect(await at('http://127.0.0.1:9')).toMatch(/error.*Rollcall cannot be reached: no route.*error/s);
    const quiet = await load({ act: ['admin_menu', 'admin_init'] });
    expect(quiet.html).not.toContain('notice');
    expect(quiet).toMatchObject({ settings: { rollcall_consent: ['wait', 'auto', 'auto'] } });
  });

  it('passes on what WordPress’ tools for personal data ask, under the signature of the store’s own webhook', async () => {
    const email = 'jane.press@mail.example';
    const key = await brand.key('brand');
    const url = `${app.url}/ingest/woocommerce/${id}`;
    const order = wooOrder({ id: 901, email, codes: [], paidAt: '2026-03-22T16:28:05' });
    await deliver(app.url, 'woocommerce', id, signedDelivery('woocommerce', WEBHOOK_SECRET, 'order.updated', order));
    const copy = `${file}.here.php`;
    writeFileSync(copy, (await pluginOf(id)).replaceAll('https://go.example', app.url));
    const webhooks = {
      7: { url: 'https://elsewhere.example/hook', secret: 'not ours' },
      8: { url, secret: WEBHOOK_SECRET },
    };
    const ask = (act: string, more: object) => load({ email, act: [act], ...more }, copy);

    const { export: file1 } = await ask('export', { webhooks });
    expect(file1).toMatchObject({
      done: true,
      data: [{ group_id: 'rollcall', data: expect.arrayContaining([{ name: 'Order', value: '901' }]) }],
    });
    const unknown = await ask('export', { webhooks, email: 'nobody@mail.example' });
    expect(unknown.export).toEqual({ data: [], done: true });

    const { erase } = await ask('erase', { webhooks });
    expect(erase).toMatchObject({ items_removed: true, items_retained: false, done: true });
    const requests = async () => (await call(`${app.url}/v1/data-requests`, key)).body.data;
    await until('the erasure', async () => {
      await foldAll(app.context, id);
      await carryOutDataRequests.run(app.context);
      return (await requests())[0]?.kind === 'erasure' && (await requests())[0].state === 'done';
    });
    expect((await requests())[0]).toMatchObject({ source: 'woocommerce', removed: { orders: 1 } });
    expect((await ask('export', { webhooks })).export).toEqual({ data: [], done: true });

    for (const wrong of [{}, { 8: { url, secret: 'another' } }, { 7: webhooks[7] }]) {
      const refused = await ask('erase', { webhooks: wrong });
      expect(refused.erase).toMatchObject({
        ...{ items_removed: false, items_retained: true, done: true },
        messages: [expect.stringContaining('could not be asked')],
      });
      expect((await ask('export', { webhooks: wrong })).export).toMatchObject({
        data: [{ data: [{ name: 'Not exported' }] }],
      });
    }
  });
});
