import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migratePostgres } from '../../src/engines/postgres/migrate.ts';
import { openPostgres } from '../../src/engines/postgres/open.ts';
import { makeBrand, startApp, type TestApp, type TestBrand, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { type Assignment, asTest, makeAssignment, makeSale } from '../harness/sales.ts';

let database: TestDatabase;
let app: TestApp;
let session: pg.Client;

beforeAll(async () => {
  database = await makeDatabase('snapshot');
  app = await startApp({ urls: { postgres: database.url } });
  await migratePostgres(app.context.postgres.db);
  session = await database.open();
});
afterAll(async () => {
  await session?.end();
  await app?.close();
  await database?.drop();
});

const MEASURED = 40;

/** How many pages PostgreSQL looks at for an order, on a connection of its own, which says so when it is closed. */
async function pagesOfOrder(brand: TestBrand, assignment: Assignment): Promise<number> {
  const read = async () => {
    await until('connections to end', async () => {
      const { rows } = await session.query(`select count(*)::int as open from pg_stat_activity
        where datname = current_database() and application_name = 'measured'`);
      return rows[0].open === 0;
    });
    const { rows } = await session.query(
      'select blks_hit::float8 + blks_read as pages from pg_stat_database where datname = current_database()',
    );
    return rows[0].pages;
  };
  const before = await read();
  const url = new URL(database.url);
  url.searchParams.set('application_name', 'measured');
  const postgres = openPostgres(url.href, { max: 1 });
  for (let i = 0; i < MEASURED; i += 1) await makeSale({ ...app.context, postgres }, brand, { assignment });
  await postgres.close();
  return ((await read()) - before) / MEASURED;
}

describe('while a snapshot is open', () => {
  it('an order of a brand with many later ones reads at most twice as many pages', async () => {
    const brand = await makeBrand(app.context);
    const assignment = await makeAssignment(app.context, brand);
    await pagesOfOrder(brand, assignment);
    const before = await pagesOfOrder(brand, assignment);
    const holder = await database.open();
    await holder.query('begin isolation level repeatable read read only');
    await holder.query('select from brands');
    const entry = {
      ...{ kind: 'manual' as const, currency: 'USD', creatorId: assignment.creatorId, linkId: null, orderId: null },
      ...{ commissionId: null, payoutId: null },
    };
    for (let i = 0; i < 1_000; i += 1) {
      await asTest(app.context, brand, async (work) =>
        work.post({
          ...entry,
          postings: [
            { account: 'cash', amountMinor: 1, at: work.now },
            { account: 'fees', amountMinor: -1, at: work.now },
          ],
        }),
      );
    }
    const after = await pagesOfOrder(brand, assignment);
    await holder.end();
    expect(after / before, `${before} pages, then ${after}`).toBeLessThan(2);
  }, 120_000);
});
