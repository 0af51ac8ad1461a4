import { expect } from 'vitest';
import { z } from 'zod';
import { toDocument } from '../../../src/directory/search/document.ts';
import { call, keysInTurn, makeBrand, type TestApp, until } from '../app.ts';
import { creator, putDirectory } from './directory.ts';

const Refreshes = z.object({
  _all: z.object({ total: z.object({ refresh: z.object({ external_total: z.number() }) }) }),
});

const [BEFORE, AFTER, REFRESHES, LOOKS] = [15, 21, 20, 10];

/** Total, first page and a later page, as a customer gets them. */
async function look(app: TestApp, key: string): Promise<number[]> {
  const pages = ['limit=50', 'limit=5&page=4', 'limit=5&page=5'];
  const answers = await Promise.all(pages.map((page) => call(`${app.url}/v1/creators/search?${page}`, key)));
  return answers.flatMap(({ body }) => [body.pagination?.total, body.data?.length]);
}

/**
 * The API counts 15 creators; the index starts again by `restart` and grows to 21, until it has been refreshed exactly
 * as often as when the API counted. From then on every look must see 21.
 */
export async function growAcrossRestart(app: TestApp, alias: string, restart: () => Promise<void>): Promise<void> {
  const { elastic } = app.context;
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 100_000 });
  const key = await keysInTurn(brand, 10, 'data');
  const creators = Array.from({ length: BEFORE }, (_, i) => creator(i + 1));
  const index = await putDirectory(elastic, alias, creators);
  const put = (pk: number) =>
    elastic.client.index({ index, id: String(pk), document: toDocument(creator(pk)), refresh: true });
  const refreshes = async () =>
    Refreshes.parse(await elastic.client.indices.stats({ index, metric: 'refresh' }))._all.total.refresh.external_total;
  while ((await refreshes()) < REFRESHES) await put(1);
  await until('the API to count what it had', async () => (await look(app, key()))[0] === BEFORE);
  const counted = await refreshes();

  await restart();
  expect(await refreshes()).toBeLessThan(counted - (AFTER - BEFORE));
  for (let pk = BEFORE + 1; pk <= AFTER; pk += 1) await put(pk);
  while ((await refreshes()) < counted) await put(1);
  expect(await refreshes()).toBe(counted);

  const right = [AFTER, AFTER, AFTER, 5, AFTER, 1];
  await until('the API to see all', async () => (await look(app, key()))[1] === AFTER);
  await until('the API to count them', async () => (await look(app, key()))[0] === AFTER);
  for (let i = 0; i < LOOKS; i += 1) expect(await look(app, key())).toEqual(right);
}
