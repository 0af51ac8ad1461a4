import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, makeBrand, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;
let brand: Awaited<ReturnType<typeof makeBrand>>;

/** Creators 0 to 5 with followings and earnings or none, their posts, and campaigns with 0 to 5 applications, half of them completed. */
beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context);
  const { db } = app.context.postgres;
  const id = (prefix: string) => sql`${`${prefix}_${brand.id}_`} || n`;
  const rows = sql`generate_series(0, 5) n`;
  const at = sql`timestamptz '2026-01-01' + n * interval '1 day'`;
  await sql`insert into creators (id, brand_id, email, name, ig_followers, tt_followers, engagement_rate, created_at)
    select ${id('crt')}, ${brand.id}, 'c' || n || '@example.com', 'Creator ' || n,
      case when n % 2 = 0 then (n * 7 % 5) * 100 end, case when n % 3 = 1 then (n * 5 % 7) * 100 end,
      case when n <> 2 then (n * 5 % 6) * 1.1 end, ${at} from ${rows}`.execute(db);
  await sql`insert into roster_entries (id, brand_id, creator_id, status, added_at)
    select ${id('rst')}, ${brand.id}, ${id('crt')}, 'active', ${at} from ${rows}`.execute(db);
  await sql`insert into campaigns (id, brand_id, title, status, created_at)
    select ${id('cmp')}, ${brand.id}, 'Campaign ' || n, case n % 2 when 1 then 'completed' else 'active' end, ${at} from ${rows}`.execute(
    db,
  );
  await sql`insert into applications (id, brand_id, campaign_id, creator_id, creator_email, status, applied_at)
    select ${id('app')} || '_' || m, ${brand.id}, ${id('cmp')}, ${`crt_${brand.id}_`} || m, 'c' || m || '@example.com',
      case when m % 2 = 0 then 'accepted' else 'pending' end, ${at}
    from ${rows}, generate_series(0, 5) m where m < n * 5 % 6`.execute(db);
  await sql`insert into commissions (id, brand_id, creator_id, source, currency, amount_minor, commission_minor,
      commission_rate_ppm, hold_days, status, fraud_flags, occurred_at, paid_at, synced_at, created_at)
    select ${id('com')} || currency || status, ${brand.id}, ${id('crt')}, 'manual', currency, n * 3 % 4 * 1000 * worth, n * 7 % 5 * 100 * worth, 0, 0,
      status, '[]', ${at}, ${at}, ${at}, ${at}
    from ${rows}, lateral (values ('USD', 'paid', 1), ('USD', 'pending', n * 90), ('EUR', 'paid', n * 70)) as kind (currency, status, worth)
    where n < 4`.execute(db);
  await sql`insert into content (id, brand_id, url, canonical_key, platform, creator_id, views, likes, comments, status, tracked_at)
    select ${id('cnt')}, ${brand.id}, 'https://www.instagram.com/p/' || n, ${id('key')}, 'photo_app', ${id('crt')},
      case when n <> 3 then n * 5 % 6 end, case when n <> 4 then n * 7 % 6 end, n % 3, 'tracking', ${at} from ${rows}`.execute(
    db,
  );
});
afterAll(() => app?.close());

type Item = Record<string, unknown>;
const metric = (name: string) => (item: Item) => {
  const value: unknown = Reflect.get(Object(item.metrics), name);
  return value === null ? -1 : Number(value);
};

it.each([
  [
    'roster',
    'followers',
    ({ ig_followers: one, tt_followers: other }: Item) => Math.max(Number(one ?? -1), Number(other ?? -1)),
  ],
  ['roster', 'paid', ({ total_earned: paid }: Item) => Number(paid)],
  ['roster', 'engagement', ({ engagement_rate: rate }: Item) => Number(rate ?? -1)],
  ['roster', 'sold', ({ total_sold: sold }: Item) => Number(sold)],
  ['roster', 'campaigns', ({ campaigns_completed: count }: Item) => Number(count)],
  ['campaigns', 'applications', ({ applicant_count: count }: Item) => Number(count)],
  ['campaigns', 'accepted', ({ hired_count: count }: Item) => Number(count)],
  ['content', 'views', metric('views')],
  ['content', 'likes', metric('likes')],
  ['content', 'comments', metric('comments')],
  ['content', 'engagement', metric('engagement_rate')],
] as const)(
  'the list of %s sorted by %s has the largest first and the unknown last, on pages and in the file',
  async (list, sort, read) => {
    const key = await brand.key('brand');
    const url = `${app.url}/v1/${list}?sort=${sort}`;
    const { status, body } = await call(url, key);
    expect(status).toBe(200);
    const figures: number[] = body.data.map(read);
    expect(new Set(figures).size).toBeGreaterThan(2);
    expect(figures).toEqual(figures.toSorted((one, other) => other - one));
    const ids: string[] = body.data.map(({ id }: { id: string }) => id);
    expect(ids).toHaveLength(6);
    const paged = await Promise.all(ids.map((_, i) => call(`${url}&limit=1&page=${i + 1}`, key)));
    expect(paged.map((page) => page.body.data[0].id)).toEqual(ids);
    const file: string = (await call(url, key, { headers: { accept: 'text/csv' } })).body;
    const lines = file.trim().split('\n').slice(1);
    expect(ids.map((id) => lines.findIndex((text) => text.includes(id)))).toEqual(ids.map((_, i) => i));
  },
);

it.each([
  ['roster', ['total_earned', 'total_sold']],
  ['campaigns', ['applicant_count', 'hired_count', 'conversions', 'revenue', 'commission']],
] as const)('the totals of %s are the sums of all items, also of a filtered list', async (path, sums) => {
  const key = await brand.key('brand');
  for (const filter of ['', '&status=active', '&search=3']) {
    const { body } = await call(`${app.url}/v1/${path}?limit=1&totals=true${filter}`, key);
    const all = await call(`${app.url}/v1/${path}?limit=100${filter}`, key);
    const items: Item[] = all.body.data;
    const expected = sums.map((name) => [name, items.reduce((sum, item) => sum + Number(item[name]), 0)]);
    expect(body.pagination.total).toBe(items.length);
    expect(body.totals).toEqual([{ currency: 'USD', count: items.length, ...Object.fromEntries(expected) }]);
    expect(all.body.totals).toBeUndefined();
  }
  const none = await call(`${app.url}/v1/${path}?totals=true&search=nobody`, key);
  expect(none.body).toMatchObject({ data: [], totals: [], pagination: { total: 0 } });
});

it('the list of applications has the pending ones first where that is wanted, the newest first, on pages and in the file', async () => {
  const key = await brand.key('brand');
  const read = async (query: string) => (await call(`${app.url}/v1/applications?limit=100&${query}`, key)).body.data;
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
  const pending = ids(await read('status=pending'));
  expect(pending.length).toBeGreaterThan(1);
  const expected = [...pending, ...ids(await read('status=accepted'))];
  expect(ids(await read('sort=waiting'))).toEqual(expected);
  const url = `${app.url}/v1/applications?sort=waiting`;
  const second = await call(`${url}&limit=3&page=2`, key);
  expect(ids(second.body.data)).toEqual(expected.slice(3, 6));
  const file: string = (await call(url, key, { headers: { accept: 'text/csv' } })).body;
  expect(file.match(/\bapp_\w+/g)).toEqual(expected);
});
