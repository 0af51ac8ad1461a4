import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mailReports } from '../../src/analytics/reports/reports.jobs.ts';
import { DAY_MS } from '../../src/kit/values/duration.ts';
import { newId } from '../../src/kit/values/ids.ts';
import { daysAfter, timeIn } from '../../src/kit/values/time-zone.ts';
import { insertPerson } from '../../src/platform/people/people.ts';
import { jobOf, rowsOf, runJobs, startExport } from '../harness/analytics/exporting.ts';
import { postAndSync, putAssignment, sale } from '../harness/analytics/figures.ts';
import { call, made, makeBrand, send, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../harness/database.ts';
import { mailsOf } from '../harness/kit/mail.ts';
import { testSeed } from '../harness/kit/random-runs.ts';

/** Zones off the hour, with days of 23, 23.5, 24.5 and 25 hours, and the days around which their clocks change. */
const ZONES = [
  ['Australia/Sydney', '2026-04-05'],
  ['Asia/Kathmandu', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Pacific/Chatham', '2026-04-05'],
  ['Africa/Cairo', '2026-04-24'],
  ['America/New_York', '2026-03-08'],
] as const;
const ROBIN = 'robin@acme.example';
/** Days of each zone, with two reports each. */
const DAYS = 1;
const ORDERS = 8 * (DAYS + 4);

const clock = { at: Date.parse('2026-01-10T12:00:00Z') + randomInt(3_600_000), now: () => new Date(clock.at) };
let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await makeDatabase('one_sum');
  app = await startApp({ urls: { postgres: database.url, redis: ownRedis() }, clock });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

let state = testSeed % 2_147_483_647 || 1;
const draw = (below: number): number => {
  state = (state * 48_271) % 2_147_483_647;
  return state % below;
};

/** Sales at random minutes around a day, and at the edges of the zone's days. */
function drawSales(zone: string, first: string) {
  const edges = Array.from({ length: DAYS }, (_, i) => timeIn(zone, daysAfter(first, i)).getTime());
  const start = (edges[0] ?? 0) - 2 * DAY_MS;
  const random = Array.from({ length: ORDERS }, () => start + draw((DAYS + 4) * 24 * 60) * 60_000);
  const times = [...random, ...edges.flatMap((at) => [at - 1, at])];
  return times.map((at) => ({ at: new Date(at), minor: 100 + draw(100_000) }));
}

async function makeReader(zone: string) {
  const brand = await makeBrand(app.context);
  const person = { id: newId('per', clock.at), brandId: brand.id, email: ROBIN, name: null, role: 'owner' as const };
  await insertPerson(app.context.postgres.db, { ...person, createdAt: clock.now() });
  const key = await brand.key('brand');
  // Every other brand has its reports in another zone than its own.
  const isOwn = draw(2) === 0;
  await send(`${app.url}/v1/brand`, key, 'PATCH', { settings: { time_zone: isOwn ? zone : 'UTC' } });
  return { brand, key, isOwn };
}

const toCents = (major: number) => Math.round(major * 100);
const dollars = (text: string | undefined) =>
  toCents(Number((/\$([\d,.]+?\d)(?= |$)/m.exec(text ?? '')?.[1] ?? '0').replaceAll(',', '')));

describe('a sum', () => {
  it.each(ZONES)(
    'of %s is one in the mail, on its page, by the API, in its CSV and in the export',
    async (zone, day) => {
      const first = daysAfter(day, -Math.floor(DAYS / 2));
      clock.at = timeIn(zone, first).getTime() + 12 * 3_600_000 + randomInt(3_600_000);
      const { brand, key, isOwn } = await makeReader(zone);
      const more = isOwn ? {} : { time_zone: zone };
      const link = await putAssignment(app, brand.id);
      const sales = drawSales(zone, first);
      await postAndSync(
        app,
        brand.id,
        sales.map(({ at, minor }) => sale(link, at, minor, Math.floor(minor / 10))),
      );
      const report = { every: 'day', at: '12:00', timezone: zone, to: [ROBIN] };
      await made(`${app.url}/v1/reports`, key, { ...report, operation: 'analytics', name: 'Totals' });
      await made(`${app.url}/v1/reports`, key, {
        ...{ ...report, operation: 'breakdown', name: 'Creators', parameters: { by: 'creator' } },
      });
      for (let i = 0; i < DAYS; i += 1) {
        clock.at = timeIn(zone, daysAfter(first, i + 1), '23:00').getTime();
        await mailReports.run(app.context);
      }
      const last = daysAfter(first, DAYS - 1);
      const mails = await mailsOf(app.context, brand.id);
      expect(mails).toHaveLength(2 * DAYS);
      const started = await startExport(app, key, {
        ...{ of: 'performance', format: 'ndjson', from: first, to: last, ...more },
      });
      await runJobs(app);
      const exported = await rowsOf(app, await jobOf(app, key, started.id));
      const read = async (path: string) => (await send(`${app.url}${path}`, key, 'GET')).body;
      let total = 0;
      for (const mail of mails) {
        const shown = new URL(/https?:\S+\/app\/\S+/.exec(mail.text)?.[0] ?? '');
        const query = shown.searchParams;
        const on = query.get('from') ?? '';
        expect([query.get('to'), query.get('time_zone')]).toEqual([on, isOwn ? null : zone]);
        expect(mail.text.replaceAll(/\s+/g, ' ').includes(` in ${zone}, compared`)).toBe(!isOwn);
        // A key may make 100 calls a minute.
        clock.at += 10_000;
        const inside = { from: timeIn(zone, on), until: timeIn(zone, daysAfter(on, 1)) };
        const right = sales.reduce(
          (sum, { at, minor }) => sum + (at >= inside.from && at < inside.until ? minor : 0),
          0,
        );
        const page = `from=${on}&to=${on}${isOwn ? '' : `&time_zone=${zone}`}`;
        const api = await read(`/v1/analytics?${page}`);
        const rows = await read(`/v1/analytics/breakdown?by=creator&${page}`);
        const csv = await call(`${app.url}/v1/analytics/breakdown?by=creator&${page}`, key, {
          headers: { accept: 'text/csv' },
        });
        const [header = '', row = ''] = csv.body.trim().split('\n');
        const cents = Number(row.split(',')[header.split(',').indexOf('revenue_minor')] ?? 0);
        const sums = {
          mail: dollars(mail.subject),
          api: toCents(api.summary.total_revenue),
          rows: rows.data.reduce((sum: number, one: { revenue_minor: number }) => sum + one.revenue_minor, 0),
          csv: row === '' ? 0 : cents,
          export: exported.reduce((sum, one) => sum + (one.day === on ? Number(one.sales_minor) : 0), 0),
        };
        expect([on, sums]).toEqual([on, { mail: right, api: right, rows: right, csv: right, export: right }]);
        expect(api.time_zone ?? api.period.time_zone).toBe(zone);
        total += right;
      }
      const period = await read(`/v1/analytics?from=${first}&to=${last}${isOwn ? '' : `&time_zone=${zone}`}`);
      expect(2 * toCents(period.summary.total_revenue)).toBe(total);
    },
  );
});
