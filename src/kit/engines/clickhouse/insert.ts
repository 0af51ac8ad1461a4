import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClickHouse } from './open.ts';
import { isBusyQuorum, reaching } from './query.ts';

const TOKEN = /^[\w:.-]{1,200}$/;

/**
 * - The token is inline: the embedded engine once kept a request's setting for later inserts and silently dropped
 *   those (measured).
 * - `deduplicate_blocks_in_dependent_materialized_views` carries it on to the rollups; older servers have it off.
 * - One thread reads the rows in order, so that a retry cuts them into the same blocks.
 * - A batch may hold events of any number of months.
 */
function toSettings(token: string, cluster: string | undefined): string {
  return [
    `insert_deduplication_token = '${token}'`,
    'insert_deduplicate = 1',
    'deduplicate_blocks_in_dependent_materialized_views = 1',
    'input_format_parallel_parsing = 0',
    'max_insert_threads = 1',
    'async_insert = 0',
    'max_partitions_per_insert_block = 0',
    ...quorumSettings(cluster),
  ].join(', ');
}

/**
 * With replicas, most of them hold an acknowledged insert, and inserts into a table run one after another, as reading
 * them back requires.
 */
export const quorumSettings = (cluster: string | undefined): string[] =>
  cluster === undefined ? [] : ["insert_quorum = 'auto'", 'insert_quorum_parallel = 0'];

const TURNS = 30;
const TURN_MS = 100;

/** Repeats an insert that has to wait for another one's quorum. Resolves to whether it was repeated. */
async function inTurn(send: () => Promise<void>): Promise<boolean> {
  for (let turn = 1; ; turn += 1) {
    try {
      await send();
      return turn > 1;
    } catch (error) {
      if (turn === TURNS || !isBusyQuorum(error)) throw error;
      await pause(TURN_MS * (0.5 + Math.random()));
    }
  }
}

/**
 * Inserts rows (tab-separated text ending in a newline) exactly once: repeating a token with the same rows changes
 * neither the table nor its rollups. The token must be a function of the batch. Resolves to whether a cluster was sent the
 * rows more than once: after an uncertain answer it may still hold them twice (ClickHouse 76579, 81260).
 */
export async function insertOnce(
  { client, cluster }: ClickHouse,
  table: string,
  columns: readonly string[],
  rowsTsv: string,
  token: string,
): Promise<boolean> {
  if (!TOKEN.test(token)) throw new Error(`Invalid token: ${JSON.stringify(token)}.`);
  if (rowsTsv === '') return false;
  const into = `INSERT INTO ${table} (${columns.join(', ')}) SETTINGS ${toSettings(token, cluster)}`;
  const send = async () => {
    const { stream } = await client.exec({
      query: `${into} FORMAT TabSeparated`,
      values: Readable.from([rowsTsv], { objectMode: false }),
    });
    // The connection is free for the next statement once the answer is read.
    await text(stream);
  };
  return await inTurn(() => reaching(send));
}
