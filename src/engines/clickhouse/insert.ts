import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ClickHouse } from './open.ts';
import { reaching } from './query.ts';

const TOKEN = /^[\w:.-]{1,200}$/;

/**
 * - The token is inline: the embedded engine once kept a request's setting for later inserts and silently dropped
 *   those (measured).
 * - `deduplicate_blocks_in_dependent_materialized_views` carries it on to the rollups; older servers have it off.
 * - One thread reads the rows in order, so that a retry cuts them into the same blocks.
 * - A batch may hold events of any number of months.
 */
function settingsOf(token: string, cluster: string | undefined): string {
  return [
    `insert_deduplication_token = '${token}'`,
    'insert_deduplicate = 1',
    'deduplicate_blocks_in_dependent_materialized_views = 1',
    'input_format_parallel_parsing = 0',
    'max_insert_threads = 1',
    'async_insert = 0',
    'max_partitions_per_insert_block = 0',
    // With replicas, an acknowledged insert is held by most of them.
    ...(cluster === undefined ? [] : ["insert_quorum = 'auto'"]),
  ].join(', ');
}

/**
 * Inserts rows (tab-separated text ending in a newline) exactly once: repeating a token with the same rows changes
 * neither the table nor its rollups. The token must be a function of the batch.
 */
export async function insertOnce(
  { client, cluster }: ClickHouse,
  table: string,
  columns: readonly string[],
  rowsTsv: string,
  token: string,
): Promise<void> {
  if (!TOKEN.test(token)) throw new Error(`Invalid token: ${JSON.stringify(token)}.`);
  if (rowsTsv === '') return;
  const into = `INSERT INTO ${table} (${columns.join(', ')}) SETTINGS ${settingsOf(token, cluster)}`;
  await reaching(async () => {
    const { stream } = await client.exec({
      query: `${into} FORMAT TabSeparated`,
      values: Readable.from([rowsTsv], { objectMode: false }),
    });
    // The connection is free for the next statement once the answer is read.
    await text(stream);
  });
}
