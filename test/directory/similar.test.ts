import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { generateCreators } from '../../src/directory/imports/indexing/sample.ts';
import { THEMES } from '../../src/directory/imports/indexing/sample-words.ts';
import type { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { call, keysInTurn, makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

let app: TestApp;
let key: () => string;
let dataKey: string;

const alias = unique('similar');
const sample = [...generateCreators(4_000, 11)];
const seed = creator(1, {
  category: 'Running',
  niches: 'trail running, parkrun',
  biography: 'Muddy trails and long runs.',
  city: 'Oakland',
  state: 'CA',
  follower_count: 20_000,
});
const near = creator(2, {
  category: 'Running',
  niches: 'trail running, parkrun',
  biography: 'Muddy trails and long runs.',
  city: 'San Jose',
  state: 'CA',
  follower_count: 22_000,
});
const nobody = creator(3, { category: null, niches: null, biography: null, country: null });

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [...sample, seed, near, nobody]);
  const brand = await makeBrand(app.context);
  key = await keysInTurn(brand, 5);
  dataKey = await brand.key('data');
});
afterAll(() => app?.close());

const Found = z.object({
  data: z.array(
    z.looseObject({ pk: z.number(), country: z.string().nullable(), follower_count: z.number().nullable() }),
  ),
  pagination: z.object({ total: z.number(), has_more: z.boolean() }),
  meta: z.object({
    similarity: z.array(z.object({ pk: z.number(), score: z.number(), shared: z.array(z.string()) })),
    interpretation: z.looseObject({ filters: z.looseObject({}).optional() }),
  }),
});
const ask = (query: string) => call(`${app.url}/v1/creators/search?${query}`, key());
async function similar(query: string) {
  const { status, body } = await ask(query);
  expect(status, JSON.stringify(body)).toBe(200);
  return Found.parse(body);
}

/** What a generated creator is about, also where its category or its niches are unknown. */
function themeOf({ category, niches, biography }: DirectoryCreatorDetail): string | undefined {
  const words = `${niches ?? ''} ${biography ?? ''}`;
  const [best] = THEMES.map(([name, its, nouns]) => ({
    name,
    score: [...its.split(', '), ...nouns.split(', ')].filter((word) => words.includes(word)).length,
  })).toSorted((a, b) => b.score - a.score);
  return category ?? (best && best.score > 0 ? best.name : undefined);
}

describe('creators similar to others', () => {
  it('are of the same theme in at least 18 of the first 20, on average, in the generated sample', async () => {
    const themes = new Map(sample.map((row) => [row.pk, themeOf(row)]));
    const seeds = sample.filter((row) => themeOf(row) !== undefined).slice(0, 60);
    let hits = 0;
    for (const { pk } of seeds) {
      const { data } = await similar(`similar_to=${pk}&limit=20`);
      expect(data).toHaveLength(20);
      hits += data.filter((one) => themes.get(one.pk) === themes.get(pk)).length;
    }
    expect(hits / (20 * seeds.length)).toBeGreaterThanOrEqual(0.9);
  });

  it('come best first, without the others themselves, with a score and with what they share', async () => {
    const { data, meta } = await similar('similar_to=1&limit=20');
    expect(meta.similarity[0]).toEqual({
      pk: near.pk,
      score: 1,
      shared: ['niche:trail running', 'niche:parkrun', 'category:running', 'metro:bay-area', 'state:CA', 'country:US'],
    });
    expect(meta.similarity.map(({ pk }) => pk)).toEqual(data.map(({ pk }) => pk));
    const scores = meta.similarity.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(meta.interpretation.filters).toEqual({ similar_to: [1] });
    const both = await similar('similar_to=1,2&limit=100');
    expect(both.data.map(({ pk }) => pk)).not.toContain(2);
    const [first, other] = await Promise.all([ask('similar_to=1&limit=1'), ask('q=creator1&limit=1')]);
    expect(Object.keys(first.body.data[0])).toEqual(Object.keys(other.body.data[0]));
  });

  it('are narrowed by every filter, paged up to the first 1,000, and previewed for free', async () => {
    const { pk = 0 } = sample[0] ?? {};
    const narrowed = await similar(`similar_to=${pk}&country=US&follower_min=1000&with=freshness`);
    expect(narrowed.data.length).toBeGreaterThan(0);
    const wide = sample.slice(0, 10).map((row) => row.pk);
    const pages = await Promise.all(
      [1, 5, 10, 11].map((page) => similar(`similar_to=${wide.join()}&limit=100&page=${page}`)),
    );
    expect(pages.map(({ data, pagination }) => [data.length, pagination.total])).toEqual([
      ...[1, 5, 10].map(() => [100, 1_000]),
      [0, 1_000],
    ]);
    const pks = pages.flatMap(({ data }) => data.map((one) => one.pk));
    expect(new Set(pks).size).toBe(pks.length);
    const preview = await ask(`similar_to=${wide.join()}&limit=100&preview=true`);
    expect(preview.body).toMatchObject({
      pagination: { total: 1_000 },
      preview: { pages: 10, credits_to_fetch_all: 100, facets: { category: expect.any(Array) } },
    });
    const shown = await ask(`similar_to=${wide.join()}&preview=true&facets=followers&stats=true`);
    const counted: { count: number }[] = shown.body.preview.facets.followers;
    // With its filter, the first 1,000 are others; a search that is not cut finds as many as were counted.
    expect(shown.body.preview.facets.followers.every((one: { filter: unknown }) => one.filter === null)).toBe(true);
    const facets = async (query: string) => (await ask(`${query}&preview=true&facets=gender,has_email`)).body;
    for (const seeds of [wide.join(), String(pk)]) {
      const { pagination, preview: all } = await facets(`similar_to=${seeds}&country=US&follower_min=1000`);
      for (const { filter, count } of [...all.facets.gender, ...all.facets.has_email]) {
        expect(filter === null).toBe(pagination.total === 1_000);
        if (filter === null) continue;
        const query = `similar_to=${seeds}&country=US&follower_min=1000&${new URLSearchParams(filter)}`;
        expect((await facets(query)).pagination.total).toBe(count);
      }
    }
    const known: number[] = [];
    for (let page = 1; page <= 10; page += 1) {
      const { data } = await similar(`similar_to=${wide.join()}&limit=100&page=${page}`);
      known.push(...data.flatMap((one) => one.follower_count ?? []));
    }
    expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(known.length);
    expect(shown.body.preview.stats.followers.p50).toBe(known.sort((a, b) => a - b)[Math.ceil(known.length / 2) - 1]);
    expect((await similar(`similar_to=${nobody.pk}`)).data).toEqual([]);
  });

  it('are refused beside another order, and for a key that no creator has, without a charge', async () => {
    const search = async (query: string) => await call(`${app.url}/v1/creators/search?${query}`, dataKey);
    const paid = await search('similar_to=1&limit=5');
    expect([paid.status, paid.headers.get('x-credits-charged')]).toEqual([200, '10']);
    const remaining = paid.headers.get('x-credits-remaining');
    const unknown = await search('similar_to=1,99');
    expect(unknown.status).toBe(422);
    expect(unknown.body.details).toEqual([
      { field: 'similar_to', code: 'not_found', message: expect.stringContaining('names 99,') },
    ]);
    expect(unknown.headers.get('x-credits-remaining')).toBe(remaining);
    for (const query of ['sort=engagement', 'pks=4', 'usernames=a']) {
      const { status, body } = await search(`similar_to=1&${query}`);
      expect([status, body.details?.[0]?.field], query).toEqual([422, query.split('=')[0]]);
    }
    const many = await search(`similar_to=${Array.from({ length: 11 }, (_, i) => i).join()}`);
    expect(many.body.details?.[0]).toMatchObject({ field: 'similar_to' });
    const older = await call(`${app.url}/api/v1/creators/search?similar_to=1`, key());
    expect([older.status, older.headers.get('x-ignored-params')]).toEqual([200, 'similar_to']);
  });
});
