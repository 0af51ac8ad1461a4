import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { findLast } from '../../src/directory/changes/changes.ts';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { seededRandom } from '../../src/directory/imports/indexing/random.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { rollback } from '../../src/directory/imports/indexing/versions.ts';
import { patchCreators, upsertCreators } from '../../src/directory/imports/indexing/writes.ts';
import { forget } from '../../src/directory/opt-out/forget.ts';
import { findMatches } from '../../src/directory/saved-searches/matches.jobs.ts';
import type { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { untilDone } from '../harness/analytics/figures.ts';
import { call, keysInTurn, made, makeBrand, startApp, startScript, unique, until } from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory } from '../harness/directory/indexer.ts';
import { testSeed as SEED } from '../harness/kit/random-runs.ts';
import { longDeadlineMs } from '../run/deadline.ts';

const SEARCHES = 250;
const PLANTED = 500;
const A_BRAND = 100;
const OTHERS = 1_000;
const PROCESSES = 2;
const RACES = 20;
const RACED_SEARCHES = 20;

const ndjson = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
/** The category that a search finds. */
const themeOf = (pk: number) => `theme ${pk % SEARCHES}`;

test(
  'Five hundred creators who begin to match 250 searches are each reported once, none missed, by processes that are killed',
  async () => {
    process.stderr.write(`seed ${SEED}\n`);
    const random = seededRandom(SEED);
    const directory = await makeDirectory();
    const { engines } = directory;
    const app = await startApp({ alias: engines.alias, urls: { postgres: directory.env.DATABASE_URL ?? '' } });
    const env = { DATABASE_URL: directory.env.DATABASE_URL, DIRECTORY_ALIAS: engines.alias };
    const start = () => startScript('test/harness/directory/matching-process.ts', env);
    const running = Array.from({ length: PROCESSES }, start);
    let kills = 0;

    const sourceOf = async (rows: readonly object[]) =>
      await openFiles([await directory.file(`${unique('rows')}.ndjson`, ndjson(rows))]);
    const importRows = async (rows: readonly object[]) =>
      await importDirectory(engines, { source: await sourceOf(rows), ...FORCED, restart: true });
    const write = async (how: typeof upsertCreators, rows: readonly object[]) =>
      await how(engines, { source: await sourceOf(rows), rejectsFile: `${directory.folder}/rejects.ndjson` });

    async function behind(): Promise<number> {
      const last = await findLast(engines.db, engines.alias);
      const { rows } = await sql<{ count: number }>`
      select count(*) as count from saved_searches where seq < ${last?.seq ?? 0}`.execute(engines.db);
      return rows[0]?.count ?? 0;
    }

    /** Kills processes while they look, and waits until every search has seen the last change. */
    async function lookThrough(): Promise<void> {
      for (let round = 0; round < PROCESSES; round += 1) {
        const left = SEARCHES - 1 - random.below(SEARCHES / 2);
        await until('some searches to be looked at', async () => (await behind()) <= left);
        if ((await behind()) > 0) kills += 1;
        await running[round]?.kill();
        running[round] = start();
      }
      await until('all searches to be looked at', async () => (await behind()) === 0);
    }

    try {
      // Every search matches two creators when it is saved; they change all the time and are never new.
      const base: DirectoryCreatorDetail[] = [
        ...Array.from({ length: PLANTED }, (_, i) => creator(10_000 + i, { category: themeOf(i) })),
        ...Array.from({ length: OTHERS }, (_, i) => creator(20_000 + i, { category: 'Other' })),
      ];
      await importRows(base);
      const searches: { id: string; key: () => string; category: string }[] = [];
      for (let i = 0; i < SEARCHES; ) {
        const key = await keysInTurn(await makeBrand(app.context), 20);
        for (let n = 0; n < A_BRAND && i < SEARCHES; n += 1, i += 1) {
          const category = themeOf(i);
          const { id } = await made(`${app.url}/v1/saved-searches`, key(), { name: category, filters: { category } });
          searches.push({ id, key, category });
        }
      }

      const planted = Array.from({ length: PLANTED }, (_, i) => i + 1);
      const grown = (by: number) => base.map((row) => ({ ...row, follower_count: 1_000 + by }));
      const asNew = (pks: readonly number[]) => pks.map((pk) => creator(pk, { category: themeOf(pk) }));
      const [imported, upserted, patched] = [planted.slice(0, 200), planted.slice(200, 350), planted.slice(350)];
      // Those who will be patched are there already, and match nothing.
      const waiting = patched.map((pk) => creator(pk, { category: 'Waiting' }));

      await importRows([...grown(1), ...waiting, ...asNew(imported)]);
      await lookThrough();
      await write(upsertCreators, asNew(upserted));
      const looking = lookThrough();
      for (const some of [patched.slice(0, 50), patched.slice(50, 100), patched.slice(100)]) {
        await write(
          patchCreators,
          some.map((pk) => ({ pk, category: themeOf(pk) })),
        );
      }
      await looking;
      await lookThrough();
      // Everyone changes once more, some leave and come back: none of them is new.
      await importRows([...grown(2), ...asNew(planted.slice(25))]);
      await rollback(engines, {});
      await importRows([...grown(3), ...asNew(planted)]);
      await lookThrough();

      const found: number[] = [];
      for (const { id, key, category } of searches) {
        const { body } = await call(`${app.url}/v1/saved-searches/${id}/matches?limit=1000`, key());
        const pks: number[] = body.data.map(({ pk }: { pk: number }) => pk);
        expect([category, pks.filter((pk) => themeOf(pk) !== category)]).toEqual([category, []]);
        found.push(...pks);
      }
      expect(found.toSorted((a, b) => a - b)).toEqual(planted);
      process.stderr.write(`${kills} kills while searches were looked at\n`);
      expect(kills).toBeGreaterThan(0);
    } finally {
      await Promise.all(running.map((one) => one.kill()));
      await app.close();
      await directory.close();
    }
  },
  longDeadlineMs,
);

test('A creator who opts out while searches are looked at is in no matches, whichever comes first', async () => {
  const directory = await makeDirectory();
  const { engines } = directory;
  const app = await startApp({ alias: engines.alias, urls: { postgres: directory.env.DATABASE_URL ?? '' } });
  const write = async (rows: readonly object[]) => {
    const source = await openFiles([await directory.file(`${unique('rows')}.ndjson`, ndjson(rows))]);
    return { source, rejectsFile: `${directory.folder}/rejects.ndjson` };
  };
  try {
    await importDirectory(engines, { ...(await write([creator(1)])), ...FORCED });
    const key = await keysInTurn(await makeBrand(app.context), 5);
    for (let i = 0; i < RACED_SEARCHES; i += 1) {
      await made(`${app.url}/v1/saved-searches`, key(), { name: `raced ${i}`, filters: { category: 'Raced' } });
    }
    for (let pk = 2; pk < 2 + RACES; pk += 1) {
      await upsertCreators(engines, await write([creator(pk, { category: 'Raced' })]));
      await Promise.all([
        untilDone(() => findMatches(app.context)),
        untilDone(() => findMatches(app.context)),
        forget(engines, { kind: 'pk', value: pk }, { reason: 'A race', by: 'operator' }),
      ]);
      const { rows } = await sql`select from saved_search_matches where pk = ${pk}`.execute(engines.db);
      expect([pk, rows.length]).toEqual([pk, 0]);
    }
  } finally {
    await app.close();
    await directory.close();
  }
});
