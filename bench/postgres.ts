import { chmod, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Pool } from 'pg';
import { toDocument } from '../src/directory/search/document.ts';
import { writeCreators } from './directory-file.ts';
import { alternate, CONNECTIONS, median, medianRatio, readJson } from './load.ts';
import { INDEXES, lineOf, type SqlSearch, sqlOf, TABLE } from './postgres-queries.ts';
import { startPostgres } from './postgres-server.ts';
import { type Add, progress, round } from './report.ts';
import type { Search } from './searches.ts';
import { flawless, repeated, type Session, shallowMix, someOfEach, targetApi } from './session.ts';

const CHECK_EVERY = 15;

async function fill(pool: Pool, folder: string, creators: number): Promise<void> {
  const from = performance.now();
  const file = path.join(folder, 'creators.tsv');
  await writeCreators(file, creators, (row) => lineOf(toDocument(row)));
  await chmod(file, 0o644);
  await pool.query('CREATE EXTENSION pg_trgm');
  await pool.query(TABLE);
  await pool.query(`COPY creators FROM '${file}'`);
  await rm(file);
  await Promise.all(INDEXES.map((index) => pool.query(index)));
  await pool.query('VACUUM ANALYZE creators');
  progress(`PostgreSQL filled and indexed (${((performance.now() - from) / 1000).toFixed(1)} s)`);
}

/** Runs page and total in sequence on one connection, with as many connections as the other side. */
async function searchesPerSecond(pool: Pool, statements: readonly SqlSearch[]): Promise<number> {
  const left = statements.values();
  const from = performance.now();
  const work = async () => {
    for (const { page, count } of left) {
      const client = await pool.connect();
      await client.query(page);
      await client.query(count);
      client.release();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return (statements.length * 1000) / (performance.now() - from);
}

/** PostgreSQL must interpret the queries like the API. */
async function assertSameTotals(session: Session, pool: Pool, searches: readonly Search[]): Promise<void> {
  const api = targetApi(session, session.api);
  for (const { api: shot, parameters } of searches) {
    const answer = JSON.stringify(await readJson(api, shot));
    const { rows } = await pool.query(sqlOf(parameters).count);
    const total = Number(/"total":(\d+)/.exec(answer)?.[1]);
    if (rows[0]?.total !== total) {
      throw new Error(`${shot.path}: PostgreSQL counts ${rows[0]?.total}, the API ${total}.`);
    }
  }
}

/** The first ten kinds on PostgreSQL with suitable indexes, with exact totals on both sides. */
export async function measurePostgres(session: Session, dataName: string, add: Add): Promise<void> {
  const { scale, api, config } = session;
  const server = await startPostgres(config, dataName, CONNECTIONS);
  try {
    await fill(server.pool, server.folder, scale.creators);
    const mix = shallowMix(session);
    await assertSameTotals(session, server.pool, someOfEach(mix, CHECK_EVERY));
    const some = someOfEach(mix, scale.slowStep).map(({ parameters }) => sqlOf(parameters));
    progress('API and PostgreSQL');
    await searchesPerSecond(server.pool, some);
    const shots = repeated(
      mix.map((search) => search.api),
      scale.repeats,
    );
    const [ours = [], theirs = []] = await alternate(scale.slowRounds, [
      async () => (await flawless('API', targetApi(session, api), shots)).perSecond,
      () => searchesPerSecond(server.pool, some),
    ]);
    add({
      name: 'api_to_postgresql',
      value: medianRatio(ours, theirs),
      floor: scale.isFull ? 20 : null,
      bound: 'at least',
      measured: `${round(median(ours))}/s to ${round(median(theirs))}/s, ten kinds, exact totals`,
      warm: "the API's counts; PostgreSQL's buffers (1.5 GB)",
    });
  } finally {
    await server.stop();
  }
}
