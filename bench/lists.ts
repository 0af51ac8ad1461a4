import { sql } from 'kysely';
import { createKey } from '../src/platform/keys/keys.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { createBrand, listSubscriptions } from '../src/platform/brands/brands.ts';
import { buildApps } from '../src/process/apps.ts';
import { benchCommand } from './command.ts';
import { alternate, latencyMs, median, openTarget } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { progress, type Ratio, type Results, round } from './report.ts';

const ROWS = 100_000;
const LAST_PAGE = 1_000;
const ROUNDS = 40;
/** The same order of magnitude: no page may take ten times as long as another. */
const ORDER_OF_TIME = 10;

benchCommand(
  'bench lists',
  `Measures page ${LAST_PAGE} against page 1 of the brand's lists with ${ROWS.toLocaleString('en')} rows each.`,
).parse();

/** A brand with enough creators, roster entries, campaigns and applications to fill every list. */
async function fill({ postgres: { db } }: Context, brandId: string): Promise<void> {
  const at = sql`timestamptz '2026-01-01' + n * interval '1 second'`;
  const rows = sql`generate_series(1, ${sql.lit(ROWS)}) n`;
  await sql`insert into creators (id, brand_id, email, name, created_at)
    select 'crt_' || n, ${brandId}, 'c' || n || '@example.com', 'Creator ' || n, ${at} from ${rows}`.execute(db);
  await sql`insert into roster_entries (id, brand_id, creator_id, status, added_at)
    select 'rst_' || n, ${brandId}, 'crt_' || n, 'active', ${at} from ${rows}`.execute(db);
  await sql`insert into campaigns (id, brand_id, title, status, created_at)
    select 'cmp_' || n, ${brandId}, 'Campaign ' || n, 'active', ${at} from ${rows}`.execute(db);
  await sql`insert into applications (id, brand_id, campaign_id, creator_id, creator_email, status, applied_at)
    select 'app_' || n, ${brandId}, 'cmp_' || (n % 1000 + 1), 'crt_' || n, 'c' || n || '@example.com', 'pending', ${at}
    from ${rows}`.execute(db);
  await sql`analyze`.execute(db);
}

async function measureList(url: string, keys: readonly string[], list: string): Promise<Ratio> {
  let turn = 0;
  const target = openTarget(url, () => {
    turn += 1;
    return { authorization: `Bearer ${keys[turn % keys.length]}` };
  });
  const page = (number: number) => () =>
    latencyMs(target, { method: 'GET', path: `/v1/${list}?limit=100&page=${number}` });
  await alternate(5, [page(1), page(LAST_PAGE)]);
  const [first = [], last = []] = await alternate(ROUNDS, [page(1), page(LAST_PAGE)]);
  await target.pool.close();
  return {
    name: `${list}_page_${LAST_PAGE}_to_page_1`,
    value: median(last) / median(first),
    floor: ORDER_OF_TIME,
    bound: 'at most',
    measured: `page 1: ${round(median(first))} ms, page ${LAST_PAGE}: ${round(median(last))} ms, exact totals`,
    warm: "PostgreSQL's buffers",
  };
}

async function measure(results: Results, context: Context): Promise<void> {
  const { db } = context.postgres;
  await migratePostgres(db);
  await migrateClickHouse(context.clickhouse);
  const brandId = await createBrand(db, context.clock, { name: 'lists', plan: 'enterprise', status: 'active' });
  const subscriptionId = (await listSubscriptions(db, brandId)).find(({ kind }) => kind === 'brand')?.id ?? '';
  const request = { brandId, subscriptionId, kind: 'brand', name: 'bench' } as const;
  const keys = await Promise.all(
    Array.from({ length: 20 }, async () => (await createKey(db, context.clock, request)).key),
  );
  progress(`Filling the lists with ${ROWS.toLocaleString('en')} rows each`);
  await fill(context, brandId);
  const apps = await buildApps(context);
  const url = await apps.api.listen({ host: '127.0.0.1', port: 0 });
  for (const list of ['campaigns', 'applications', 'roster', 'creators']) {
    progress(`GET /v1/${list}`);
    await results.part(list, async (add) => add(await measureList(url, keys, list)));
  }
  await apps.close();
}

measureOnOwnEngines(measure, { only: ['postgres', 'redis', 'clickhouse'] });
