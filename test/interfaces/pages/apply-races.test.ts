import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PLANS, type PlanName } from '../../../src/kit/access/keys/limits.ts';
import { call, makeBrand, send, startApp, type TestApp } from '../../harness/app.ts';
import { apply, BEHIND_PROXY, makeCampaign } from '../../harness/workflow/applying.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
});
afterAll(() => app?.close());

const AT_ONCE = 35;
const PEOPLE = Array.from({ length: 30 }, (_, i) => `p${i}`);
const emailOf = (person: string) => `${person}@mail.example`;

interface Brand {
  keys: string[];
  campaigns: string[];
}

async function makeRacing(plan: PlanName): Promise<Brand> {
  const brand = await makeBrand(app.context, { plan });
  const keys = await Promise.all(Array.from({ length: 8 }, () => brand.key('brand')));
  // Warms the cache: an unknown key must be read within two seconds, which fails while everything waits for one lock.
  for (const key of keys) await call(`${app.url}/v1/brand`, key);
  const campaigns = await Promise.all(keys.slice(0, 3).map((key) => makeCampaign(app, key)));
  return { keys, campaigns };
}

/** At once, but no more than what the pool's patience lets through on a slow machine. */
async function atOnce(calls: (() => Promise<{ status: number }>)[]): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < calls.length; i += AT_ONCE) {
    const answers = await Promise.all(calls.slice(i, i + AT_ONCE).map((make) => make()));
    statuses.push(...answers.map(({ status }) => status));
  }
  return statuses;
}

/** Everything that locks the brand's roster, at once and about the same six people. */
async function race({ keys, campaigns }: Brand, applications: string[]): Promise<number[]> {
  const [, second = '', third = ''] = campaigns;
  const calls = Array.from({ length: 12 }, (_, i) => {
    const key = keys[i % keys.length] ?? '';
    const [person, neighbour] = [`p${i % 6}`, `p${(i + 1) % 6}`];
    const application = applications[(i * 7) % applications.length];
    const to = (path: string, method: string, body: unknown) => send(`${app.url}/v1/${path}`, key, method, body);
    return [
      () => apply(app, second, { email: emailOf(person), photo_app: neighbour, video_app: person }),
      () => apply(app, third, { email: emailOf(person).toUpperCase(), photo_app: person }),
      () => to('roster', 'POST', { creator_email: emailOf(person) }),
      () => to('roster/add', 'POST', { ig_handle: person, tt_handle: neighbour }),
      () => to(`applications/${application}`, 'PATCH', { status: i % 3 ? 'accepted' : 'rejected' }),
      () => to(`campaigns/${campaigns[i % 3]}`, 'PATCH', { status: i % 4 ? 'active' : 'paused' }),
      () => to('brand', 'PATCH', { industry: person }),
    ];
  });
  return await atOnce(calls.flat());
}

it.each(['free', 'growth'] as const)(
  'on the plan %s, concurrent applying, adding, accepting, pausing and removing causes no deadlock, no 5xx, and one row per person',
  async (plan) => {
    const brand = await makeRacing(plan);
    const [key = ''] = brand.keys;
    const list = async (path: string) => (await call(`${app.url}/v1/${path}`, key)).body;
    const [first = ''] = brand.campaigns;
    await atOnce(PEOPLE.map((person) => () => apply(app, first, { email: emailOf(person), photo_app: person })));
    const { data } = await list('applications?limit=100');
    expect(data).toHaveLength(PEOPLE.length);
    const statuses = await race(
      brand,
      data.map(({ id }: { id: string }) => id),
    );

    const roster: { id: string }[] = (await list('roster?limit=100')).data;
    const answers = await atOnce(
      roster.flatMap(({ id }, i) => {
        const by = brand.keys[1 + (i % 7)] ?? '';
        const entry = `${app.url}/v1/roster/${id}`;
        const person = emailOf(PEOPLE[i % 30] ?? '');
        return [
          () => send(entry, by, 'DELETE'),
          () => send(entry, by, 'PATCH', { status: 'active', creator_email: person }),
          () => send(`${app.url}/v1/roster`, by, 'POST', { creator_email: person }),
        ];
      }),
    );
    statuses.push(...answers);
    for (const status of statuses) expect([200, 201, 303, 403, 409]).toContain(status);

    const { data: left, pagination } = await list('roster?status=active&limit=100');
    expect(pagination.total).toBeLessThanOrEqual(PLANS[plan].rosterLimit);
    const emails = left.flatMap(({ creator_email: email }: { creator_email: string | null }) => email ?? []);
    expect(new Set(emails).size).toBe(emails.length);
    const all: { campaign_id: string; creator_email: string }[] = (await list('applications?limit=100')).data;
    const pairs = all.map(({ campaign_id, creator_email }) => `${campaign_id} ${creator_email.toLowerCase()}`);
    expect(new Set(pairs).size).toBe(pairs.length);
  },
);

it('a statement that exceeds its time limit, as behind a held lock, is 503 and never 500', async () => {
  const late = app.context.postgres.db.transaction().execute(async (trx) => {
    await sql`set local statement_timeout = 20`.execute(trx);
    await sql`select pg_sleep(5)`.execute(trx);
  });
  await expect(late).rejects.toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
});
