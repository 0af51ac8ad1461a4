import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kit/values/ids.ts';
import { insertPerson } from '../../src/platform/people/people.ts';
import { made, makeBrand, startApp, startScript, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { mailsOf } from '../harness/kit/mail.ts';
import { longDeadlineMs } from '../run/deadline.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2025-01-01T12:00:00Z');
const END = '2026-01-02T00:00:00Z';
const clock = { now: () => new Date(START) };
const ROBIN = 'robin@acme.example';

let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('report_year');
  app = await startApp({ urls: { postgres: database.url }, clock });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** The days after which a period ends, up to the end of the year. */
function endsOf(every: 'day' | 'week' | 'month'): string[] {
  const days = Array.from({ length: 365 }, (_, i) => new Date(Date.parse('2025-01-02') + i * DAY_MS));
  const ends = days.filter(
    (day) => every === 'day' || (every === 'week' ? day.getUTCDay() === 1 : day.getUTCDate() === 1),
  );
  return ends.map((day) => day.toISOString().slice(0, 10));
}

describe('a year of reports', () => {
  it(
    'mails each day, week and month exactly once, although two workers race and are killed again and again',
    async () => {
      const brand = await makeBrand(app.context);
      const key = await brand.key('brand');
      const { db } = app.context.postgres;
      const id = newId('per', START);
      const person = { id, brandId: brand.id, email: ROBIN, name: null, role: 'owner' as const };
      await insertPerson(db, { ...person, createdAt: new Date(START) });
      const ids = new Map<string, 'day' | 'week' | 'month'>();
      for (const [every, timezone] of [
        ['day', 'Europe/Berlin'],
        ['week', 'America/New_York'],
        ['month', 'Asia/Kolkata'],
      ] as const) {
        const report = await made(`${app.url}/v1/reports`, key, { operation: 'share', every, timezone, to: [ROBIN] });
        ids.set(report.id, every);
      }
      const env = { DATABASE_URL: database.url, DIRECTORY_ALIAS: unique('none') };
      const start = () => startScript('test/harness/analytics/report-process.ts', env, [END]);
      const count = async () => {
        const { total } = await db
          .selectFrom('mails')
          .select(({ fn }) => fn.countAll<number>().as('total'))
          .executeTakeFirstOrThrow();
        return total;
      };
      for (let kills = 1; kills <= 3; kills += 1) {
        const workers = [start(), start()];
        const before = await count();
        await until('further mails', async () => (await count()) >= Math.min(before + 7 + kills * 10, 300));
        for (const worker of workers) await worker.kill();
      }
      const last = [start(), start()];
      await until(
        'the end of the year',
        () => last.every(({ said }) => said().includes('reports done')),
        longDeadlineMs,
      );
      for (const worker of last) await worker.stop();

      const rows = await db
        .selectFrom('mails')
        .select(['subjectRow', 'toEmail'])
        .where('kind', '=', 'report')
        .execute();
      const expected = [...ids].flatMap(([report, every]) => endsOf(every).map((end) => `${report}:${every}:${end}`));
      expect(rows.map(({ subjectRow }) => subjectRow).toSorted()).toEqual(expected.toSorted());
      expect((await mailsOf(app.context, brand.id)).every(({ to }) => to === ROBIN)).toBe(true);
    },
    longDeadlineMs,
  );
});
