import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { rollback } from '../../src/directory/imports/indexing/versions.ts';
import { deleteCreators, patchCreators, upsertCreators } from '../../src/directory/imports/indexing/writes.ts';
import { forget } from '../../src/directory/opt-out/forget.ts';
import { findMatches } from '../../src/directory/saved-searches/matches.jobs.ts';
import { alertAboutMatches } from '../../src/directory/saved-searches/saved-searches.jobs.ts';
import { deleteOrphans, MAX_SAVED } from '../../src/directory/saved-searches/saved-searches.ts';
import type { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { NO_LIMITS } from '../../src/kit/access/keys/limits.ts';
import { DAY_MS } from '../../src/kit/values/duration.ts';
import { createKey } from '../../src/platform/keys/keys.ts';
import {
  call,
  keysInTurn,
  ledgerOf,
  made,
  makeBrand,
  send,
  startApp,
  type TestApp,
  type TestBrand,
  unique,
  until,
} from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';
import { mailsOf } from '../harness/kit/mail.ts';
import { type SignedIn, signIn } from '../harness/platform/session.ts';

const PATH = '/v1/saved-searches';
const ndjson = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

let directory: TestDirectory;
let app: TestApp;
let brand: TestBrand;
let key: () => string;
let owner: SignedIn;
/** Added to the clock of the app. */
let laterMs = 0;

let everyone: DirectoryCreatorDetail[] = Array.from({ length: 10 }, (_, i) =>
  creator(i + 1, { category: i < 5 ? 'Food' : 'Fitness', city: 'Boise' }),
);
const sourceOf = async (rows: readonly object[]) =>
  await openFiles([await directory.file(`${unique('rows')}.ndjson`, ndjson(rows))]);

async function importRows(rows: readonly DirectoryCreatorDetail[]): Promise<void> {
  everyone = [...rows];
  await importDirectory(directory.engines, { source: await sourceOf(rows), ...FORCED, restart: true });
}

async function write(how: typeof upsertCreators, ...rows: object[]): Promise<void> {
  await how(directory.engines, {
    source: await sourceOf(rows),
    rejectsFile: `${directory.folder}/rejects.ndjson`,
  });
}

const newSearch = async (filters: object, more: object = {}) =>
  await made(`${app.url}${PATH}`, key(), { name: unique('search'), filters, ...more });

interface Match {
  pk: number;
  username: string;
  first_matched_at: string;
}

/** What is new for a search after the job looked. */
async function matchesOf(id: string, query = ''): Promise<Match[]> {
  await findMatches(app.context);
  const { status, body } = await call(`${app.url}${PATH}/${id}/matches?${query}`, key());
  expect(status).toBe(200);
  return body.data;
}
const pksOf = async (id: string) => (await matchesOf(id)).map(({ pk }) => pk);
/** The door sees another version of the directory within a second. */
const untilMatches = async (id: string, pks: number[]) =>
  await until(`matches ${pks}`, async () => `${await pksOf(id)}` === `${pks}`);
const search = async (query: Record<string, string>, by = key()) =>
  await call(`${app.url}/v1/creators/search?${new URLSearchParams(query)}`, by);

beforeAll(async () => {
  directory = await makeDirectory();
  await importRows(everyone);
  const { alias } = directory.engines;
  app = await startApp({
    alias,
    urls: { postgres: directory.env.DATABASE_URL ?? '' },
    clock: { now: () => new Date(Date.now() + laterMs) },
  });
  brand = await makeBrand(app.context, { plan: 'enterprise', credits: 10_000 });
  key = await keysInTurn(brand, 10);
  owner = await signIn(app, brand.id);
});
afterAll(async () => {
  await app?.close();
  await directory?.close();
});

describe('a saved search', () => {
  it('reports each creator once who begins to match by import, upsert, patch or rollback, and none who matched before', async () => {
    const food = await newSearch({ category: 'Food' });
    expect(food).toMatchObject({ matches: 0, unseen: 0, tracked: true, shared: true, problem: null, alert: null });
    expect(await pksOf(food.id)).toEqual([]);

    const grown = everyone.map((row) => ({ ...row, follower_count: 2_000 }));
    await importRows([...grown, creator(11, { category: 'Food' }), creator(12, { category: 'Cars' })]);
    await untilMatches(food.id, [11]);

    await write(upsertCreators, creator(13, { category: 'Food' }));
    await write(patchCreators, { pk: 12, category: 'Food' });
    await untilMatches(food.id, [11, 12, 13]);

    await write(deleteCreators, { pk: 11 }, { pk: 1 });
    await untilMatches(food.id, [12, 13]);
    await importRows([...grown, creator(11, { category: 'Food' }), creator(14, { category: 'Food' })]);
    // Creator 11 came back and keeps its place, and creator 1 was known.
    await untilMatches(food.id, [11, 14]);

    const cars = await newSearch({ category: 'Cars' });
    await rollback(directory.engines, {});
    await untilMatches(food.id, [12, 13]);
    expect(await pksOf(cars.id)).toEqual([]);
    expect((await call(`${app.url}${PATH}/${food.id}`, key())).body.data).toMatchObject({ matches: 4 });
  });

  it('pages through its matches with a cursor, free of charge, with their usernames and times', async () => {
    const all = await newSearch({ q: 'paged' });
    const rows = Array.from({ length: 5 }, (_, i) => creator(100 + i, { biography: 'paged' }));
    await write(upsertCreators, ...rows);
    const [first] = await matchesOf(all.id, 'limit=2');
    expect(first).toEqual({ pk: 100, username: 'creator100', first_matched_at: expect.stringMatching(/Z$/) });
    const seen: number[] = [];
    for (let after = ''; ; ) {
      const { body } = await call(`${app.url}${PATH}/${all.id}/matches?limit=2&after=${after}`, key());
      seen.push(...body.data.map(({ pk }: Match) => pk));
      after = body.next_after;
      if (!body.has_more) break;
    }
    expect(seen).toEqual([100, 101, 102, 103, 104]);
    const refused = await call(`${app.url}${PATH}/${all.id}/matches?after=x`, key());
    expect([refused.status, refused.body.details[0].field]).toEqual([422, 'after']);
  });

  it('holds whatever its parameters hold, and refuses what search refuses', async () => {
    const emails = Array.from({ length: 100 }, (_, i) => `${'x'.repeat(60)}${i}@mail.example`).join(',');
    const many = {
      ...{ q: 'ramen', q_as: 'text', typos: 'true', follower_min: '10', age_max: '40', has_email: 'true' },
      ...{ city_any: Array.from({ length: 20 }, (_, i) => `Town ${i}`).join('|'), not_category: 'Cars|Gaming' },
      ...{
        is_verified: 'false',
        has_url: 'true',
        posts_min: '1',
        posts_max: '9',
        following_max: '5',
        sort: 'relevance',
      },
      ...{ engagement_min: '1', engagement_max: '9', follower_max: '99', age_min: '3', niche: 'x', gender: 'female' },
      ...{ country: 'US', exclude_pks: '1,2', exclude_roster: 'true', changed_since: '2026-01-01' },
    };
    expect((await newSearch(many)).filters).toEqual(many);
    expect((await newSearch({ emails })).filters).toEqual({ emails });
    for (const [filters, field] of [
      [{ citty: 'LA' }, 'filters.citty'],
      [{ page: '2' }, 'filters.page'],
      [{ follower_min: 'many' }, 'filters.follower_min'],
      [{ category: 'Food', category_any: 'Food|Cars' }, 'filters.category_any'],
      [{ in_list: 'lst_nothing' }, 'filters.in_list'],
    ] as const) {
      const { status, body } = await send(`${app.url}${PATH}`, key(), 'POST', { name: 'x', filters });
      expect([status, body.details?.[0]?.field]).toEqual([422, field]);
    }
  });

  it('says why it cannot be run after its list was deleted, and begins again with other filters', async () => {
    const { id: list } = await made(`${app.url}/v1/lists`, key(), { name: 'gone soon' });
    const { id } = await newSearch({ not_in_list: list });
    await call(`${app.url}/v1/lists/${list}`, key(), { method: 'DELETE' });
    await write(upsertCreators, creator(200));
    expect(await pksOf(id)).toEqual([]);
    const shown = await call(`${app.url}${PATH}/${id}`, key());
    expect(shown.body.data.problem).toContain(list);
    const changed = await send(`${app.url}${PATH}/${id}`, key(), 'PATCH', { filters: { category: 'Boats' } });
    expect(changed.body.data).toMatchObject({ problem: null, filters: { category: 'Boats' } });
    await write(upsertCreators, creator(201, { category: 'Boats' }));
    expect(await pksOf(id)).toEqual([201]);
  });

  it('does not look for new matches of a ranked search', async () => {
    const similar = await newSearch({ similar_to: '1' });
    expect(similar).toMatchObject({ tracked: false, matches: 0 });
    expect(await pksOf(similar.id)).toEqual([]);
  });

  it('begins to look for what is new if an earlier release saved it', async () => {
    const { id } = await newSearch({ category: 'Trains' });
    await sql`update saved_searches set seq = null, seq_at = null where id = ${id}`.execute(directory.engines.db);
    await write(upsertCreators, creator(210, { category: 'Trains' }));
    expect(await pksOf(id)).toEqual([]);
    await write(upsertCreators, creator(211, { category: 'Trains' }));
    expect(await pksOf(id)).toEqual([211]);
  });

  it('loses a creator who opts out, also one who only matched when it was saved', async () => {
    await write(upsertCreators, creator(220, { category: 'Tea' }));
    const { id } = await newSearch({ category: 'Tea' });
    await write(upsertCreators, creator(221, { category: 'Tea' }), creator(222, { category: 'Tea' }));
    expect(await pksOf(id)).toEqual([221, 222]);
    for (const value of [220, 221]) {
      await forget(directory.engines, { kind: 'pk', value }, { reason: 'A letter', by: 'operator' });
    }
    expect(await pksOf(id)).toEqual([222]);
    const { rows } = await sql<{ pk: number }>`
      select pk from saved_search_matches where search_id = ${id}
      union all select unnest(pks) from saved_search_known where search_id = ${id}`.execute(directory.engines.db);
    expect(rows.map(({ pk }) => pk)).toEqual([222]);
  });
});

describe('a data key', () => {
  it('runs a shared search by its id at the price of a search, narrowed by more parameters and by its own limits', async () => {
    const data = await brand.key('data');
    await write(
      upsertCreators,
      creator(300, { category: 'Chess', country: 'US', follower_count: 50 }),
      creator(301, { category: 'Chess', country: 'US', follower_count: 5_000 }),
      creator(302, { category: 'Chess', country: 'CA', follower_count: 5_000 }),
    );
    const { id } = await newSearch({ category: 'Chess', sort: 'followers_asc' });
    await until('the creators', async () => (await search({ category: 'Chess' })).body.pagination?.total === 3);
    const before = await ledgerOf(app.context, brand);
    const found = await search({ saved: id }, data);
    expect(found.body.data.map(({ pk }: Match) => pk)).toEqual([300, 301, 302]);
    expect(found.body.meta.interpretation.filters).toMatchObject({ saved: id, sort: 'followers_asc' });
    const narrow = await search({ saved: id, country: 'US', follower_min: '100' }, data);
    expect(narrow.body.data.map(({ pk }: Match) => pk)).toEqual([301]);
    expect((await search({ saved: id, preview: 'true' }, data)).body.pagination.total).toBe(3);
    const walked = await fetch(`${app.url}/v1/creators/search?saved=${id}&walk=true`, {
      headers: { authorization: `Bearer ${data}` },
    });
    expect((await walked.text()).trim().split('\n').at(-1)).toContain('"creators":3');
    for (const [query, field] of [
      [{ saved: id, category: 'Cars' }, 'category'],
      [{ saved: id, category_any: 'Cars|Food' }, 'category_any'],
      [{ saved: 'ssr_nothing' }, 'saved'],
    ] as const) {
      const { status, body } = await search(query, data);
      expect([status, body.details?.[0]?.field]).toEqual([422, field]);
    }
    const after = await ledgerOf(app.context, brand);
    expect(before.remaining - after.remaining).toBe(30);

    const { key: limited } = await createKey(app.context.postgres.db, app.context.clock, {
      ...{ brandId: brand.id, subscriptionId: brand.subscriptionIds.data, kind: 'data', name: 'bound' },
      limits: { ...NO_LIMITS, forced_filters: { country: 'CA' } },
    });
    const bound = await search({ saved: id }, limited);
    expect(bound.body.data.map(({ pk }: Match) => pk)).toEqual([302]);
  });

  it('does not run a search that a person keeps to themselves', async () => {
    const own = await owner.send('POST', PATH, { name: 'mine', filters: { category: 'Food' } });
    expect(own.body.data).toMatchObject({ shared: false });
    const query = { saved: own.body.data.id };
    expect((await search(query, await brand.key('data'))).status).toBe(422);
    expect((await owner.get(`/v1/creators/search?saved=${own.body.data.id}`)).status).toBe(200);
    expect((await call(`${app.url}${PATH}/${own.body.data.id}`, key())).status).toBe(404);
    await owner.send('PATCH', `${PATH}/${own.body.data.id}`, { shared: true });
    expect((await search(query, await brand.key('data'))).status).toBe(200);
    const unshared = await send(`${app.url}${PATH}/${own.body.data.id}`, key(), 'PATCH', { shared: false });
    expect([unshared.status, unshared.body.details[0].field]).toEqual([422, 'shared']);
  });
});

describe('an alert', () => {
  const mailed = async (to: string) =>
    (await mailsOf(app.context, brand.id))
      .filter((mail) => mail.kind === 'saved_search_alert' && mail.to === to)
      .map(({ subject, links }) => [subject, links[0]]);

  it('sends one mail a period, with the number of new matches and a link, and none without new matches', async () => {
    const { email } = (await owner.get('/v1/people')).body.data[0];
    const alert = (every: string) => ({ name: `Jazz by ${every}`, alert: { every, mail: [email.toUpperCase()] } });
    const [each, daily] = [
      await newSearch({ category: 'Jazz' }, alert('import')),
      await newSearch({ category: 'Jazz' }, alert('day')),
    ];
    expect(each.alert).toEqual({ every: 'import', mail: [email] });
    const look = async () => {
      await findMatches(app.context);
      await Promise.all([alertAboutMatches(app.context), alertAboutMatches(app.context)]);
      await alertAboutMatches(app.context);
    };
    const { length: earlier } = await mailed(email);
    const news = async () => (await mailed(email)).toReversed().slice(earlier);
    const importMore = async (...pks: number[]) =>
      await importRows([...everyone, ...pks.map((pk) => creator(pk, { category: 'Jazz' }))]);

    await look();
    expect(await news()).toEqual([]);
    await importMore(400, 401);
    await look();
    const link = (id: string) => `https://go.example/app/directory?matches=${id}`;
    const first = ['2 new creators match “Jazz by import”', link(each.id)];
    expect(await news()).toEqual([first]);
    // What a patch brings between imports comes with the next import's mail.
    await write(upsertCreators, creator(402, { category: 'Jazz' }));
    await look();
    expect(await news()).toEqual([first]);

    laterMs += DAY_MS;
    await look();
    const second = ['3 new creators match “Jazz by day”', link(daily.id)];
    expect(await news()).toEqual([first, second]);
    everyone.push(creator(402, { category: 'Jazz' }));
    await importMore(403);
    await look();
    expect(await news()).toEqual([first, second, ['2 new creators match “Jazz by import”', link(each.id)]]);
    await owner.send('PATCH', `${PATH}/${each.id}`, { alert: null });
    laterMs += DAY_MS;
    await look();
    expect((await news()).at(-1)).toEqual(['1 new creator matches “Jazz by day”', link(daily.id)]);
    expect(await news()).toHaveLength(4);
    const opened = await fetch(`${app.links}/app/directory?matches=${daily.id}`, { redirect: 'manual' });
    expect([opened.status, new URL(opened.headers.get('location') ?? '').pathname]).toEqual([303, '/app/directory']);
  });

  it("goes to the brand's people only", async () => {
    const body = { name: 'x', filters: {}, alert: { every: 'day', mail: ['stranger@mail.example'] } };
    const refused = await send(`${app.url}${PATH}`, key(), 'POST', body);
    expect([refused.status, refused.body.details[0].field]).toEqual([422, 'alert.mail.0']);
  });
});

describe('the saved searches of a brand', () => {
  it('are at most 200, those of people who were removed excluded, and names are taken once', async () => {
    const other = await makeBrand(app.context);
    const [first = '', ...keys] = await Promise.all(Array.from({ length: 3 }, () => other.key('brand')));
    const save = async (name: string, by: string) =>
      await send(`${app.url}${PATH}`, by, 'POST', { name, filters: { pks: '1' } });
    await save('last', first);
    const { db } = directory.engines;
    await sql`
      insert into saved_searches (id, brand_id, name, filters, shared, created_at)
      select 'ssr_many' || n, ${other.id}, 'many ' || n, '{}', true, now()
      from generate_series(1, ${MAX_SAVED - 2}::int) as n`.execute(db);
    const answers = await Promise.all(keys.map((by, i) => save(`one more ${i}`, by)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 403]);
    const refused = answers.find(({ status }) => status === 403);
    expect(refused?.body).toMatchObject({ code: 'SAVED_SEARCH_LIMIT_REACHED', limit: MAX_SAVED });
    expect((await save('LAST', first)).status).toBe(201);
    const { body } = await call(`${app.url}${PATH}?limit=1`, first);
    expect(body.pagination.total).toBe(MAX_SAVED);
    const taken = await send(`${app.url}${PATH}/${body.data[0].id}`, first, 'PATCH', { name: 'Many 7' });
    expect([taken.status, taken.body.code]).toEqual([409, 'CONFLICT']);
    await sql`delete from saved_searches where id like 'ssr_many%'`.execute(db);
  });

  it('lose those that a removed person kept to themselves', async () => {
    const email = `${unique('gone')}@brand.example`;
    const fresh = await signIn(app, brand.id);
    const { body } = await fresh.send('POST', '/v1/people', { email, role: 'manager', name: 'G' });
    const gone = await signIn(app, brand.id, email);
    for (const shared of [true, false]) {
      await gone.send('POST', PATH, { name: `by them ${shared}`, filters: {}, shared });
    }
    await fresh.send('DELETE', `/v1/people/${body.data.id}`);
    await deleteOrphans(directory.engines.db);
    const { rows } = await sql<{ name: string }>`
      select name from saved_searches where name like 'by them%'`.execute(directory.engines.db);
    expect(rows).toEqual([{ name: 'by them true' }]);
  });

  it('count for each person what they have not seen', async () => {
    const { id } = await newSearch({ category: 'Opera' });
    await write(upsertCreators, creator(500, { category: 'Opera' }), creator(501, { category: 'Opera' }));
    await findMatches(app.context);
    const unseen = async () => (await owner.get(`${PATH}/${id}`)).body.data.unseen;
    expect(await unseen()).toBe(2);
    const { body } = await owner.get(`${PATH}/${id}/matches`);
    expect((await owner.send('POST', `${PATH}/${id}/seen`, { after: body.next_after })).status).toBe(200);
    expect(await unseen()).toBe(0);
    await write(upsertCreators, creator(502, { category: 'Opera' }));
    await findMatches(app.context);
    expect(await unseen()).toBe(1);
    const list = (await owner.get(PATH)).body.data;
    expect(list.find((one: { id: string }) => one.id === id)).toMatchObject({ unseen: 1, matches: 3 });
  });
});
