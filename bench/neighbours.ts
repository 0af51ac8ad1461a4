import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { importDirectory } from '../src/directory/imports/indexing/import.ts';
import { sampleSource } from '../src/directory/imports/indexing/sample.ts';
import { toDirectoryEngines } from '../src/directory/imports/indexing/writer.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { createBrand, listSubscriptions } from '../src/platform/brands/brands.ts';
import { createKey } from '../src/platform/keys/keys.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import { environmentOf, startServer } from './children.ts';
import { benchCommand } from './command.ts';
import { makeDataKeys, takeTurns } from './keys.ts';
import { alternate, latencyMs, median, medianRatio, openTarget, percentile } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { progress, type Results, round } from './report.ts';

const CREATORS = 20_000;
const LISTS = 20;
/** Their creators are more than a process keeps in memory. */
const ROTATING = 150;
const LOADERS = 8;
const ROUNDS = 6;
const ROUND_MS = 6_000;
/** Searches that are sent at a time, each after a pause, so that the machine is not full without the neighbour. */
const SEARCHERS = 4;
const PAUSE_MS = 40;
const KEYS_PER_BRAND = 20;
/** So many keys of one brand that their rate limits none of its calls. */
const KEYS_OF_NEIGHBOUR = 200;
const NO_MORE_THAN = 3;

const { only } = benchCommand(
  'bench neighbours',
  `Measures a brand's searches beside ${LOADERS} calls at a time of another brand, over ${LISTS} lists, against the searches alone.`,
)
  .option('--only <loads...>', 'some of what the neighbour sends')
  .parse()
  .opts<{ only?: string[] }>();

async function makeNeighbour({ postgres, clock }: Context): Promise<() => string> {
  const { db } = postgres;
  const name = `neighbour ${process.pid}`;
  const brandId = await createBrand(db, clock, { name, plan: 'enterprise', status: 'active' });
  const subscriptionId = (await listSubscriptions(db, brandId)).find(({ kind }) => kind === 'brand')?.id ?? '';
  const request = { brandId, subscriptionId, kind: 'brand', name: 'bench' } as const;
  const keys: string[] = [];
  for (let i = 0; i < KEYS_OF_NEIGHBOUR; i += 1) keys.push((await createKey(db, clock, request)).key);
  let turn = 0;
  return () => {
    turn += 1;
    return keys[turn % keys.length] ?? '';
  };
}

const Made = z.object({ data: z.object({ id: z.string() }) });
const Many = z.object({ data: z.array(z.object({ id: z.string() })) });
const Found = z.object({ data: z.array(z.object({ pk: z.number() })) });

interface Call {
  path: string;
  body?: object;
}

async function measureNeighbours(results: Results, url: string, nextKey: () => string, ownKey: () => string) {
  const send = async ({ path, body }: Call): Promise<{ status: number; text: string }> => {
    const answer = await fetch(`${url}/v1/${path}`, {
      headers: { authorization: `Bearer ${ownKey()}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const make = async (call: Call): Promise<string> => {
    const { status, text } = await send(call);
    if (status !== 201) throw new Error(`${call.path} answered ${status}: ${text}`);
    return Made.parse(JSON.parse(text)).data.id;
  };

  progress(`Filling ${LISTS} lists`);
  const ids: string[] = [];
  for (let i = 0; i < LISTS; i += 1) {
    ids.push(await make({ path: 'lists', body: { name: `list ${i}`, search: { follower_min: `${1_000 + i}` } } }));
  }
  const more: string[] = [];
  const saved = await make({ path: 'saved-searches', body: { name: 'new ones', filters: { follower_min: '1000' } } });
  const seeds = Found.parse(JSON.parse((await send({ path: 'creators/search?limit=100' })).text)).data;
  let made = 0;
  const next = () => {
    made += 1;
    return made;
  };
  /** The neighbour's calls; each is a new one, so that no cache answers it. */
  const loads: Record<string, () => Call> = {
    previews: () => ({
      path: `creators/search?preview=true&stats=true&in_list=${ids.join(',')}&follower_min=${next()}`,
    }),
    // Refused when there are 200, after the search.
    lists_from_searches: () => ({
      path: 'lists',
      body: { name: `more ${next()}`, search: { follower_min: `${next()}` } },
    }),
    // More than the lists that a process keeps in memory.
    rotating_lists: () => ({
      path: `creators/search?preview=true&in_list=${Array.from({ length: LISTS }, () => more[next() % more.length]).join(',')}`,
    }),
    names_to_lists: () => ({
      path: `lists/${ids[next() % LISTS]}/creators`,
      body: { usernames: Array.from({ length: 1_000 }, () => `nobody_${next()}`) },
    }),
    matches: () => ({ path: `saved-searches/${saved}/matches?limit=1000&after=${next() % 50}` }),
    likeness: () => ({
      path: `creators/search?similar_to=${seeds[next() % seeds.length]?.pk}&preview=true&follower_min=${next()}`,
    }),
    autocomplete: () => ({ path: `creators/autocomplete?q=${'abcdefghijklmnopqrstuvwxyz'[next() % 26]}` }),
  };

  const target = openTarget(url, () => ({ authorization: `Bearer ${nextKey()}` }));
  let sent = 0;
  const p95 = async (): Promise<number> => {
    const until = performance.now() + ROUND_MS;
    const latencies: number[] = [];
    const searcher = async () => {
      while (performance.now() < until) {
        sent += 1;
        const path = `/v1/creators/search?limit=20&follower_min=${sent}&category=${['food', 'fitness', 'beauty'][sent % 3]}`;
        latencies.push(await latencyMs(target, { method: 'GET', path }));
        await pause(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: SEARCHERS }, searcher));
    return percentile(latencies, 95);
  };

  for (const [name, load] of Object.entries(loads)) {
    if (only && !only.includes(name)) continue;
    if (name === 'rotating_lists') {
      progress('Filling more lists');
      const { text } = await send({ path: 'lists?limit=100' });
      more.push(...Many.parse(JSON.parse(text)).data.map(({ id }) => id));
      for (let i = more.length; i < ROTATING; i += 1) {
        more.push(await make({ path: 'lists', body: { name: `all ${i}`, search: { follower_min: `${i}` } } }));
      }
    }
    progress(name);
    const statuses = new Map<number, number>();
    const beside = async () => {
      let isOver = false;
      const loader = async () => {
        while (!isOver) {
          const { status } = await send(load());
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status === 429) await pause(PAUSE_MS);
        }
      };
      const loaders = Array.from({ length: LOADERS }, loader);
      try {
        return await p95();
      } finally {
        isOver = true;
        await Promise.all(loaders);
      }
    };
    await alternate(1, [p95, beside]);
    statuses.clear();
    await results.part(name, async (add) => {
      const [alone = [], loaded = []] = await alternate(ROUNDS, [p95, beside]);
      const answers = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
      add({
        ...{ name: `search_p95_beside_${name}`, value: medianRatio(loaded, alone), floor: NO_MORE_THAN },
        ...{ bound: 'at most', warm: '-' },
        measured: `p95 ${round(median(alone))} and ${round(median(loaded))} ms; the neighbour got ${answers}`,
      });
    });
  }
  await target.pool.close();
}

async function measure(results: Results, context: Context, urls: EngineUrls): Promise<void> {
  const { config, postgres, clickhouse } = context;
  await migratePostgres(postgres.db);
  await migrateClickHouse(clickhouse);
  progress(`Importing ${CREATORS.toLocaleString('en')} creators, making keys`);
  await importDirectory(toDirectoryEngines(context), { source: sampleSource(CREATORS, 1), bounds: { mode: 'force' } });
  const nextKey = takeTurns(await makeDataKeys(context, KEYS_PER_BRAND));
  const ownKey = await makeNeighbour(context);
  const env = { ...environmentOf(config, urls), DIRECTORY_ALIAS: config.directoryAlias };
  const server = await startServer(() => ['bench/altered-api.ts', 'unchanged'], env);
  await measureNeighbours(results, server.url, nextKey, ownKey);
  await server.stop();
}

measureOnOwnEngines(measure, { mayBeGiven: true });
