import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { makeSale, makeSales, refund } from '../harness/affiliates/sales.ts';
import { bytesOf, jobOf, rowsOf, runJobs, startExport, storeClicks } from '../harness/analytics/exporting.ts';
import { startApp, type TestApp, until } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';

const SECOND_MS = 1_000;
const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-exports-'));
const clock = { at: Date.now(), now: () => new Date(clock.at) };
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  // Turns are taken of all jobs there are.
  database = await makeDatabase('exports');
  // An export of clicks waits for all pending clicks, including those of other brands.
  const env = { ROLLCALL_DIR: folder, EXPORT_FILE_ROWS: '4', CLICKS_REDIS_URL: ownRedis() };
  app = await startApp({ urls: { postgres: database.url }, env, clock });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** What is due 30 seconds from now. */
async function runLater(): Promise<void> {
  clock.at += 31 * SECOND_MS;
  await runJobs(app);
}

describe('an export', () => {
  it.each(['orders', 'clicks', 'commissions', 'ledger', 'performance', 'roster', 'content', 'customers'])(
    'of %s has the same rows in each format',
    async (of) => {
      const { brand, assignment, key } = await makeSeller(app);
      await makeSales(app.context, brand, 5, assignment);
      await refund(app.context, await makeSale(app.context, brand, { assignment }), 2_500);
      await storeClicks(app.context, brand.id, 6, clock.at);
      clock.at += 10 * SECOND_MS;
      const [parquet, ndjson, csv] = await Promise.all(
        ['parquet', 'ndjson', 'csv'].map((format) => startExport(app, key, { of, format })),
      );
      await until('the three exports', async () => {
        await runLater();
        const jobs = await Promise.all([parquet, ndjson, csv].map(({ id }) => jobOf(app, key, id)));
        return jobs.every(({ status }) => status === 'done');
      });
      const rows = await rowsOf(app, await jobOf(app, key, ndjson.id));
      expect(await rowsOf(app, await jobOf(app, key, parquet.id))).toEqual(rows);
      const files = (await jobOf(app, key, csv.id)).files.slice(0, -1);
      const texts = await Promise.all(
        files.map(async (file: { url: string }) => (await bytesOf(app, file)).toString()),
      );
      const lines = texts.flatMap((text) => text.split('\n').filter(Boolean));
      expect(lines.length).toBe(rows.length + files.length);
      const names = Object.keys(rows[0] ?? {});
      if (rows.length > 0) expect(lines[0]).toMatch(names.join(','));
      const expected = { orders: 6, clicks: 6, commissions: 6, roster: 1, content: 0, customers: 0 };
      if (of in expected) expect(rows.length).toBe(Object.entries(expected).find(([name]) => name === of)?.[1]);
      else if (of === 'ledger') expect(rows.length).toBeGreaterThan(12);
    },
  );
});
