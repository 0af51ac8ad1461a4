import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endDataRequests } from '../../../src/affiliates/data-requests/data-requests.jobs.ts';
import { eraseAgain } from '../../../src/affiliates/data-requests/erase-again.ts';
import { appendErasures, readErasures } from '../../../src/affiliates/data-requests/erasures-file.ts';
import { verifyRecords } from '../../../src/affiliates/ledger/verify-ledger.ts';
import { openFiles } from '../../../src/kit/engines/files/open.ts';
import { daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { openShop, type Shop } from '../../harness/affiliates/shop.ts';
import { orderNumber, shopifyOrder } from '../../harness/affiliates/shopify-order.ts';
import { call, send, startApp, type TestApp } from '../../harness/app.ts';
import { copyDatabase, makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { startS3 } from '../../harness/kit/s3.ts';
import { findTraces } from '../../harness/platform/traces.ts';

const ROLLCALL_DIR = mkdtempSync(path.join(tmpdir(), 'again-'));
const FILE = path.join(ROLLCALL_DIR, 'assets', 'erasures.ndjson');
const CREATOR = 'again.person@creators.example';
const NAME = 'Again Personowitz';
const BUYERS = ['again.one@mail.example', 'again.two@mail.example', 'again.three@mail.example'] as const;
const STRINGS = [CREATOR, NAME, ...BUYERS];

const databases: TestDatabase[] = [];
const opened: { close(): Promise<unknown> }[] = [];
let app: TestApp;
let shop: Shop;
let key: string;

async function open(database: TestDatabase): Promise<TestApp> {
  return await startApp({ env: { ROLLCALL_DIR }, urls: { redis: ownRedis(), postgres: database.url } });
}

/** A brand with a creator to whom money is due, and buyers of whom an import has the address, too; then a backup. */
beforeAll(async () => {
  const original = await makeDatabase('again');
  databases.push(original);
  const before = await open(original);
  shop = await openShop(before, 'shopify');
  opened.push(shop.store);
  for (const email of [...BUYERS, BUYERS[0]]) {
    const order = shopifyOrder({ id: orderNumber(), email, codes: [shop.assignment.code], status: 'paid' });
    expect((await shop.report('orders/paid', order)).became?.state).toBe('done');
  }
  const assignment = await makeAssignment(before.context, shop.brand, { email: CREATOR, name: NAME, holdDays: 0 });
  await makeSale(before.context, shop.brand, { assignment, occurredAt: daysAgo(60) });
  key = await shop.brand.key('brand');
  await before.close();
  databases.push(await copyDatabase('backup', original));
  app = await open(original);
  opened.push(app);
});
afterAll(async () => {
  for (const one of opened) await one.close();
  for (const one of databases) await one.drop();
});

const problems = async (of: TestApp) => (await verifyRecords(of.context.postgres.db, shop.brand.id)).problems;

describe('a restored copy of before erasures', () => {
  it('learns them from the file beside the assets, which names nobody', async () => {
    const erase = async (body: object) => {
      const { body: answer } = await send(`${app.url}/v1/data-requests`, key, 'POST', { kind: 'erasure', ...body });
      expect(answer.data, JSON.stringify(answer)).toMatchObject({ state: 'done' });
    };
    const { data: orders } = (await call(`${app.url}/v1/orders`, key)).body;
    const bought = await app.context.postgres.db
      .selectFrom('orders')
      .select(['id', 'customerEmail'])
      .where('integrationId', '=', shop.id)
      .orderBy('createdAt')
      .execute();
    expect(orders).toHaveLength(5);
    await erase({ creator_email: CREATOR, forfeit: true });
    await erase({ customer_email: BUYERS[0] });
    await erase({ customer_of: bought[1]?.id });
    await erase({ order_ids: [bought[2]?.id ?? ''] });
    await endDataRequests.run(app.context);
    await endDataRequests.run(app.context);
    const text = readFileSync(FILE, 'utf8');
    expect(text.trim().split('\n')).toHaveLength(4);
    for (const one of STRINGS) expect(text).not.toContain(one);
    expect(await findTraces(app.context.postgres.db, STRINGS)).toEqual([]);
  });

  it('has erased the same people before it answers, keeps money that was due, and stays verified', async () => {
    const [, backup] = databases;
    if (!backup) throw new Error('There is no backup.');
    const restored = await open(backup);
    opened.push(restored);
    const { db } = restored.context.postgres;
    expect(await findTraces(db, STRINGS)).toEqual(expect.arrayContaining([`creators: ${CREATOR}`]));
    const sums = () => db.selectFrom('ledgerEntries').select(['seq', 'kind', 'postings']).orderBy('seq').execute();
    const before = await sums();
    expect(await eraseAgain(restored.context)).toBe(4);
    expect(await eraseAgain(restored.context)).toBe(0);
    expect(await findTraces(db, STRINGS)).toEqual([]);
    expect(await sums()).toEqual(before);
    expect(await problems(restored)).toEqual([]);
    const erased = await db
      .selectFrom('orders')
      .select(['erasedBy', 'customerEmail'])
      .where('integrationId', '=', shop.id)
      .execute();
    expect(erased.map(({ erasedBy, customerEmail }) => [erasedBy !== null, customerEmail])).toEqual(
      erased.map(() => [true, null]),
    );
    const { data } = (await call(`${restored.url}/v1/data-requests`, key)).body;
    expect(data.map(({ state }: { state: string }) => state)).toEqual(['done', 'done', 'done', 'done']);
    await endDataRequests.run(restored.context);
    expect(readFileSync(FILE, 'utf8').trim().split('\n')).toHaveLength(4);
  });

  it('finds the file in a bucket as well, where there is none at first', async () => {
    const s3 = await startS3();
    opened.push(s3);
    const { db } = app.context.postgres;
    const files = openFiles({ assetsUrl: s3.url, directory: ROLLCALL_DIR }, db);
    expect(await readErasures(files)).toEqual([]);
    const [line] = await readErasures(app.context.files);
    if (!line) throw new Error('There is no line.');
    await appendErasures(db, files, [line]);
    await appendErasures(db, files, [line]);
    expect(await readErasures(files)).toEqual([line, line]);
  });
});
