import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { insertOnce } from '../../kit/engines/clickhouse/insert.ts';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { command, idTuple, integer, readBack } from '../../kit/engines/clickhouse/query.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { COLUMNS, STORED } from './row.ts';

const AT = COLUMNS.indexOf('at');
/** By then, rows that another worker has just sent can be read. */
const LOOK_AGAIN_MS = 1_000;
/** The ids of one statement: it stays within the length that every server accepts. */
const IDS = 4_000;

const Stored = z.object({ click_id: z.string(), count: integer });
const readId = (row: string) => row.slice(0, row.indexOf('\t'));
const BETWEEN = "at >= {from:DateTime64(3, 'UTC')} AND at <= {until:DateTime64(3, 'UTC')}";

function readTimes(rows: readonly string[]): { from: string; until: string } {
  const times = rows.map((row) => row.split('\t', AT + 1)[AT] ?? '').sort();
  return { from: times[0] ?? '', until: times.at(-1) ?? '' };
}

/** The rows by how often they are stored: those that are missing, and those that are there more than once. */
async function countRows(clickhouse: ClickHouse, rows: readonly string[]) {
  const sql = `SELECT click_id, count() AS count FROM clicks_v1 WHERE ${BETWEEN} GROUP BY click_id`;
  const storedRows = await readBack(clickhouse, Stored, sql, readTimes(rows));
  const counts = new Map(storedRows.map(({ click_id, count }) => [click_id, count]));
  const readCount = (row: string) => counts.get(readId(row)) ?? 0;
  return { missing: rows.filter((row) => readCount(row) === 0), doubled: rows.filter((row) => readCount(row) > 1) };
}

async function deleteClicks(clickhouse: ClickHouse, rows: readonly string[]): Promise<void> {
  for (const some of toChunks(rows, IDS)) {
    const sql = `DELETE FROM clicks_v1 WHERE ${BETWEEN} AND click_id IN ${idTuple(some.map(readId))}`;
    await command(clickhouse, sql, readTimes(some));
  }
}

/**
 * For a batch that was sent again: leaves each of its clicks in `clicks_v1` exactly once.
 * - A ClickHouse without replicas records a token just before the part that it stands for: killed in between, it
 *   takes the second sending for a duplicate of rows that it does not have (measured: one in seventy kills within an
 *   insert). `reconcileFigures` then repairs the rollups.
 * - A cluster that did not know the outcome of the first sending may store the second one too. Rows that are stored
 *   twice are deleted, and then count as missing. The rollups of these brands must be rebuilt: resolves to whether there
 *   were any.
 */
export async function repairBatch(clickhouse: ClickHouse, batch: { token: string; rows: string }): Promise<boolean> {
  let rows = batch.rows.split('\n').filter(Boolean);
  let wasDoubled = false;
  for (let again = 1; rows.length > 0; again += 1) {
    const { missing, doubled } = await countRows(clickhouse, rows);
    if (doubled.length > 0) {
      wasDoubled = true;
      await deleteClicks(clickhouse, doubled);
    } else if (missing.length > 0) await pause(LOOK_AGAIN_MS);
    rows = [...missing, ...doubled];
    if (rows.length > 0) rows = (await countRows(clickhouse, rows)).missing;
    const text = rows.map((row) => `${row}\n`).join('');
    await insertOnce(clickhouse, 'clicks_v1', STORED, text, `clicks:${batch.token}:again:${again}:${rows.length}`);
  }
  return wasDoubled;
}
