import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Desk, LINKS, openDesk } from '../../harness/affiliates/affiliates.ts';
import { approvalsOf, codeOf } from '../../harness/affiliates/paying.ts';
import { balancesOf, makeAssignment, makeSale, orderFacts, report } from '../../harness/affiliates/sales.ts';
import { type Answer, send, startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { listEvents } from '../../harness/workflow/applying.ts';

/** These tests lock whole tables. */
let database: TestDatabase;
/** Another caller's transaction, held open. */
let session: pg.Client;
let app: TestApp;
let desk: Desk;

beforeAll(async () => {
  database = await makeDatabase('deadlocks');
  session = await database.open();
  // Ours is the one that finds the deadlock, and there is time to make it.
  await session.query(`alter database ${new URL(database.url).pathname.slice(1)} set deadlock_timeout = '6s'`);
  await session.query("set deadlock_timeout = '1min'");
  app = await startApp({ urls: { postgres: database.url } });
  desk = await openDesk(app);
});
afterAll(async () => {
  await session?.end();
  await app?.close();
  await database?.drop();
});

/** Until so many of our statements wait: for another transaction to end, or for an advisory lock. */
async function waiting(count: number, what: 'transactionid' | 'advisory'): Promise<void> {
  const sql = `select count(*)::int as count from pg_locks join pg_stat_activity using (pid)
    where not granted and locktype = $1 and datname = current_database()`;
  const watcher = await database.open();
  await until(`${count} waiting statements`, async () => (await watcher.query(sql, [what])).rows[0].count === count);
  await watcher.end();
}

const auditsOf = async (operation: string): Promise<number> => {
  const sql = 'select count(*)::int as count from audit_log where brand_id = $1 and operation = $2';
  return (await session.query(sql, [desk.brand.id, operation])).rows[0].count;
};

/** Updates of links wait for an advisory lock when their row is written and the index of values is not yet. */
async function waitBeforeValue(): Promise<void> {
  const { rows } = await session.query("select indexdef from pg_indexes where indexname = 'links_value'");
  await session.query(`drop index links_value;
    create function hold(value text) returns text language plpgsql immutable as $$ begin
      perform pg_advisory_xact_lock_shared(1);
      return value;
    end $$;
    create index links_held on links (hold(value));
    ${rows[0].indexdef}`);
}

describe('a deadlock', () => {
  it('is resolved so that the change happens once, with its answer, events, ledger and audit entries', async () => {
    const assignment = await makeAssignment(app.context, desk.brand);
    const sales = [await makeSale(app.context, desk.brand, { assignment })];
    sales.push(await makeSale(app.context, desk.brand, { assignment }));
    const [first = '', second = ''] = sales.map(({ id }) => id).sort();
    await session.query('begin');
    await session.query('select 1 from commissions where id = $1 for update', [second]);
    const key = await desk.brand.key('brand');
    const review = { event_ids: [first, second], status: 'approved' };
    const approve = () => send(`${app.url}/v1/commissions`, key, 'POST', review, { 'idempotency-key': 'deadlock' });
    const approving = approve();
    await waiting(1, 'transactionid');
    await session.query('select 1 from commissions where id = $1 for update', [first]);
    // It has the row that ours held: ours was ended.
    await session.query('commit');
    const { status, body, headers } = await approving;
    expect([status, body]).toEqual([200, { data: { updated: 2 } }]);
    expect(headers.has('idempotency-replayed')).toBe(false);
    expect((await approve()).headers.get('idempotency-replayed')).toBe('true');
    expect((await approvalsOf(app, desk.brand)).sort()).toEqual([first, second]);
    expect(await auditsOf('review_commissions')).toBe(2);
    expect(await balancesOf(app.context, desk.brand)).toMatchObject({ commission_approved: -2_000 });
  });

  it('between two links that swap their values gives both a 409, whichever PostgreSQL ends, and both keep their values', async () => {
    const link = () => desk.made({ type: 'link', value: unique('swap'), destination_url: 'https://shop.example' });
    const [one, two] = [await link(), await link()];
    const rename = (id: string, value: string) => desk.send('PATCH', `${LINKS}/${id}`, { value });
    await waitBeforeValue();
    for (let round = 0; round < 3; round += 1) {
      await session.query('select pg_advisory_lock(1)');
      const swapping = [rename(one.id, two.value), rename(two.id, one.value)];
      await waiting(2, 'advisory');
      await session.query('select pg_advisory_unlock(1)');
      await waiting(2, 'transactionid');
      const answers = await Promise.all(swapping);
      expect(answers.map(codeOf)).toEqual(Array(2).fill([409, 'DUPLICATE_CODE']));
    }
    for (const { id, value } of [one, two]) {
      expect((await desk.get(`${LINKS}/${id}`)).body.data.value).toBe(value);
    }
    expect(await auditsOf('update_affiliate_link')).toBe(0);
  });
});

/** Ends every statement that changes a table, the first `times` of them, as PostgreSQL ends one of a deadlock. */
async function fail(table: string, code: string, times: number): Promise<void> {
  await session.query(`create sequence tried;
    create function fail() returns trigger language plpgsql as $$ begin
      if nextval('tried') > ${times} then return new; end if;
      raise exception 'ended for others' using errcode = '${code}';
    end $$;
    create trigger fail before insert or update on ${table} for each row execute function fail()`);
}
async function repair(): Promise<number> {
  const { rows } = await session.query('select last_value::int as tries from tried');
  await session.query('drop function fail cascade; drop sequence tried');
  return rows[0].tries;
}

function expectUnavailable(answer: Answer): void {
  expect(codeOf(answer)).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
}

describe.each(['40P01', '40001'])('a transaction that PostgreSQL ends with %s', (code) => {
  it('every time is 503 after a few attempts, changes nothing, and works when it is sent again', async () => {
    const key = await desk.brand.key('brand');
    const make = () => send(`${app.url}/v1/campaigns`, key, 'POST', { name: 'x' }, { 'idempotency-key': code });
    await fail('campaigns', code, 100);
    expectUnavailable(await make());
    expect(await repair()).toBe(4);
    const again = await make();
    expect([again.status, again.headers.has('idempotency-replayed')]).toEqual([201, false]);
  });

  it('three times still records a store’s order once', async () => {
    const assignment = await makeAssignment(app.context, desk.brand);
    const before = (await listEvents(app, desk.brand.id)).length;
    await fail('commissions', code, 3);
    await report(app.context, assignment, orderFacts(new Date(), { codes: [assignment.code] }));
    expect(await repair()).toBe(4);
    const events = (await listEvents(app, desk.brand.id)).slice(before);
    expect(events.map(({ event }) => event)).toEqual(['commission.created']);
  });
});
