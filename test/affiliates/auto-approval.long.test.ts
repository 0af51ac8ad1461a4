import { afterAll, beforeAll, describe, it } from 'vitest';
import { makeSale } from '../harness/affiliates/sales.ts';
import {
  makeBrand,
  send,
  startApp,
  startWorkerProcess,
  type TestApp,
  type TestBrand,
  unique,
  until,
} from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';

/** A worker works for all brands: those of other tests are in another database. */
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('approval');
  app = await startApp({ urls: { postgres: database.url } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

interface Owner {
  brand: TestBrand;
  key: string;
}

async function makeOwner(isAutomatic = true): Promise<Owner> {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  await send(`${app.url}/v1/brand`, key, 'PATCH', { settings: { auto_approve_commissions: isAutomatic } });
  return { brand, key };
}

describe('auto approval', () => {
  it('runs in the worker without a request', async () => {
    const owner = await makeOwner();
    const { id } = await makeSale(app.context, owner.brand);
    const worker = await startWorkerProcess(unique('none'), { DATABASE_URL: database.url });
    await until('the approval', async () => {
      const { db } = app.context.postgres;
      const found = await db.selectFrom('commissions').select('status').where('id', '=', id).executeTakeFirst();
      return found?.status === 'approved';
    });
    await worker.stop();
  });
});
