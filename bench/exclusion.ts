import { importDirectory } from '../src/directory/imports/indexing/import.ts';
import { sampleSource } from '../src/directory/imports/indexing/sample.ts';
import { toDirectoryEngines } from '../src/directory/imports/indexing/writer.ts';
import { createList, searchPks } from '../src/directory/lists/lists.ts';
import { createKey } from '../src/platform/keys/keys.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { inWork } from '../src/kit/operation/work.ts';
import { createBrand, listSubscriptions } from '../src/platform/brands/brands.ts';
import { buildApps } from '../src/process/apps.ts';
import { benchCommand } from './command.ts';
import { alternate, latencyMs, median, openTarget } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { progress, type Ratio, type Results, round } from './report.ts';

const CREATORS = 1_010_000;
const EXCLUDED = 10_000;
const LAST_PAGE = 10_000;
const ROUNDS = 60;

benchCommand(
  'bench exclusion',
  `Measures a search that leaves out a list of ${EXCLUDED.toLocaleString('en')} creators against one that leaves out none, and its page ${LAST_PAGE} against page 1.`,
).parse();

async function fill(context: Context): Promise<{ brandId: string; keys: string[] }> {
  const { postgres, clock } = context;
  await migratePostgres(postgres.db);
  await migrateClickHouse(context.clickhouse);
  await importDirectory(toDirectoryEngines(context), { source: sampleSource(CREATORS, 1), bounds: { mode: 'force' } });
  const brandId = await createBrand(postgres.db, clock, {
    name: `exclusion ${process.pid}`,
    plan: 'enterprise',
    status: 'active',
  });
  const subscriptionId = (await listSubscriptions(postgres.db, brandId)).find(({ kind }) => kind === 'brand')?.id ?? '';
  const request = { brandId, subscriptionId, kind: 'brand', name: 'bench' } as const;
  const made = Array.from({ length: 30 }, async () => (await createKey(postgres.db, clock, request)).key);
  return { brandId, keys: await Promise.all(made) };
}

async function makeList(context: Context, brandId: string): Promise<string> {
  const pks = await searchPks(context, { brandId }, { follower_min: '40000' });
  if (pks.length < EXCLUDED) throw new Error(`Only ${pks.length} creators to leave out.`);
  const spread = pks.filter((_, i) => i % Math.floor(pks.length / EXCLUDED) === 0).slice(0, EXCLUDED);
  const actor = { brandId, keyId: null, operation: 'bench', requestId: null };
  const list = await inWork(context.postgres.db, context.clock, actor, (work) =>
    createList(work, { name: 'excluded' }, { pks: spread, by: 'bench' }),
  );
  return list.id;
}

async function measure(results: Results, context: Context): Promise<void> {
  progress(`Importing ${CREATORS.toLocaleString('en')} creators`);
  const { brandId, keys } = await fill(context);
  const list = await makeList(context, brandId);
  const apps = await buildApps(context);
  const url = await apps.api.listen({ host: '127.0.0.1', port: 0 });
  let turn = 0;
  const target = openTarget(url, () => {
    turn += 1;
    return { authorization: `Bearer ${keys[turn % keys.length]}` };
  });
  const search = (query: string) => () => latencyMs(target, { method: 'GET', path: `/v1/creators/search?${query}` });
  const ratioOf = async (name: string, [one, other]: [string, string], floor: number): Promise<Ratio> => {
    await alternate(5, [search(one), search(other)]);
    const [base = [], more = []] = await alternate(ROUNDS, [search(one), search(other)]);
    const measured = `${round(median(base))} ms and ${round(median(more))} ms, medians of ${ROUNDS}`;
    return { name, value: median(more) / median(base), floor, bound: 'at most', measured, warm: 'counts, query cache' };
  };
  const without = `not_in_list=${list}`;
  await results.part('exclusion', async (add) => {
    add(await ratioOf('excluded_by_category', ['category=food&limit=20', `category=food&limit=20&${without}`], 1.3));
    add(await ratioOf('excluded_by_place', ['city=NYC&limit=100', `city=NYC&limit=100&${without}`], 1.3));
    const deep = `limit=100&${without}`;
    add(await ratioOf(`page_${LAST_PAGE}_to_page_1`, [deep, `${deep}&page=${LAST_PAGE}`], 1.2));
  });
  await target.pool.close();
  await apps.close();
}

measureOnOwnEngines(measure, { elasticsearchHeapMb: 1_024 });
