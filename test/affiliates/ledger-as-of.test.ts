import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../src/kit/operation/work.ts';
import { systemClock } from '../../src/kit/values/clock.ts';
import { makeSale } from '../harness/affiliates/sales.ts';
import { type Assignment, post, putAssignment, sale } from '../harness/analytics/figures.ts';
import {
  type Answer,
  call,
  engineUrls,
  makeBrand,
  meanwhile,
  send,
  startApp,
  type TestApp,
  until,
} from '../harness/app.ts';

let app: TestApp;
let session: pg.Client;

beforeAll(async () => {
  app = await startApp();
  session = new pg.Client(engineUrls().postgres);
  await session.connect();
});
afterAll(async () => {
  await session?.end();
  await app?.close();
});

const at = (time: string) => new Date(`2026-01-01T${time}Z`);

interface Ledger {
  brandId: string;
  key: string;
  link: Assignment;
}

async function open(): Promise<Ledger> {
  const brand = await makeBrand(app.context);
  return { brandId: brand.id, key: await brand.key('brand'), link: await putAssignment(app, brand.id) };
}

async function read({ key }: Pick<Ledger, 'key'>, asOf?: string): Promise<Answer['body']> {
  const query = asOf === undefined ? '' : `?as_of=${asOf}`;
  const { status, body } = await call(`${app.url}/v1/affiliates/ledger${query}`, key);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** Whether somebody waits for what that backend holds. */
async function isWaitedFor(pid: number): Promise<boolean> {
  const { rowCount } = await session.query('select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [pid]);
  return rowCount !== 0;
}

describe('recorded_at', () => {
  it('follows seq, even for entries whose time is before the last one’s', async () => {
    const ledger = await open();
    const times = ['10:00:00', '09:00:00', '09:59:59.999', '10:00:00.001'].map(at);
    for (const time of times) {
      await post(app, ledger.brandId, [sale(ledger.link, time, 100, 10), sale(ledger.link, time, 100, 10)], time);
    }
    const { data } = await read(ledger);
    const recorded = data.map((entry: { recorded_at: string }) => entry.recorded_at).reverse();
    const first = Array.from({ length: 6 }, () => at('10:00:00').toISOString());
    expect(recorded).toEqual([...first, ...Array.from({ length: 2 }, () => at('10:00:00.001').toISOString())]);
    // The event itself stays at its own time.
    const sold = data.map((entry: { postings: { at: string }[] }) => entry.postings[0]?.at).reverse();
    expect(sold).toEqual(times.flatMap((time) => [time.toISOString(), time.toISOString()]));
  });
});

describe('the ledger as of a time', () => {
  it('stays the same when a change that had begun earlier commits later', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const { id } = await makeSale(app.context, brand);
    await session.query('begin');
    const { rows } = await session.query('select pg_backend_pid() as pid');
    await session.query('select seq from outbox_numbers where brand_id = $1 for update', [brand.id]);
    const approved = send(`${app.url}/v1/affiliates/commissions/${id}`, key, 'PATCH', { status: 'approved' });
    approved.catch(() => undefined);
    await until('the approval to wait', () => isWaitedFor(rows[0].pid));
    const asOf = new Date().toISOString();
    const requested = read({ key }, asOf);
    requested.catch(() => undefined);
    await until('a moment to pass', () => new Date().toISOString() > asOf);
    await session.query('rollback');
    const first = await requested;
    expect((await approved).status).toBe(200);
    expect(await read({ key }, asOf)).toEqual(first);
    const { data } = await read({ key });
    expect(data[0].kind).toBe('approval');
    expect(data[0].recorded_at > asOf).toBe(true);
  });

  it.each([undefined, '2099-01-01'])(
    'waits for entries that are being recorded, and returns its time: as_of=%s',
    async (asOf) => {
      const ledger = await open();
      await post(app, ledger.brandId, [sale(ledger.link, new Date(), 100, 10)]);
      const actor = { brandId: ledger.brandId, keyId: null, operation: 'test', requestId: null };
      const trx = await app.context.postgres.db.startTransaction().execute();
      await inTransaction(trx, systemClock, actor, async (work) => work.post(sale(ledger.link, work.now, 50, 5)));
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
      const requested = read(ledger, asOf);
      requested.catch(() => undefined);
      await until('the answer to wait', () => isWaitedFor(rows[0]?.pid ?? 0));
      await trx.commit().execute();
      const first = await requested;
      expect(first.data).toHaveLength(2);
      expect(Date.parse(first.summary.as_of)).toBeLessThanOrEqual(Date.now());
      await post(app, ledger.brandId, [sale(ledger.link, new Date(), 1, 1)]);
      expect(await read(ledger, first.summary.as_of)).toEqual(first);
    },
  );

  it('is the same whenever it is requested again, during concurrent changes', async () => {
    const ledger = await open();
    const actor = { brandId: ledger.brandId, keyId: null, operation: 'test', requestId: null };
    const write = async () => {
      await app.context.postgres.db.transaction().execute(async (trx) => {
        await inTransaction(trx, systemClock, actor, async (work) => work.post(sale(ledger.link, work.now, 7, 1)));
      });
    };
    const answers: Awaited<ReturnType<typeof read>>[] = [];
    await meanwhile(6, write, async () => {
      for (let i = 0; i < 40; i += 1) answers.push(await read(ledger));
    });
    for (const answer of answers) expect(await read(ledger, answer.summary.as_of)).toEqual(answer);
  });
});
