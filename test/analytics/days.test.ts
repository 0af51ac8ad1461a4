import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { orderFacts, report } from '../harness/affiliates/sales.ts';
import { compareDays, type Story, tellStory } from '../harness/analytics/days-oracle.ts';
import { sync } from '../harness/analytics/figures.ts';
import { send, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';

/** The changes of the clocks of these zones in 2026. */
const SPRING = '2026-03-29T00:00Z';
const CAIRO = '2026-04-24T00:00Z';
const LORD_HOWE = '2026-04-05T00:00Z';

let database: TestDatabase;
let app: TestApp;
let story: Story;
beforeAll(async () => {
  database = await makeDatabase('days');
  app = await startApp({ urls: { postgres: database.url, redis: ownRedis() } });
  story = await tellStory(app, 400, [SPRING, LORD_HOWE, CAIRO]);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const setZone = (key: string, time_zone: string) =>
  send(`${app.url}/v1/brand`, key, 'PATCH', { settings: { time_zone } });

describe('figures of days', () => {
  it.each([
    ['UTC', '2026-03-26', '2026-04-08'],
    ['Europe/Berlin', '2026-03-26', '2026-04-08'],
    ['Asia/Kathmandu', '2026-03-28', '2026-04-01'],
    ['Australia/Lord_Howe', '2026-04-03', '2026-04-06'],
    ['Africa/Cairo', '2026-04-22', '2026-04-26'],
    ['Pacific/Kiritimati', '2026-04-24', '2026-04-24'],
  ])('are those of the days of %s, also where clocks are set or differ by minutes', async (name, from, to) => {
    await compareDays(app, story, { name, isBrands: false }, { from, to });
  });

  it("are those of the brand's zone without a `time_zone`, at once after it changed", async () => {
    const days = { from: '2026-03-28', to: '2026-03-30' };
    for (const name of ['America/New_York', 'Asia/Kolkata', 'UTC']) {
      expect((await setZone(story.key, name)).body.data.settings.time_zone).toBe(name);
      await compareDays(app, story, { name, isBrands: true }, days);
    }
    const utc = `${app.url}/v1/affiliates/performance?date_from=2026-03-28&date_to=2026-03-30`;
    const before = await send(utc, story.key, 'GET');
    await setZone(story.key, 'Australia/Sydney');
    expect((await send(utc, story.key, 'GET')).body).toEqual(before.body);
    await setZone(story.key, 'UTC');
  });

  it('end with today there, and compare with as many days before', async () => {
    const path = `${app.url}/v1/analytics?compare=previous&time_zone=Pacific/Kiritimati`;
    const { body } = await send(path, story.key, 'GET');
    const today = new Date(app.context.clock.now().getTime() + 14 * 3_600_000).toISOString().slice(0, 10);
    expect(body.period.to).toBe(today);
    const spring = `${app.url}/v1/analytics?compare=previous&time_zone=Europe/Berlin&from=2026-03-29&to=2026-03-31`;
    expect((await send(spring, story.key, 'GET')).body.previous.period).toEqual({
      from: '2026-03-26',
      to: '2026-03-28',
    });
  });

  it('refuse offsets and names that are no zone, and say which field', async () => {
    for (const zone of ['%2B05:30', 'Mars/Olympus']) {
      for (const path of ['analytics', 'analytics/breakdown', 'analytics/share', 'affiliates/performance']) {
        const { status, body } = await send(`${app.url}/v1/${path}?time_zone=${zone}`, story.key, 'GET');
        expect([path, status, body.details?.[0]?.field]).toEqual([path, 422, 'time_zone']);
      }
    }
  });

  it("have an order of tonight on the brand's day where it is another than UTC's", async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const now = app.context.clock.now();
    const hour = now.getUTCHours();
    const ahead = hour >= 10 ? 24 - hour : -(hour + 1);
    await setZone(key, ahead > 0 ? `Etc/GMT-${ahead}` : `Etc/GMT+${-ahead}`);
    await report(app.context, assignment, orderFacts(now, { codes: [assignment.code] }));
    await sync(app, brand.id);
    const day = new Date(now.getTime() + ahead * 3_600_000).toISOString().slice(0, 10);
    expect(day).not.toBe(now.toISOString().slice(0, 10));
    const read = async (more: string) =>
      (await send(`${app.url}/v1/analytics?from=${day}&to=${day}${more}`, key, 'GET')).body.summary.total_revenue;
    expect([await read(''), await read(`&link=${assignment.linkId}`), await read('&time_zone=UTC')]).toEqual([
      100, 100, 0,
    ]);
    const customers = await send(`${app.url}/v1/analytics/customers?from=${day}&to=${day}`, key, 'GET');
    expect(customers.body.data).toMatchObject([{ orders: 1, new_customers: 1 }]);
    const share = await send(`${app.url}/v1/analytics/share?from=${day}&to=${day}`, key, 'GET');
    expect(share.body.data).toMatchObject({ orders: 1, attributed_orders: 1 });
    const cohorts = await send(`${app.url}/v1/analytics/cohorts?by=week`, key, 'GET');
    expect(cohorts.body.data).toMatchObject([{ customers: 1, values: [1] }]);
  });
});
