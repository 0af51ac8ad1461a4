import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DirectoryCreatorDetail } from '../../../src/directory/search/creator.shapes.ts';
import { type Sort, toSort } from '../../../src/directory/search/order.ts';
import { toElasticQuery } from '../../../src/directory/search/query.ts';
import { fetchPage } from '../../../src/directory/search/search.ts';
import { call, makeBrand, startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';

const alias = unique('paging');
let app: TestApp;
let index: string;

/** More creators than Elasticsearch's window of 10,000, of which more have one follower count; some lack a value. */
function crowd(): DirectoryCreatorDetail[] {
  return Array.from({ length: 14_000 }, (_, i) => {
    const pk = (i * 7_919) % 30_011;
    return creator(pk, {
      follower_count: i < 10_500 ? 5_000 : i < 10_800 ? null : ((i * 37) % 9_000) + (i % 7) * 1_000,
      engagement_rate: i % 15 < 4 ? null : ((i * 13) % 700) / 100,
      category: i % 3 === 0 ? 'Food' : 'Fitness',
      state: i % 2 === 0 ? 'CA' : 'Texas',
    });
  });
}

const rows = crowd();

beforeAll(async () => {
  app = await startApp({ alias });
  index = await putDirectory(app.context.elastic, alias, rows);
});
afterAll(() => app?.close());

/** The promised order, by sorting everything in memory. */
function expectedOrder(sort: Sort, keep: (row: DirectoryCreatorDetail) => boolean): number[] {
  const rank = (row: DirectoryCreatorDetail) => (sort === 'followers' ? row.follower_count : row.engagement_rate) ?? -1;
  return rows
    .filter(keep)
    .sort((a, b) => rank(b) - rank(a) || a.pk - b.pk)
    .map(({ pk }) => pk);
}

async function pageOf(
  sort: Sort,
  filter: Parameters<typeof fetchPage>[3],
  offset: number,
  limit = 100,
): Promise<{ pks: number[]; total: number }> {
  const { elastic, directory } = app.context;
  const page = { page: offset / limit + 1, limit, offset };
  const { cards, total } = await fetchPage(elastic, directory.counts, { index, generation: 1 }, filter, sort, page);
  return { pks: [...cards.matchAll(/"pk":(\d+)/g)].map(([, pk]) => Number(pk)), total };
}

const anything = { clauses: [], ranges: { followers: {}, engagement: {} } };
const filters: [string, Parameters<typeof fetchPage>[3], (row: DirectoryCreatorDetail) => boolean][] = [
  ['everything', anything, () => true],
  [
    'one follower count',
    { clauses: [], ranges: { followers: { gte: 5_000, lt: 5_001 }, engagement: {} } },
    (row) => row.follower_count === 5_000,
  ],
  [
    'a category',
    { clauses: [{ term: { 'card.category': 'food' } }], ranges: { followers: {}, engagement: {} } },
    (row) => row.category === 'Food',
  ],
  [
    'at most 5,000 followers',
    { clauses: [], ranges: { followers: { lt: 5_001 }, engagement: {} } },
    (row) => row.follower_count !== null && row.follower_count <= 5_000,
  ],
  [
    'engagement of 3 and more',
    { clauses: [], ranges: { followers: {}, engagement: { gte: 3 } } },
    (row) => (row.engagement_rate ?? 0) >= 3,
  ],
];

describe.each(['followers', 'engagement'] as const)('sorted by %s,', (sort) => {
  it.each(filters)('every page of %s is the one that sorting everything gives', async (_name, filter, keep) => {
    const expected = expectedOrder(sort, keep);
    for (let offset = 0; offset < expected.length + 200; offset += 1_100) {
      const { pks, total } = await pageOf(sort, filter, offset);
      expect(total).toBe(expected.length);
      expect(pks, `offset ${offset}`).toEqual(expected.slice(offset, offset + 100));
    }
    expect((await pageOf(sort, filter, Math.max(0, expected.length - 50))).pks).toEqual(expected.slice(-50));
  });

  it('the first 10,000 results equal those of from and size', async () => {
    for (const from of [0, 450, 501, 5_000, 9_900]) {
      const naive = await app.context.elastic.client.search({
        index,
        from,
        size: 100,
        ...JSON.parse(JSON.stringify({ sort: toSort(sort), query: toElasticQuery(anything, sort) })),
      });
      expect((await pageOf(sort, anything, from)).pks).toEqual(naive.hits.hits.map(({ _id }) => Number(_id)));
    }
  });

  it('no page asks Elasticsearch for more than its window', async () => {
    const { body } = await call(
      `${app.url}/v1/creators/search?sort=${sort}&limit=100&page=140`,
      await (await makeBrand(app.context)).key('brand'),
    );
    expect(body.data).toHaveLength(100);
    expect(body.pagination).toEqual({ page: 140, limit: 100, total: 14_000, has_more: false });
  });
});

describe('paging through the directory', () => {
  it('visits every creator once, and stays on its version when the index is swapped', async () => {
    const walkAlias = unique('walk');
    const walker = await startApp({ alias: walkAlias });
    const few = rows.slice(11_000, 13_000);
    await putDirectory(walker.context.elastic, walkAlias, few);
    const brand = await makeBrand(walker.context);
    const key = await brand.key('brand');
    const seen: number[] = [];
    let version = '';
    for (let page = 1; page <= 20; page += 1) {
      if (page === 8) await putDirectory(walker.context.elastic, walkAlias, [creator(1)]);
      const pin = version ? `&directory_version=${version}` : '';
      const { body, headers } = await call(`${walker.url}/v1/creators/search?limit=100&page=${page}${pin}`, key);
      version ||= headers.get('x-directory-version') ?? '';
      expect(headers.get('x-directory-version')).toBe(version);
      seen.push(...body.data.map(({ pk }: { pk: number }) => pk));
    }
    expect(seen).toHaveLength(2_000);
    expect(new Set(seen)).toEqual(new Set(few.map(({ pk }) => pk)));
    const unpinned = () => call(`${walker.url}/v1/creators/search`, key);
    await until('the new version', async () => {
      const seen = (await unpinned()).headers.get('x-directory-version');
      return seen !== null && seen !== version;
    });
    expect((await unpinned()).body.pagination.total).toBe(1);
    const gone = await call(`${walker.url}/v1/creators/search?directory_version=creators-20200101-aaaaaa`, key);
    expect([gone.status, gone.body.code]).toEqual([409, 'CONFLICT']);
    await walker.close();
  });

  it('shows totals that follow writes within a refresh', async () => {
    const { context } = app;
    const key = await (await makeBrand(context)).key('brand');
    const before = (await call(`${app.url}/v1/creators/search?category=Fresh`, key)).body.pagination.total;
    expect(before).toBe(0);
    const freshAlias = unique('fresh');
    const fresh = await startApp({ alias: freshAlias });
    const freshIndex = await putDirectory(fresh.context.elastic, freshAlias, [creator(1)]);
    const total = async () => (await call(`${fresh.url}/v1/creators/search`, key)).body.pagination?.total;
    expect(await total()).toBe(1);
    await fresh.context.elastic.client.index({
      index: freshIndex,
      id: '2',
      document: { card: { pk: 2, follower_count: 1 } },
    });
    await fresh.context.elastic.client.indices.refresh({ index: freshIndex });
    await until('the new total', async () => (await total()) === 2);
    await fresh.close();
  });
});
