import { randomInt } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mailReports } from '../../src/analytics/reports/reports.jobs.ts';
import type { NewEntry } from '../../src/kit/outbox/ledger-entry.ts';
import { newId } from '../../src/kit/values/ids.ts';
import { insertPerson } from '../../src/platform/people/people.ts';
import { postAndSync, putAssignment, sale } from '../harness/analytics/figures.ts';
import { made, makeBrand, send, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { mailsOf } from '../harness/kit/mail.ts';

const DAY_MS = 86_400_000;
const clock = { at: 0, now: () => new Date(clock.at) };
const ROBIN = 'robin@acme.example';
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('reports');
  app = await startApp({ urls: { postgres: database.url }, clock });
});
// The clock of the next test is another: what this one made would be due.
afterEach(async () => {
  await app.context.postgres.db.deleteFrom('reports').execute();
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const setClock = (text: string) => {
  clock.at = Date.parse(text);
};

/** A brand with one person. */
async function makeReader(at: string) {
  setClock(at);
  const brand = await makeBrand(app.context);
  const person = { id: newId('per', clock.at), brandId: brand.id, email: ROBIN, name: null, role: 'owner' as const };
  await insertPerson(app.context.postgres.db, { ...person, createdAt: clock.now() });
  return { brand, personId: person.id, key: await brand.key('brand') };
}

const create = (key: string, body: object) => made(`${app.url}/v1/reports`, key, { to: [ROBIN], ...body });

/** At another moment in each run: ClickHouse drops a batch that has the number and time of an earlier one. */
async function record(brandId: string, entries: readonly NewEntry[]): Promise<void> {
  clock.at += randomInt(3_600_000);
  await postAndSync(app, brandId, entries);
}

/** What two workers do at a time. */
async function sweepAt(text: string): Promise<void> {
  setClock(text);
  await Promise.all([mailReports.run(app.context), mailReports.run(app.context)]);
}

/** The periods that were mailed, the first one first. */
async function periodsOf(brandId: string): Promise<string[]> {
  const mails = await app.context.postgres.db
    .selectFrom('mails')
    .select('subjectRow')
    .where('brandId', '=', brandId)
    .where('kind', '=', 'report')
    .execute();
  return mails.map(({ subjectRow }) => subjectRow.split(':').slice(1).join(' ')).toSorted();
}

describe('a report', () => {
  it('mails the figures of the day that ended in its time zone, their change, and a link', async () => {
    const { brand, key } = await makeReader('2026-03-10T12:00:00Z');
    const report = await create(key, { operation: 'analytics', every: 'day', at: '07:30', timezone: 'Europe/Berlin' });
    expect(report).toMatchObject({ next_at: '2026-03-11T06:30:00.000Z', last_sent_at: null, to: [ROBIN] });
    const link = await putAssignment(app, brand.id);
    await record(brand.id, [
      // 00:30 on the 10th in Berlin, and 23:30 on that day.
      sale(link, new Date('2026-03-09T23:30:00Z'), 4_000, 400),
      sale(link, new Date('2026-03-10T22:30:00Z'), 8_000, 800),
      sale(link, new Date('2026-03-10T23:30:00Z'), 77_700, 7_770),
      sale(link, new Date('2026-03-09T22:30:00Z'), 10_000, 1_000),
    ]);
    await sweepAt('2026-03-11T06:29:59Z');
    expect(await mailsOf(app.context, brand.id)).toEqual([]);
    await sweepAt('2026-03-11T12:31:00Z');
    const [mail, ...others] = await mailsOf(app.context, brand.id);
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ to: ROBIN, subject: 'Daily analytics: Revenue $120.00 (up 20% from $100.00)' });
    expect(mail?.text).toContain(
      'Totals of all creators, March 10, 2026 in Europe/Berlin, compared with the day before.',
    );
    expect(mail?.text).toContain(
      'Orders: 2 (up 100% from 1)\nClicks: 0 (no change)\nCommission: $12.00 (up 20% from $10.00)',
    );
    expect(mail?.text).toContain('/app/analytics?from=2026-03-10&to=2026-03-10');
    const { body } = await send(`${app.url}/v1/reports/${report.id}`, key, 'GET');
    expect(body.data).toMatchObject({ next_at: '2026-03-12T06:30:00.000Z', last_sent_at: '2026-03-11T12:31:00.000Z' });
  });

  it('of rows mails the first ones, each beside itself in the period before', async () => {
    const { brand, key } = await makeReader('2026-03-11T12:00:00Z');
    const performance = { operation: 'performance', every: 'week', timezone: 'UTC', name: 'Monday figures' };
    await create(key, performance);
    const parametersOf = {
      ...{ breakdown: { by: 'country', sort: 'orders', device: 'mobile' }, customers: {}, returns: { by: 'link' } },
      share: {},
    };
    for (const [operation, parameters] of Object.entries(parametersOf)) {
      await create(key, { operation, parameters, every: 'month', timezone: 'UTC' });
    }
    const link = await putAssignment(app, brand.id);
    await record(brand.id, [
      sale(link, new Date('2026-03-03T10:00:00Z'), 20_000, 2_000),
      sale(link, new Date('2026-03-12T10:00:00Z'), 10_000, 1_000),
    ]);
    await sweepAt('2026-03-16T15:00:00Z');
    const [mail] = await mailsOf(app.context, brand.id);
    expect(mail?.subject).toBe('Monday figures: Revenue in USD $100.00 (down 50% from $200.00)');
    await sweepAt('2026-04-01T15:00:00Z');
    const subjects = (await mailsOf(app.context, brand.id)).map(({ subject }) => subject);
    expect(subjects.filter((one) => one.startsWith('Monthly '))).toHaveLength(4);
    const links = (await mailsOf(app.context, brand.id)).flatMap(({ text }) => /\/app\/\S+/.exec(text) ?? []);
    expect(links).toContain('/app/analytics?of=country&sort=orders&device=mobile&from=2026-03-01&to=2026-03-31');
    expect(links).toContain('/app/returns?by=link&from=2026-03-01&to=2026-03-31');
    expect(await periodsOf(brand.id)).toContain('month 2026-04-01');
  });

  it('mails each period once, also those that ended while no worker ran and when clocks change', async () => {
    const { brand, key } = await makeReader('2026-03-27T12:00:00Z');
    await create(key, { operation: 'share', every: 'day', timezone: 'Europe/Berlin' });
    await create(key, { operation: 'share', every: 'week', timezone: 'Europe/Berlin' });
    await create(key, { operation: 'share', every: 'month', timezone: 'Europe/Berlin' });
    for (let day = 0; day < 3; day += 1) {
      await sweepAt(new Date(Date.parse('2026-03-28T12:00:00Z') + day * DAY_MS).toISOString());
    }
    // Three days later.
    await sweepAt('2026-04-02T12:00:00Z');
    const days = ['2026-03-28', '2026-03-29', '2026-03-30', '2026-03-31', '2026-04-01', '2026-04-02'];
    const expected = [...days.map((day) => `day ${day}`), 'month 2026-04-01', 'week 2026-03-30'];
    expect(await periodsOf(brand.id)).toEqual(expected);
  });

  it('leaves out periods that ended more than 366 days ago', async () => {
    const { brand, key } = await makeReader('2024-01-01T12:00:00Z');
    await create(key, { operation: 'share', every: 'month', timezone: 'UTC' });
    await sweepAt('2026-03-02T12:00:00Z');
    const periods = await periodsOf(brand.id);
    expect([periods.length, periods[0], periods.at(-1)]).toEqual([13, 'month 2025-03-01', 'month 2026-03-01']);
  });

  it('goes to people of the brand alone, and to none who has left', async () => {
    const { brand, personId, key } = await makeReader('2026-03-10T12:00:00Z');
    const body = { operation: 'share', every: 'day', timezone: 'UTC', to: [ROBIN, 'stranger@mail.example'] };
    const refused = await send(`${app.url}/v1/reports`, key, 'POST', body);
    expect([refused.status, refused.body.details[0].field]).toEqual([422, 'to.1']);
    const report = await create(key, { ...body, to: [ROBIN] });
    const { db } = app.context.postgres;
    await db.updateTable('people').set({ removedAt: clock.now() }).where('id', '=', personId).execute();
    await sweepAt('2026-03-11T15:00:00Z');
    expect(await mailsOf(app.context, brand.id)).toEqual([]);
    const { body: answer } = await send(`${app.url}/v1/reports/${report.id}`, key, 'GET');
    expect(answer.data.next_at).toBe('2026-03-12T08:00:00.000Z');
  });

  it.each([
    [{ parameters: { from: '2026-01-01' } }, 'parameters.from'],
    [{ parameters: { limit: '3' } }, 'parameters.limit'],
    [{ parameters: { by: 'moon' } }, 'parameters.by'],
    [{ parameters: { colour: 'red' } }, 'parameters.colour'],
    [{ operation: 'ledger' }, 'operation'],
    [{ at: '25:00' }, 'at'],
    [{ timezone: 'Mars/Base' }, 'timezone'],
    [{ to: [] }, 'to'],
  ])('is refused with %j', async (wrong, field) => {
    const { key } = await makeReader('2026-03-10T12:00:00Z');
    const body = { operation: 'breakdown', every: 'day', to: [ROBIN], ...wrong };
    const { status, body: answer } = await send(`${app.url}/v1/reports`, key, 'POST', body);
    expect([status, answer.details?.[0]?.field]).toEqual([422, field]);
  });

  it('that is changed keeps the period that is due, unless its length or time zone changes', async () => {
    const { key } = await makeReader('2026-03-10T12:00:00Z');
    const { id } = await create(key, { operation: 'breakdown', every: 'day', timezone: 'UTC' });
    const change = async (body: object) => (await send(`${app.url}/v1/reports/${id}`, key, 'PATCH', body)).body.data;
    setClock('2026-03-11T07:00:00Z');
    expect((await change({ at: '09:00' })).next_at).toBe('2026-03-11T09:00:00.000Z');
    expect((await change({ parameters: { by: 'country' }, name: 'By country' })).next_at).toBe(
      '2026-03-11T09:00:00.000Z',
    );
    expect((await change({ every: 'month' })).next_at).toBe('2026-04-01T09:00:00.000Z');
    expect((await change({ timezone: 'Asia/Tokyo' })).next_at).toBe('2026-04-01T00:00:00.000Z');
    const wrong = await send(`${app.url}/v1/reports/${id}`, key, 'PATCH', { operation: 'share' });
    expect([wrong.status, wrong.body.details[0].field]).toEqual([422, 'parameters.by']);
  });
});
