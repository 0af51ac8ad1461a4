import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compareFigures } from '../../src/affiliates/ledger/compare-figures.ts';
import { verifyLedger } from '../../src/affiliates/ledger/verify-ledger.ts';
import { systemClock } from '../../src/kit/values/clock.ts';
import { keysInTurn, send, startWorkerProcess, unique, until } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';
import { confirmRead, getImport, makeImporter, readImport, startImporting } from '../harness/platform/importing.ts';
import { makeRandom } from '../platform/imports-draw.ts';
import { longDeadlineMs } from '../run/deadline.ts';

const KILLS = randomRuns(4);
/** So many that the file lasts for all kills on a fast machine. */
const ORDERS = 2_000 * KILLS;
const UNDO_KILLS = 2;
/** A worker writes a few batches more in this time after its first one. */
const LONGEST_LIFE_MS = 100;

let app: Awaited<ReturnType<typeof startImporting>>;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  app = await startImporting(systemClock);
  env = { ...app.env, REDIS_URL: ownRedis(), WORKER_LOST_AFTER_MS: '1000' };
});
afterAll(() => app?.close());

/** Orders of three currencies, a tenth of them refunded in part, a hundredth cancelled, and some that no reader takes. */
function makeFile(): string {
  const lines = Array.from({ length: ORDERS }, (_, n) => {
    const goods = 1_000 + ((n * 37) % 20_000);
    const currency = ['EUR', 'USD', 'GBP'][n % 3];
    const at = new Date(Date.parse('2025-01-01T08:00:00Z') + n * 600_000).toISOString();
    const refunded = n % 10 === 0 ? '5.00' : '0.00';
    const amount = n % 500 === 499 ? 'unknown' : (goods / 100).toFixed(2);
    return `K${n},#${n},${at},${currency},${amount},${refunded},${n % 100 === 7 ? at : ''},k${n % 900}@mail.example`;
  });
  return ['order_id,order_number,placed_at,currency,amount,refunded,cancelled_at,customer_email', ...lines].join('\n');
}

/** The orders of a brand by currency, with everything that a line says of one. */
async function sumOrders(brandId: string) {
  const { rows } = await sql<{ orders: number; ids: number }>`
    select orders.currency, count(*)::int as orders, count(distinct orders.order_id)::int as ids,
      sum(base_minor)::bigint as amount, count(cancelled_at)::int as cancelled, count(customer_hash)::int as customers,
      sum((select sum(amount_minor) from order_refunds as refund
        where refund.integration_id = orders.integration_id and refund.order_id = orders.order_id))::bigint as refunded
    from orders where brand_id = ${brandId} group by 1 order by 1`.execute(app.context.postgres.db);
  return rows;
}

/** The position of a run, and the rows that an undo has still to take back. */
async function findProgress(importId: string): Promise<string> {
  const { rows } = await sql<object>`
    select handled, (select count(*)::int from import_writes where import_id = ${importId}) as writes
    from imports where id = ${importId}`.execute(app.context.postgres.db);
  return JSON.stringify(rows);
}

it(
  `An import of ${ORDERS} orders whose workers are killed ${KILLS} times records each line once, and its undo takes all back (TEST_SEED=${testSeed})`,
  async () => {
    const random = makeRandom(testSeed);
    const file = makeFile();
    const undisturbed = await makeImporter(app);
    const whole = await confirmRead(app, undisturbed.key, await readImport(app, undisturbed.key, 'orders', file));
    expect(whole).toMatchObject({ status: 'done', result: { written: ORDERS - ORDERS / 500 } });

    const { brand, key } = await makeImporter(app);
    const read = await readImport(app, key, 'orders', file);
    const nextKey = await keysInTurn(brand, 10);
    const get = async () => await getImport(app, nextKey(), read.id);
    const killWorkers = async (kills: number, status: string) => {
      for (let kill = 1; kill <= kills; kill += 1) {
        const before = await findProgress(read.id);
        const worker = await startWorkerProcess(unique('none'), env);
        await until('a batch to be committed', async () => (await findProgress(read.id)) !== before);
        await pause(random() * LONGEST_LIFE_MS);
        await worker.kill();
        expect((await get()).status, `after kill ${kill}`).toBe(status);
      }
    };
    const finish = async (status: string) => {
      const worker = await startWorkerProcess(unique('none'), env);
      await until('the import to be over', async () => (await get()).status === status);
      // Figures of orders that are gone are computed anew a little later.
      const { postgres, clickhouse } = app.context;
      const compare = async () => await compareFigures({ db: postgres.db, clickhouse }, brand.id);
      await until('the figures to agree', async () => (await compare()).length === 0);
      await worker.stop();
      expect((await verifyLedger(app.context, brand.id)).problems).toEqual([]);
    };

    await send(`${app.url}/v1/imports/${read.id}/confirm`, key, 'POST', { reading_id: read.reading_id });
    await killWorkers(KILLS, 'running');
    await finish('done');
    const done = await get();
    expect([done.counts, done.sums, done.result, done.refusals]).toEqual([
      ...[whole.counts, whole.sums, whole.result, whole.refusals],
    ]);
    const sums = await sumOrders(brand.id);
    expect(sums).toEqual(await sumOrders(undisturbed.brand.id));
    expect(sums.map(({ orders, ids }) => orders - ids)).toEqual([0, 0, 0]);

    await send(`${app.url}/v1/imports/${read.id}/undo`, key, 'POST', {});
    await killWorkers(UNDO_KILLS, 'undoing');
    await finish('undone');
    expect(await sumOrders(brand.id)).toEqual([]);
  },
  longDeadlineMs,
);
