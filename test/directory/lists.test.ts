import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_CREATORS, MAX_LISTS } from '../../src/directory/lists/lists.ts';
import { call, keysInTurn, ledgerOf, made, makeBrand, send, startApp, type TestApp } from '../harness/app.ts';
import { testSeed } from '../harness/kit/random-runs.ts';
import { file } from '../harness/platform/uploading.ts';
import { openListCases } from './list-cases.ts';

let cases: Awaited<ReturnType<typeof openListCases>>;
/** Another process on the same directory. */
let other: TestApp;
beforeAll(async () => {
  cases = await openListCases(2_000, 5);
  other = await startApp({ alias: cases.app.context.config.directoryAlias });
});
afterAll(async () => {
  await other?.close();
  await cases?.close();
});

const at = (path: string, app = cases.app) => `${app.url}${path}`;
const search = async (query: Record<string, string>, key: string, app = cases.app) =>
  await call(at(`/v1/creators/search?${new URLSearchParams(query)}`, app), key);
const newList = async (key: string, more: object = {}) => await made(at('/v1/lists'), key, { name: 'wave', ...more });
const pksOf = (count: number) => cases.rows.slice(0, count).map(({ pk }) => pk);
const changeOf = async (method: string, id: string, key: string, body: object) =>
  await send(at(`/v1/lists/${id}/creators`), key, method, body);

describe('a list', () => {
  it('takes creators by pk and username, names those that the directory lacks, and pages through their cards', async () => {
    const [one, two, three] = cases.rows;
    const key = cases.nextKey();
    const { id, creators } = await newList(key, { note: 'first' });
    expect(creators).toBe(0);
    const names = {
      pks: [one?.pk, two?.pk, 999_999_999_999],
      usernames: [`@${three?.username.toUpperCase()}`, 'nobody'],
    };
    const first = await changeOf('POST', id, key, names);
    const notFound = { pks: [999_999_999_999], usernames: ['nobody'] };
    expect(first.body.data).toEqual({ id, added: 3, creators: 3, not_found: notFound });
    expect((await changeOf('POST', id, key, { pks: [one?.pk] })).body.data).toMatchObject({ added: 0, creators: 3 });
    const { body } = await call(at(`/v1/lists/${id}/creators?limit=2`), key);
    expect(body.pagination).toMatchObject({ total: 3, has_more: true });
    const rest = (await call(at(`/v1/lists/${id}/creators?limit=2&page=2`), key)).body.data;
    const shown = [...body.data, ...rest];
    expect(new Set(shown.map(({ creator }) => creator.username))).toEqual(
      new Set([one?.username, two?.username, three?.username]),
    );
    expect(shown[0]).toMatchObject({ by: 'test' });
    const gone = await changeOf('DELETE', id, key, { pks: [one?.pk, 5] });
    expect(gone.body.data).toEqual({ id, removed: 1, creators: 2 });
    const renamed = await send(at(`/v1/lists/${id}`), key, 'PATCH', { name: 'renamed', note: null });
    expect(renamed.body.data).toMatchObject({ name: 'renamed', note: null, creators: 2 });
    expect((await call(at(`/v1/lists/${id}`), key, { method: 'DELETE' })).status).toBe(200);
    const refused = await search({ in_list: id }, key);
    expect([refused.status, refused.body.details[0]]).toMatchObject([422, { field: 'in_list', code: 'not_found' }]);
  });

  it('takes a CSV with a column pk or username, and refuses one without', async () => {
    const key = cases.nextKey();
    const { id } = await newList(key);
    const sent = async (text: string, by = key) => {
      const form = new FormData();
      form.append('file', file(text, 'creators.csv'));
      return await call(at(`/v1/lists/${id}/creators/csv`), by, { method: 'POST', body: form });
    };
    const stranger = await (await makeBrand(cases.app.context)).key('brand');
    expect((await sent(`pk\n${cases.rows[0]?.pk}\n`, stranger)).status).toBe(404);
    const lines = cases.rows.slice(0, 1_500).map(({ pk, username }, i) => (i % 2 ? `${pk},,x` : `,${username},y`));
    const { status, body } = await sent(`\ufeffPK,Username,note\n${lines.join('\n')}\n,nobody,z\n`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ added: 1_500, not_found: { pks: [], usernames: ['nobody'] } });
    const refused = await sent('name\nAna\n');
    expect([refused.status, refused.body.details[0].message]).toEqual([422, expect.stringMatching(/pk.*username/)]);
    const rounded = await sent('pk\n2.56608E+06\n');
    expect([rounded.status, rounded.body.details[0].message]).toEqual([422, expect.stringContaining('2.56608E+06')]);
  });

  it('made from a search has every match, also of a search that leaves out another list', async () => {
    const key = cases.nextKey();
    const [half] = cases.lists;
    const filters = { country: 'US', not_in_list: half?.id ?? '' };
    const { id, creators } = await newList(key, { search: filters });
    expect(creators).toBe((await search(filters, key)).body.pagination.total);
    expect(creators).toBeGreaterThan(100);
    expect((await search({ ...filters, not_in_list: `${half?.id},${id}` }, key)).body.pagination.total).toBe(0);
    const refused = await send(at('/v1/lists'), key, 'POST', { name: 'no', search: { page: '2', age_min: 'x' } });
    expect(refused.body.details.map(({ field }: { field: string }) => field)).toEqual([
      'search.page',
      'search.age_min',
    ]);
  });

  it('made from a search has whom the search finds: similar ones, those of a saved search, and only recent ones', async () => {
    const key = cases.nextKey();
    const saved = await made(at('/v1/saved-searches'), key, { name: 'wave', filters: { country: 'US' } });
    const [seed] = cases.rows;
    const searches: Record<string, string>[] = [
      { saved: saved.id, follower_min: '1000' },
      { similar_to: String(seed?.pk) },
      { similar_to: String(seed?.pk), country: 'US' },
      { changed_since: new Date(Date.now() + 86_400_000).toISOString() },
      { fresh_within_days: '30' },
    ];
    for (const filters of searches) {
      const { id } = await newList(key, { search: filters });
      const found = await search({ ...filters, limit: '100' }, key);
      const listed = await search({ in_list: id, limit: '100' }, key);
      expect(listed.body.pagination.total, JSON.stringify(filters)).toBe(found.body.pagination.total);
      const pks: number[] = found.body.data.map(({ pk }: { pk: number }) => pk);
      const left = pks.length === 0 ? 0 : (await search({ pks: pks.join(), in_list: id }, key)).body.pagination.total;
      expect(left, JSON.stringify(filters)).toBe(pks.length);
    }
    for (const [name, value] of [
      ['walk', 'true'],
      ['max_credits', '10'],
      ['in_list', 'lst_missing'],
      ['similar_to', '999999999999'],
    ]) {
      const { status, body } = await send(at('/v1/lists'), key, 'POST', { name: 'no', search: { [`${name}`]: value } });
      expect([status, body.details[0].field]).toEqual([422, `search.${name}`]);
    }
  });

  it('never exceeds its maximum of creators, nor a brand its maximum of lists, under concurrent calls', async () => {
    const brand = await makeBrand(cases.app.context);
    const key = await brand.key('brand');
    const { id } = await newList(key);
    const { db } = cases.app.context.postgres;
    const room = 10;
    await sql`insert into listed_creators (list_id, pk, added_at)
      select ${id}, n, now() from generate_series(1000000000001, 1000000000000 + ${MAX_CREATORS - room}::bigint) as n`.execute(
      db,
    );
    await sql`update creator_lists set creators = ${MAX_CREATORS - room} where id = ${id}`.execute(db);
    const adding = pksOf(30).map((pk, i, all) => changeOf('POST', id, key, { pks: [pk, all[(i + 1) % 30]] }));
    const answers = await Promise.all(adding);
    expect(new Set(answers.map(({ status, body }) => body.code ?? status))).toEqual(new Set([200, 'LIST_FULL']));
    const counted = await sql<{ n: number }>`select count(*) as n from listed_creators where list_id = ${id}`.execute(
      db,
    );
    expect(counted.rows[0]?.n).toBe((await call(at(`/v1/lists/${id}`), key)).body.data.creators);
    expect(counted.rows[0]?.n).toBeLessThanOrEqual(MAX_CREATORS);

    await sql`insert into creator_lists (id, brand_id, name, created_at)
      select 'lst_' || ${brand.id} || n, ${brand.id}, 'one', now() from generate_series(1, ${MAX_LISTS - 3}) as n`.execute(
      db,
    );
    const makers = Array.from({ length: 6 }, () => send(at('/v1/lists'), key, 'POST', { name: 'more' }));
    const made = await Promise.all(makers);
    expect(made.map(({ status, body }) => body.code ?? status).toSorted()).toEqual(
      [201, 201, ...Array.from({ length: 4 }, () => 'LIST_LIMIT_REACHED')].toSorted(),
    );
  });

  it('counts each creator once, however many calls add and remove it at once', async () => {
    const key = cases.nextKey();
    const { id } = await newList(key);
    const pks = pksOf(100);
    const calls = Array.from({ length: 12 }, (_, i) =>
      changeOf(i % 4 === 3 ? 'DELETE' : 'POST', id, cases.nextKey(), { pks: pks.slice(i * 5, i * 5 + 40) }),
    );
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    const { creators } = (await call(at(`/v1/lists/${id}`), key)).body.data;
    expect((await search({ in_list: id }, key)).body.pagination.total).toBe(creators);
  });
});

describe('a search with lists', () => {
  it('finds in random cases the difference of the sets, in order and with its exact total', async () => {
    expect(await cases.differences(15, testSeed)).toEqual([]);
  });

  it('repeats them in its interpretation, and counts only what is left in a preview', async () => {
    const key = cases.nextKey();
    const [half, fifth] = cases.lists;
    const query = {
      in_list: half?.id ?? '',
      not_in_list: fifth?.id ?? '',
      exclude_pks: '7, 8',
      exclude_roster: 'true',
    };
    const { meta, pagination } = (await search(query, key)).body;
    expect(meta.interpretation.filters).toEqual({
      in_list: [half?.id],
      not_in_list: [fifth?.id],
      exclude_pks: [7, 8],
      exclude_roster: true,
    });
    const previewed = (await search({ ...query, preview: 'true', facets: 'followers' }, key)).body;
    const { facets } = previewed.preview;
    const counted = facets.followers.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
    const left = cases.rows.filter(({ pk }) => half?.pks.has(pk) && !fifth?.pks.has(pk));
    const known = left.filter(({ follower_count }) => follower_count !== null);
    expect([pagination.total, previewed.pagination.total, counted]).toEqual([left.length, left.length, known.length]);
    expect((await search({ in_list: cases.lists[3]?.id ?? '' }, key)).body.pagination.total).toBe(0);
  });

  it('serves a data key at its price, and finds a change in the next search, soon also on another process', async () => {
    const brand = await makeBrand(cases.app.context);
    const [key, data] = [await brand.key('brand'), await brand.key('data')];
    const nextKey = await keysInTurn(brand, 5);
    const { id } = await newList(key);
    const total = cases.rows.length;
    for (let n = 1; n <= 5; n += 1) {
      await changeOf('POST', id, key, { pks: pksOf(n * 10) });
      const { body, headers } = await search({ not_in_list: id }, data);
      expect([body.pagination.total, headers.get('x-credits-charged')]).toEqual([total - n * 10, '10']);
      const found = async () => (await search({ not_in_list: id }, nextKey(), other)).body.pagination?.total;
      await expect.poll(found).toBe(total - n * 10);
    }
    const refused = await call(at('/v1/lists'), data);
    expect([refused.status, refused.body.code]).toEqual([403, 'BRAND_KEY_REQUIRED']);
  });

  it('leaves out who is on the roster by username or email, and has them back once they are removed', async () => {
    const brand = await makeBrand(cases.app.context);
    const key = await brand.key('brand');
    const [named] = cases.rows;
    const mailed = cases.rows.find(({ extracted_email, pk }) => extracted_email && pk !== named?.pk);
    const totalNow = async () => (await search({ exclude_roster: 'true' }, key)).body.pagination?.total;
    const entry = await made(at('/v1/roster/add'), key, { ig_handle: named?.username.toUpperCase() });
    await made(at('/v1/roster'), key, { creator_email: mailed?.extracted_email });
    const sharing = cases.rows.filter(
      ({ extracted_email: mail }) => mail?.toLowerCase() === mailed?.extracted_email?.toLowerCase(),
    );
    expect(await totalNow()).toBe(cases.rows.length - 1 - sharing.length);
    const other = cases.rows.find((row) => row.pk !== named?.pk && !sharing.includes(row));
    const { id } = await newList(key);
    await changeOf('POST', id, key, { pks: [named?.pk, mailed?.pk, other?.pk] });
    const onList = (await call(at(`/v1/lists/${id}/creators`), key)).body.data;
    const marks = new Map(onList.map(({ pk, on_roster }: { pk: number; on_roster: boolean }) => [pk, on_roster]));
    expect([named, mailed, other].map((row) => marks.get(row?.pk ?? 0))).toEqual([true, true, false]);
    await call(at(`/v1/roster/${entry.id}`), key, { method: 'DELETE' });
    await expect.poll(totalNow).toBe(cases.rows.length - sharing.length);
  });

  it('refuses another brand’s list like one that does not exist, and charges nothing', async () => {
    const brand = await makeBrand(cases.app.context);
    const data = await brand.key('data');
    const before = await ledgerOf(cases.app.context, brand);
    const foreign: [field: string, id: string][] = [
      ['in_list', cases.lists[0]?.id ?? ''],
      ['not_in_list', 'lst_none'],
    ];
    for (const [field, id] of foreign) {
      const { status, body, headers } = await search({ [field]: id }, data);
      expect([status, body.details[0]]).toMatchObject([422, { field, code: 'not_found' }]);
      expect(headers.get('x-credits-charged')).toBe('0');
    }
    const after = await ledgerOf(cases.app.context, brand);
    expect(after.charged - after.refunded).toBe(before.charged - before.refunded);
  });

  it('refuses a list that is both included and excluded, and too many values', async () => {
    const key = cases.nextKey();
    const id = cases.lists[0]?.id ?? '';
    const fields = async (query: Record<string, string>) =>
      (await search(query, key)).body.details.map(({ field }: { field: string }) => field);
    expect(await fields({ in_list: id, not_in_list: id })).toEqual(['not_in_list']);
    expect(await fields({ exclude_pks: pksOf(101).join(',') })).toEqual(['exclude_pks']);
    expect(await fields({ exclude_pks: '1,a' })).toEqual(['exclude_pks']);
    expect(await fields({ not_in_list: Array.from({ length: 21 }, (_, i) => `lst_${i}`).join(',') })).toEqual([
      'not_in_list',
    ]);
  });

  it('is unknown to the older interface, which names it among the ignored parameters', async () => {
    const { status, headers } = await call(
      at('/api/v1/creators/search?not_in_list=lst_x&exclude_roster=true'),
      cases.nextKey(),
    );
    expect([status, headers.get('x-ignored-params')]).toEqual([200, 'not_in_list, exclude_roster']);
  });
});
