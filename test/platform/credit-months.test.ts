import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Balance,
  type ChargeEntry,
  insertEntries,
  insertGrant,
  sumEntries,
} from '../../src/kit/access/credits/entries.ts';
import { listMonths, makeMonths, sumMonth, verifyMonths } from '../../src/kit/access/credits/months.ts';
import { periodAt } from '../../src/kit/access/credits/period.ts';
import { getSubscription } from '../../src/kit/access/keys/callers.ts';
import { migratePostgres } from '../../src/kit/engines/postgres/migrate.ts';
import { DAY_MS, HOUR_MS } from '../../src/kit/values/duration.ts';
import { newId } from '../../src/kit/values/ids.ts';
import { seeded } from '../harness/affiliates/store-life.ts';
import { makeBrand, startApp, type TestApp, type TestBrand } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { testSeed } from '../harness/kit/random-runs.ts';
import { openClock } from '../harness/platform/webhooks.ts';
import { runCli } from '../harness/process/cli.ts';

let database: TestDatabase;
let app: TestApp;
const clock = openClock();

beforeAll(async () => {
  database = await makeDatabase('months');
  app = await startApp({ urls: { postgres: database.url }, clock });
  await migratePostgres(app.context.postgres.db);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const db = () => app.context.postgres.db;

async function query<Row = { n: number }>(text: string, values: unknown[] = []): Promise<Row[]> {
  const session = await database.open();
  const { rows } = await session.query(text, values);
  await session.end();
  return rows;
}

async function keyOf(brand: TestBrand): Promise<string> {
  await brand.key('data');
  const [key] = await query<{ id: string }>("select id from api_keys where brand_id = $1 and kind = 'data'", [
    brand.id,
  ]);
  return key?.id ?? '';
}

/** Random charges and refunds of several brands, and the balance that each of their billing months should have. */
async function openHistory(seed: number) {
  const chance = seeded(seed);
  const below = (most: number) => Math.floor(chance() * most);
  const brands: { subscription: Awaited<ReturnType<typeof getSubscription>>; keyId: string }[] = [];
  for (let i = 0; i < 3; i += 1) {
    // Their months begin on different days.
    clock.advance(below(9) * DAY_MS);
    const brand = await makeBrand(app.context);
    const subscription = await getSubscription(db(), brand.subscriptionIds.data);
    brands.push({ subscription, keyId: await keyOf(brand) });
  }
  const known = new Map<string, ChargeEntry>();
  const expected = new Map<string, Balance & { subscriptionId: string; start: Date }>();

  function note(entry: ChargeEntry): void {
    const name = `${entry.kind} ${entry.chargeId}`;
    if (known.has(name)) return;
    known.set(name, entry);
    const balance = expected.get(`${entry.subscriptionId} ${entry.periodStart.toISOString()}`);
    if (!balance) throw new Error('The period was granted nothing.');
    if (entry.kind === 'charge') balance.charged += entry.credits;
    else if (known.has(`charge ${entry.chargeId}`)) balance.refunded += entry.credits;
    balance.remaining = balance.granted - balance.charged + balance.refunded;
  }

  async function grant(subscriptionId: string, start: Date): Promise<void> {
    const name = `${subscriptionId} ${start.toISOString()}`;
    await insertGrant(db(), { subscriptionId, periodStart: start, reason: 'period', credits: 1_000, at: clock.now() });
    if (expected.has(name)) return;
    expected.set(name, { subscriptionId, start, granted: 1_000, charged: 0, refunded: 0, remaining: 1_000 });
  }

  /** Some calls of the past days. A few are written twice, as after a worker's crash; a few refunds have no charge. */
  async function use(days: number): Promise<void> {
    const entries: ChargeEntry[] = [];
    for (let n = 0; n < 40; n += 1) {
      const { subscription, keyId } = brands[below(brands.length)] ?? {};
      if (!subscription || !keyId) continue;
      const at = new Date(clock.now().getTime() - below(days * 24) * HOUR_MS);
      if (at < subscription.anchorAt) continue;
      const { start } = periodAt(subscription.anchorAt, at);
      await grant(subscription.id, start);
      const charge: ChargeEntry = {
        ...{ chargeId: newId('chg', at.getTime()), kind: 'charge', subscriptionId: subscription.id, keyId },
        ...{ credits: 1 + below(5), periodStart: start, requestId: chance() < 0.5 ? `req_${n}` : null, occurredAt: at },
      };
      const isCharged = chance() < 0.9;
      if (isCharged) entries.push(charge);
      if (chance() < 0.3) entries.push({ ...charge, kind: 'refund', occurredAt: clock.now() });
      if (isCharged && chance() < 0.1) entries.push(charge);
    }
    for (const entry of entries) note(entry);
    await insertEntries(db(), entries.slice(0, entries.length / 2));
    await insertEntries(db(), entries);
  }

  return { chance, use, expected: () => [...expected.values()] };
}

async function balances(expected: readonly { subscriptionId: string; start: Date }[]) {
  const found = [];
  for (const { subscriptionId, start } of expected) {
    found.push({ subscriptionId, start, ...(await sumEntries(db(), subscriptionId, start)) });
  }
  return found;
}

describe('Credits over months', () => {
  it('have exact balances, whenever months get partitions, are summed and lose their entries', async () => {
    const history = await openHistory(testSeed);
    // What is there before the first partition stays where it is.
    await history.use(1);
    let emptied = 0;
    for (let turn = 0; turn < 20; turn += 1) {
      // Now and then no worker runs for months.
      if (history.chance() < 0.7) await makeMonths(db(), clock.now());
      await history.use(20);
      for (const month of await listMonths(db())) {
        const isEmptied = history.chance() < 0.5;
        emptied += await sumMonth(db(), clock.now(), month, { isEmptied }).then(
          () => (isEmptied ? 1 : 0),
          (error: Error) => {
            expect(error.message, `seed ${testSeed}`).toContain('can be summed from');
            return 0;
          },
        );
      }
      const expected = history.expected();
      expect(await balances(expected), `seed ${testSeed}, turn ${turn}`).toEqual(expected);
      clock.advance((10 + Math.floor(history.chance() * 30)) * DAY_MS);
    }
    expect(emptied).toBeGreaterThan(0);
    const verified = await verifyMonths(db());
    expect(
      verified.flatMap(({ problems }) => problems),
      `seed ${testSeed}`,
    ).toEqual([]);
    await makeMonths(db(), clock.now());
    const inLater = await query('select count(*)::int as n from credit_entries_later');
    expect(inLater).toEqual([{ n: 0 }]);
  });

  it('lose no entry that is written while partitions are made', async () => {
    const brand = await makeBrand(app.context);
    const keyId = await keyOf(brand);
    const subscriptionId = brand.subscriptionIds.data;
    const periodStart = clock.now();
    const writes = Array.from({ length: 40 }, async (_, n) => {
      const at = new Date(clock.now().getTime() + n * 3 * DAY_MS);
      const entry = { subscriptionId, keyId, credits: 1, periodStart, requestId: null, occurredAt: at };
      await insertEntries(db(), [{ ...entry, kind: 'charge', chargeId: newId('chg', at.getTime()) }]);
    });
    await Promise.all([makeMonths(db(), new Date(clock.now().getTime() + 90 * DAY_MS)), ...writes]);
    expect((await sumEntries(db(), subscriptionId, periodStart)).charged).toBe(40);
  });

  it('ignore an entry that comes again after its month was emptied', async () => {
    const [month] = await query<{ month: string }>(
      'select month from credit_months where emptied_at is not null and entries > 0 order by month limit 1',
    );
    const [sums] = await query<{ subscription_id: string; period_start: Date }>(
      'select subscription_id, period_start from credit_sums where month = $1 limit 1',
      [month?.month],
    );
    if (!month || !sums) throw new Error('No month was emptied.');
    const keyId = await keyOf(await makeBrand(app.context));
    const before = await sumEntries(db(), sums.subscription_id, sums.period_start);
    const at = Date.parse(`${month.month}-15`);
    await insertEntries(db(), [
      {
        ...{ chargeId: newId('chg', at), kind: 'charge', subscriptionId: sums.subscription_id, keyId },
        ...{ credits: 7, periodStart: sums.period_start, requestId: null, occurredAt: new Date(at) },
      },
    ]);
    expect(await sumEntries(db(), sums.subscription_id, sums.period_start)).toEqual(before);
  });
});

describe('cli credits', () => {
  const cli = (...args: string[]) => runCli(['credits', ...args], { DATABASE_URL: database.url });

  it('sums a month, empties it, and proves a copy of its entries; an edited copy or sum is reported', async () => {
    const brand = await makeBrand(app.context);
    // Real time, which commands use.
    const month = new Date(Date.now() - 120 * DAY_MS).toISOString().slice(0, 7);
    const table = `credit_entries_${month.replace('-', '_')}`;
    const at = Date.parse(`${month}-10`);
    const entry = {
      ...{ subscriptionId: brand.subscriptionIds.data, keyId: await keyOf(brand), credits: 3 },
      ...{ periodStart: new Date(at), requestId: null, occurredAt: new Date(at) },
    };
    // As an installation that had partitions then.
    await query(
      `create table ${table} partition of credit_entries for values from ('${newId('chg', Date.parse(`${month}-01`)).slice(0, 12)}')
        to ('${newId('chg', Date.parse(`${month}-28`)).slice(0, 12)}')`,
    );
    await insertEntries(db(), [
      { ...entry, kind: 'charge', chargeId: newId('chg', at) },
      { ...entry, kind: 'charge', chargeId: newId('chg', at + 1) },
    ]);
    const summed = await sumMonth(db(), clock.now(), month, { isEmptied: false });
    expect(summed).toMatchObject({ month, entries: 2, charged: 6, refunded: 0, emptiedAt: null });
    await query(`create table copied as select * from ${table}`);
    const [emptied] = JSON.parse((await cli('sum', month, '--empty', '--json')).out);
    expect(emptied).toMatchObject({ charged: 6, sha256: summed.sha256, emptied_at: expect.any(String) });
    expect(await query(`select count(*)::int as n from ${table}`)).toEqual([{ n: 0 }]);
    expect(await verifyMonths(db(), { month, table: 'copied' })).toMatchObject([{ month, problems: [] }]);

    await query('update copied set credits = 4');
    await query('update credit_sums set entries = 5 where month = $1', [month]);
    const { status, said } = await cli('verify', '--month', month, '--copy', 'copied');
    expect(status).toBe(1);
    expect(said).toContain(`${month}  The sums of ${brand.id} differ from the entries in copied.`);
    expect(said).toContain(`${month}  The sums have the hash`);
    const current = clock.now().toISOString().slice(0, 7);
    await expect(sumMonth(db(), clock.now(), current, { isEmptied: true })).rejects.toThrow('can be summed from');
  });
});
