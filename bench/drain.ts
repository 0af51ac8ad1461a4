import { z } from 'zod';
import { integer, query } from '../src/engines/clickhouse/query.ts';
import { drainClicks } from '../src/links-host/jobs.ts';
import { alternate, median } from './load.ts';
import { type ClickSitting, clickOn } from './redirects.ts';
import { type Add, progress, round } from './report.ts';

const CONNECTIONS = 256;
const FLOOR = 4;

interface Drained {
  clicked: number;
  drained: number;
  rows: number;
}

async function countRows({ context }: ClickSitting): Promise<number> {
  const [row] = await query(context.clickhouse, z.object({ rows: integer }), 'SELECT count() AS rows FROM clicks_v1');
  return row?.rows ?? 0;
}

async function clickAndDrain(sitting: ClickSitting): Promise<Drained> {
  const { perSecond } = await clickOn(sitting, sitting.api, CONNECTIONS, sitting.clickMs);
  const before = await countRows(sitting);
  const from = performance.now();
  await drainClicks(sitting.context);
  const seconds = (performance.now() - from) / 1000;
  const rows = (await countRows(sitting)) - before;
  return { clicked: perSecond, drained: rows / seconds, rows };
}

/** How fast a drain is beside how fast one process can be clicked: it must catch up with several of them. */
export async function measureDrain(sitting: ClickSitting, add: Add): Promise<void> {
  progress('Clicking and draining');
  await drainClicks(sitting.context);
  const [results = []] = await alternate(sitting.rounds, [() => clickAndDrain(sitting)]);
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
