import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkAlerts } from '../../src/analytics/alerts/alerts.jobs.ts';
import { newId } from '../../src/kit/values/ids.ts';
import { insertPerson } from '../../src/platform/people/people.ts';
import { type Assignment, putAssignment, putClicks } from '../harness/analytics/figures.ts';
import { made, makeBrand, send, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { mailsOf } from '../harness/kit/mail.ts';

const DAY_MS = 86_400_000;
const MONDAY = Date.parse('2026-03-09T00:00:00Z');
const clock = { at: 0, now: () => new Date(clock.at) };
const ROBIN = 'robin@acme.example';
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('alerts');
  app = await startApp({ urls: { postgres: database.url }, clock });
});
// The clock of the next test is another: what this one made would be due.
afterEach(async () => {
  await app.context.postgres.db.deleteFrom('alerts').execute();
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** A brand with one person, at noon of the first day. */
async function makeReader() {
  clock.at = MONDAY + DAY_MS / 2;
  const brand = await makeBrand(app.context);
  const person = { id: newId('per', clock.at), brandId: brand.id, email: ROBIN, name: null, role: 'owner' as const };
  await insertPerson(app.context.postgres.db, { ...person, createdAt: clock.now() });
  return { brand, key: await brand.key('brand') };
}

const create = (key: string, body: object) =>
  made(`${app.url}/v1/alerts`, key, { metric: 'clicks', window: 'day', timezone: 'UTC', to: [ROBIN], ...body });

const statusOf = async (key: string, id: string) => (await send(`${app.url}/v1/alerts/${id}`, key, 'GET')).body.data;

/** So many clicks on a day, counted from the first one. */
const click = (link: Assignment, day: number, count: number) =>
  putClicks(
    app,
    link,
    Array.from({ length: count }, (_, i) => new Date(MONDAY + day * DAY_MS + i * 60_000)),
  );

/** What two workers do at noon after a day. */
async function endDay(day: number): Promise<void> {
  clock.at = MONDAY + (day + 1) * DAY_MS + DAY_MS / 2;
  await Promise.all([checkAlerts.run(app.context), checkAlerts.run(app.context)]);
}

/** The subjects of all mails, the oldest first. */
const subjectsOf = async (brandId: string) =>
  (await mailsOf(app.context, brandId)).map(({ subject }) => subject).toReversed();

describe('an alert', () => {
  it('mails once when its condition begins to hold, and once when it has ended', async () => {
    const { brand, key } = await makeReader();
    const link = await putAssignment(app, brand.id);
    const alert = await create(key, { name: 'Many clicks', condition: 'above', threshold: 2 });
    expect(alert).toMatchObject({ status: 'quiet', next_at: '2026-03-10T00:10:00.000Z', last_checked_at: null });
    const clicks = [2, 3, 5, 0, 1, 4];
    const subjects = [];
    for (const [day, count] of clicks.entries()) {
      await click(link, day, count);
      await endDay(day);
      subjects.push((await subjectsOf(brand.id)).length);
      if (day === 2) expect(await statusOf(key, alert.id)).toMatchObject({ status: 'firing', firing_keys: [] });
      if (day === 3) expect(await statusOf(key, alert.id)).toMatchObject({ status: 'quiet', firing_since: null });
    }
    expect(subjects).toEqual([0, 1, 1, 2, 2, 3]);
    expect(await subjectsOf(brand.id)).toEqual(['Alert: Many clicks', 'Ended: Many clicks', 'Alert: Many clicks']);
    const [, , first] = await mailsOf(app.context, brand.id);
    expect(first?.text).toContain('Clicks above 2 in a day. You get one more email when this ends.\n\nClicks: 3');
    expect(first?.text).toContain('/app/analytics');
  });

  it('by link fires for each on its own, and finds those that fell to nothing', async () => {
    const { brand, key } = await makeReader();
    const [one, other] = [await putAssignment(app, brand.id), await putAssignment(app, brand.id)];
    const alert = await create(key, { by: 'link', condition: 'below', threshold: 2 });
    await Promise.all([click(one, 0, 3), click(other, 0, 3), click(one, 1, 3), click(one, 2, 3), click(other, 2, 2)]);
    await endDay(0);
    expect((await statusOf(key, alert.id)).status).toBe('quiet');
    await endDay(1);
    expect(await statusOf(key, alert.id)).toMatchObject({ status: 'firing', firing_keys: [other.linkId] });
    const [mail] = await mailsOf(app.context, brand.id);
    expect([mail?.subject, mail?.text]).toEqual([
      'Alert: Clicks by link',
      expect.stringContaining(`${other.value}: 0`),
    ]);
    await endDay(2);
    expect((await statusOf(key, alert.id)).status).toBe('quiet');
    expect(await subjectsOf(brand.id)).toEqual(['Alert: Clicks by link', 'Ended: Clicks by link']);
  });

  it('about a change compares with the window before, and one without figures says nothing', async () => {
    const { brand, key } = await makeReader();
    const link = await putAssignment(app, brand.id);
    await create(key, { name: 'Fall', condition: 'change_percent', threshold: -50 });
    await create(key, { name: 'Rate', metric: 'conversion_rate', condition: 'below', threshold: 100 });
    const seen = [];
    for (const [day, count] of [0, 10, 6, 3, 3, 0, 0].entries()) {
      await click(link, day, count);
      await endDay(day);
      seen.push((await subjectsOf(brand.id)).filter((one) => one.endsWith('Fall')).length);
    }
    // Nothing, up from 0, 40% down, 50% down, no change, down to nothing, nothing still.
    expect(seen).toEqual([0, 0, 0, 1, 2, 3, 4]);
    expect((await subjectsOf(brand.id)).filter((one) => one.endsWith('Rate'))).toEqual(['Alert: Rate']);
  });

  it('about what is unusual compares with the same weekday of eight weeks', async () => {
    const { brand, key } = await makeReader();
    const link = await putAssignment(app, brand.id);
    const alert = await create(key, { name: 'Odd', condition: 'unusual' });
    expect(alert.threshold).toBe(3);
    // Mondays and Tuesdays have 9 to 11 clicks, Wednesdays are too few to be known.
    const past = Array.from({ length: 8 }, (_, week) => (week + 1) * -7);
    for (const [week, day] of past.entries()) {
      await Promise.all([click(link, day, 9 + (week % 3)), click(link, day + 1, 9 + (week % 3))]);
    }
    await Promise.all([click(link, 0, 14), click(link, 1, 12), click(link, 2, 500)]);
    await endDay(0);
    expect(await subjectsOf(brand.id)).toEqual(['Alert: Odd']);
    await endDay(1);
    expect(await subjectsOf(brand.id)).toEqual(['Alert: Odd', 'Ended: Odd']);
    await endDay(2);
    expect(await subjectsOf(brand.id)).toHaveLength(2);
  });

  it('that is changed is quiet again without a mail, and skips windows that ended while no worker ran', async () => {
    const { brand, key } = await makeReader();
    const link = await putAssignment(app, brand.id);
    const { id } = await create(key, { name: 'Many', condition: 'above', threshold: 2 });
    await click(link, 0, 5);
    await endDay(0);
    expect((await statusOf(key, id)).status).toBe('firing');
    const changed = await send(`${app.url}/v1/alerts/${id}`, key, 'PATCH', { threshold: 3 });
    expect(changed.body.data).toMatchObject({ status: 'quiet', next_at: '2026-03-11T00:10:00.000Z' });
    await click(link, 2, 9);
    await endDay(5);
    expect(await subjectsOf(brand.id)).toEqual(['Alert: Many']);
    expect((await send(`${app.url}/v1/alerts/${id}`, key, 'DELETE')).status).toBe(200);
    expect((await send(`${app.url}/v1/alerts/${id}`, key, 'GET')).status).toBe(404);
  });

  it.each([
    [{ condition: 'above' }, 'threshold'],
    [{ condition: 'unusual', threshold: 0 }, 'threshold'],
    [{ condition: 'change_percent', threshold: 0 }, 'threshold'],
    [{ condition: 'above', threshold: 1, metric: 'likes' }, 'metric'],
    [{ condition: 'above', threshold: 1, to: ['stranger@mail.example'] }, 'to.0'],
  ])('is refused with %j', async (wrong, field) => {
    const { key } = await makeReader();
    const body = { metric: 'clicks', window: 'day', to: [ROBIN], ...wrong };
    const { status, body: answer } = await send(`${app.url}/v1/alerts`, key, 'POST', body);
    expect([status, answer.details?.[0]?.field]).toEqual([422, field]);
  });
});
