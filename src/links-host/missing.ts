import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { insertOnce } from '../engines/clickhouse/insert.ts';
import type { ClickHouse } from '../engines/clickhouse/open.ts';
import { query } from '../engines/clickhouse/query.ts';
import { COLUMNS } from './row.ts';

const AT = COLUMNS.indexOf('at');
/** What another worker has just sent is seen by then. */
const LOOK_AGAIN_MS = 1_000;

const Id = z.object({ click_id: z.string() });
const idOf = (row: string) => row.slice(0, row.indexOf('\t'));

async function missingRows(clickhouse: ClickHouse, rows: readonly string[]): Promise<string[]> {
  const times = rows.map((row) => row.split('\t', AT + 1)[AT] ?? '').sort();
  const sql = `SELECT click_id FROM clicks_v1
    WHERE at >= {from:DateTime64(3, 'UTC')} AND at <= {until:DateTime64(3, 'UTC')}`;
  const stored = await query(clickhouse, Id, sql, { from: times[0] ?? '', until: times.at(-1) ?? '' });
  const ids = new Set(stored.map(({ click_id }) => click_id));
  return rows.filter((row) => !ids.has(idOf(row)));
}

/**
 * For a batch that was sent again. A ClickHouse without replicas writes down a token just before the part that it stands
 * for: killed in between, it takes the second sending for a duplicate of rows that it does not have (measured: one in
 * seventy kills within an insert). The rollups may then count them twice, which `reconcileFigures` puts right.
 */
export async function insertMissing(clickhouse: ClickHouse, batch: { token: string; rows: string }): Promise<void> {
  // With replicas the token and the part are one step, and another replica may be behind.
  if (clickhouse.cluster !== undefined) return;
  let rows = batch.rows.split('\n').filter(Boolean);
  for (let again = 1; ; again += 1) {
    rows = await missingRows(clickhouse, rows);
    if (rows.length === 0) return;
    await pause(LOOK_AGAIN_MS);
    rows = await missingRows(clickhouse, rows);
    if (rows.length === 0) return;
    const text = rows.map((row) => `${row}\n`).join('');
    await insertOnce(clickhouse, 'clicks_v1', COLUMNS, text, `clicks:${batch.token}:again:${again}:${rows.length}`);
  }
}
