import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { sampleSource } from '../../src/directory/imports/indexing/sample.ts';
import { call, keysInTurn, makeBrand, startApp, type TestApp } from '../harness/app.ts';
import { makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';

const CREATORS = 6_000;
let one: TestDirectory;
let three: TestDirectory;
let apps: TestApp[];
let keys: (() => string)[];

beforeAll(async () => {
  [one, three] = await Promise.all([makeDirectory(), makeDirectory()]);
  for (const [directory, shards] of [
    [one, 1],
    [three, 3],
  ] as const) {
    const engines = { ...directory.engines, layout: { shards, replicas: 0 } };
    await importDirectory(engines, { source: sampleSource(CREATORS, 7) });
  }
  apps = await Promise.all([one, three].map(({ engines: { alias } }) => startApp({ alias })));
  keys = await Promise.all(apps.map(async ({ context }) => await keysInTurn(await makeBrand(context), 5)));
});
afterAll(async () => {
  for (const app of apps ?? []) await app.close();
  await Promise.all([one?.close(), three?.close()]);
});

/** The answers of the undivided directory and of the divided one. */
const both = async (path: string) =>
  await Promise.all(
    apps.map(async (app, i) => {
      const { status, body } = await call(`${app.url}${path}`, keys[i]?.() ?? '');
      const { directory_version: _version, ...rest } = body;
      return { status, body: JSON.stringify(rest).replaceAll(/"directory_version":"[^"]*"/g, '') };
    }),
  );

describe('A directory on three shards', () => {
  it('has the requested shards, with one segment in each', async () => {
    const { client } = three.elastic;
    const index = Object.keys(await client.indices.getAlias({ name: three.engines.alias }))[0] ?? '';
    const stats = await client.indices.stats({ index, level: 'shards' });
    const shards = Object.values(stats.indices?.[index]?.shards ?? {}).flat();
    expect(shards.map(({ segments }) => segments?.count)).toEqual([1, 1, 1]);
  });

  it('has the values that divide its orders in its mapping, so that no search measures them', async () => {
    const mapping = await three.elastic.client.indices.getMapping({ index: three.engines.alias });
    const cuts: Record<string, number[]> = Object.values(mapping)[0]?.mappings._meta?.cuts ?? {};
    const fields = ['card.engagement_rate', 'card.follower_count', 'x.data_as_of', 'x.media_count'];
    expect(Object.keys(cuts).sort()).toEqual(fields);
    const followers = cuts['card.follower_count'] ?? [];
    expect(followers.length).toBeGreaterThan(300);
    expect(followers).toEqual([...followers].sort((a, b) => a - b));
  });

  it('counts the matches of a new search once for ten callers who want its deep pages at the same time', async () => {
    const queriesOf = async () =>
      (await one.elastic.client.indices.stats({ index: one.engines.alias, metric: 'search' }))._all.primaries?.search
        ?.query_total ?? 0;
    const before = await queriesOf();
    const search = (_: unknown, i: number) =>
      call(`${apps[0]?.url}/v1/creators/search?engagement_min=0.0001&limit=100&page=${40 + i}`, keys[0]?.() ?? '');
    const answers = await Promise.all(Array.from({ length: 10 }, search));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await queriesOf()) - before).toBe(answers.length + 1);
  });

  it.each([
    '/v1/creators/search?limit=50',
    '/v1/creators/search?city=NYC&limit=50&sort=engagement',
    '/v1/creators/search?follower_min=5000&follower_max=60000&page=10&limit=90',
    '/v1/creators/search?follower_max=20000&page=30&limit=100',
    '/v1/creators/search?q=fitness&limit=30',
    '/v1/creators/search?preview=true',
    '/v1/creators/search?preview=true&city=LA',
    '/v1/creators/search?preview=true&follower_min=8000',
    '/v1/creators/dictionary/niches?limit=100',
    '/v1/creators/dictionary/states?limit=100',
    '/v1/creators/autocomplete?q=a',
  ])('answers %s like a directory on one shard', async (path) => {
    const [undivided, divided] = await both(path);
    expect(undivided?.status).toBe(200);
    expect(divided).toEqual(undivided);
  });
});

describe('An import with replicas', () => {
  it('is refused if there are too few nodes for them, and changes nothing', async () => {
    const engines = { ...one.engines, layout: { shards: 1, replicas: 2 } };
    const source = sampleSource(100, 1);
    await expect(importDirectory(engines, { source })).rejects.toThrow(
      /DIRECTORY_REPLICAS=2 needs 3 data nodes.*has 1/,
    );
  });
});
