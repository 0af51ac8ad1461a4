import { z } from 'zod';
import { drainClicks } from '../src/interfaces/links-host/jobs.ts';
import { integer, query } from '../src/kit/engines/clickhouse/query.ts';
import { alternate, median } from './load.ts';
import { type ClickSession, clickOn } from './redirects.ts';
import { type Add, progress, round } from './report.ts';

const CONNECTIONS = 256;
const FLOOR = 4;

interface Drained {
  clicked: number;
  drained: number;
  rows: number;
}

async function countRows({ context }: ClickSession): Promise<number> {
  const [row] = await query(context.clickhouse, z.object({ rows: integer }), 'SELECT count() AS rows FROM clicks_v1');
  return row?.rows ?? 0;
}

async function clickAndDrain(session: ClickSession): Promise<Drained> {
  const { perSecond } = await clickOn(session, session.api.links, CONNECTIONS, session.clickMs);
  const before = await countRows(session);
  const from = performance.now();
  await drainClicks(session.context);
  const seconds = (performance.now() - from) / 1000;
  const rows = (await countRows(session)) - before;
  return { clicked: perSecond, drained: rows / seconds, rows };
}

/** Compares the drain's speed with the click rate of one process: it must keep up with several of them. */
export async function measureDrain(session: ClickSession, add: Add): Promise<void> {
  progress('Clicking and draining');
  await drainClicks(session.context);
  const [results = []] = await alternate(session.rounds, [() => clickAndDrain(session)]);
  const rows = results.reduce((sum, result) => sum + result.rows, 0);
  add({
    name: 'drain_to_redirects',
    value: median(results.map(({ clicked, drained }) => drained / clicked)),
    floor: FLOOR,
    bound: 'at least',
    measured: `${round(median(results.map(({ drained }) => drained)))} rows/s into ClickHouse with its rollups, ${round(
      median(results.map(({ clicked }) => clicked)),
    )} redirects/s, ${rows} rows`,
    warm: 'none',
  });
}
