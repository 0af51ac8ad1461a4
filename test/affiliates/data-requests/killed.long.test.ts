import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyRecords } from '../../../src/affiliates/ledger/verify-ledger.ts';
import { type Assignment, buyOften, makeAssignment } from '../../harness/affiliates/sales.ts';
import {
  makeBrand,
  type RollcallProcess,
  send,
  startApp,
  startScript,
  type TestApp,
  type TestBrand,
  until,
} from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { findTraces } from '../../harness/platform/traces.ts';
import { longDeadlineMs } from '../../run/deadline.ts';

const KILLS = 12;
const OF_EACH = 60;

let app: TestApp;
let database: TestDatabase;
beforeAll(async () => {
  database = await makeDatabase('killed');
  app = await startApp({ urls: { postgres: database.url, redis: ownRedis() } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const db = () => app.context.postgres.db;

const problems = async (brand: TestBrand) => (await verifyRecords(db(), brand.id)).problems;

/** How many orders of a store name their customer, and how many were erased. */
async function countOrders({ source }: Assignment) {
  const { rows } = await sql<{ named: number; erased: number }>`
    select count(*) filter (where customer_email is not null)::int as named,
      count(*) filter (where erased_by is not null)::int as erased
    from orders where integration_id = ${source.id}`.execute(db());
  return rows[0];
}

const sums = async ({ id }: TestBrand) =>
  (
    await sql`select currency, count(*)::int as orders, sum(base_minor)::text as sales,
      (select sum(commission_minor)::text from commissions where brand_id = ${id}) as commissions
      from orders where brand_id = ${id} group by currency`.execute(db())
  ).rows;

describe('an erasure', () => {
  it(
    `whose process is killed leaves a person whole or erased, and a verified ledger, ${KILLS} times`,
    async () => {
      const brand = await makeBrand(app.context);
      const { rows: names } = await sql<{ name: string }>`select name from brands where id = ${brand.id}`.execute(db());
      const watcher = await database.open();
      let running: RollcallProcess | undefined;
      const erase = (selector: readonly string[]) => {
        const args = ['people', 'erase', '--brand', names[0]?.name ?? '', '--forfeit', ...selector];
        running = startScript('src/cli.ts', { DATABASE_URL: database.url, REDIS_URL: ownRedis() }, args);
        return running;
      };
      const exited = ({ child }: RollcallProcess) => child.exitCode !== null || child.signalCode !== null;
      /** True once another session has written within its transaction. */
      const isWriting = async () => {
        const { rows } = await watcher.query(`select from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and backend_xid is not null`);
        return rows.length > 0;
      };
      const outcomes = { whole: 0, erased: 0 };
      try {
        let wholeMs = 500;
        for (let round = 0; round <= KILLS; round += 1) {
          const email = `killed.${round}@mail.example`;
          const person = { email: `creator.${round}@mail.example`, name: `Killed Creator ${round}`, holdDays: 0 };
          const assignment = await makeAssignment(app.context, brand, person);
          await buyOften(app.context, brand, assignment, email, OF_EACH);
          const isBuyer = round % 2 === 0;
          const selector = isBuyer ? ['--customer-email', email] : ['--creator-email', person.email];
          const before = await sums(brand);
          const victim = erase(selector);
          await until('the erasure', async () => exited(victim) || (await isWriting()));
          const began = performance.now();
          // The first one shows how long it takes; the others are killed somewhere within.
          if (round === 0) {
            await until('its end', () => exited(victim));
            wholeMs = performance.now() - began;
          } else {
            await new Promise((resolve) => setTimeout(resolve, (wholeMs * (round - 1)) / (KILLS - 1)));
            await victim.kill();
            await until('its session to end', async () => !(await isWriting()));
          }
          const left = await findTraces(db(), isBuyer ? [email] : [person.email, person.name]);
          const count = await countOrders(assignment);
          const { rows } = await sql<{ state: string }>`
            select state from data_requests where brand_id = ${brand.id} order by created_at desc, id desc limit 1`.execute(
            db(),
          );
          const isErased = isBuyer ? count?.erased === OF_EACH : left.length === 0;
          outcomes[isErased ? 'erased' : 'whole'] += round === 0 ? 0 : 1;
          if (isBuyer) expect([count?.named, count?.erased]).toEqual(isErased ? [0, OF_EACH] : [OF_EACH, 0]);
          else if (!isErased) expect(left).toEqual(expect.arrayContaining([`creators: ${person.email}`]));
          if (isErased) expect(rows[0]?.state).toBe('done');
          expect(await problems(brand)).toEqual([]);
          // Again, to the end: as if nothing had happened.
          const body = isBuyer
            ? { kind: 'erasure', customer_email: email }
            : { kind: 'erasure', creator_email: person.email, forfeit: true };
          const again = await send(`${app.url}/v1/data-requests`, await brand.key('brand'), 'POST', body);
          expect(again.body.data, JSON.stringify(again.body)).toMatchObject({ state: 'done' });
          expect(await findTraces(db(), isBuyer ? [email] : [person.email, person.name])).toEqual([]);
          if (isBuyer) expect(await sums(brand)).toEqual(before);
          expect(await problems(brand)).toEqual([]);
        }
      } finally {
        await running?.kill();
        await watcher.end();
      }
      process.stderr.write(
        `Of ${KILLS} that were killed, ${outcomes.erased} had ended and ${outcomes.whole} left nothing.\n`,
      );
      expect(outcomes.whole).toBeGreaterThan(0);
    },
    longDeadlineMs,
  );
});
