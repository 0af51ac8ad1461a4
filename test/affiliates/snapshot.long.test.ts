import { sql } from 'kysely';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migratePostgres } from '../../src/kit/engines/postgres/migrate.ts';
import { openPostgres } from '../../src/kit/engines/postgres/open.ts';
import { type Assignment, asTest, makeAssignment, makeSale } from '../harness/affiliates/sales.ts';
import { makeBrand, startApp, type TestApp, type TestBrand, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';

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
const LATER = 1_000;

/** What an order costs PostgreSQL: pages that it looks at, which a connection reports when it is closed, and bytes of its log. */
async function costOfOrder(brand: TestBrand, assignment: Assignment) {
  const readPages = async () => {
    // Otherwise the app's connections report their page counts up to ten seconds later, during a measurement.
    await sql`select pg_stat_force_next_flush()`.execute(app.context.postgres.db);
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
  const readWal = async () =>
    (await session.query("select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as bytes")).rows[0].bytes;
  const [before, walBefore] = [await readPages(), await readWal()];
  const url = new URL(database.url);
  url.searchParams.set('application_name', 'measured');
  const postgres = openPostgres(url.href, { max: 1 });
  for (let i = 0; i < MEASURED; i += 1) await makeSale({ ...app.context, postgres }, brand, { assignment });
  await postgres.close();
  const walBytes = ((await readWal()) - walBefore) / MEASURED;
  return { pages: ((await readPages()) - before) / MEASURED, walBytes };
}

/** The median of an order's milliseconds for each brand, in turns, so that other load on the machine is the same for all. */
async function msOfOrders(sellers: readonly { brand: TestBrand; assignment: Assignment }[]): Promise<number[]> {
  const took = sellers.map((): number[] => []);
  for (let i = 0; i < MEASURED; i += 1) {
    for (const [n, { brand, assignment }] of sellers.entries()) {
      const from = performance.now();
      await makeSale(app.context, brand, { assignment });
      took[n]?.push(performance.now() - from);
    }
  }
  return took.map((ms) => ms.sort((one, other) => one - other)[MEASURED / 2] ?? 0);
}

describe('while a snapshot is open', () => {
  it('an order of a brand with many later ones reads at most twice as many pages', async () => {
    const brand = await makeBrand(app.context);
    const assignment = await makeAssignment(app.context, brand);
    await costOfOrder(brand, assignment);
    const before = await costOfOrder(brand, assignment);
    const holder = await database.open();
    await holder.query('begin isolation level repeatable read read only');
    await holder.query('select from brands');
    const entry = {
      ...{ kind: 'manual' as const, currency: 'USD', creatorId: assignment.creatorId, linkId: null, orderId: null },
      ...{ commissionId: null, payoutId: null },
    };
    for (let i = 0; i < LATER; i += 1) {
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
    const after = await costOfOrder(brand, assignment);
    const other = await makeBrand(app.context);
    const sellers = [
      { brand, assignment },
      { brand: other, assignment: await makeAssignment(app.context, other) },
    ];
    const [ms = 0, without = 0] = await msOfOrders(sellers);
    await holder.end();
    const said =
      `an order with ${LATER} later versions in a held snapshot: ${after.pages} pages (before ${before.pages}), ` +
      `${ms.toFixed(1)} ms (another brand ${without.toFixed(1)}), ${Math.round(after.walBytes)} bytes of log`;
    process.stderr.write(`${said}\n`);
    expect(after.pages / before.pages, said).toBeLessThan(2);
  });
});
