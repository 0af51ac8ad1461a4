import { z } from 'zod';
import { integer, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import type { Context } from '../../kit/operation/context.ts';
import { sendChanges } from './changes.jobs.ts';
import { findHorizon, hasUnsent } from './changes.ts';

const Pk = z.object({ pk: integer });

/**
 * The last batch of the feed that ClickHouse has, after it was sent what it lacked: an answer that left out a reported change
 * would never be followed by one that has it.
 */
export async function readHorizon(context: Pick<Context, 'postgres' | 'clickhouse' | 'config'>): Promise<number> {
  const { postgres, config } = context;
  if (await hasUnsent(postgres.db, config.directoryAlias)) await sendChanges(context);
  return await findHorizon(postgres.db, config.directoryAlias);
}

/** The creators that were updated in one of the fields, or removed, after a batch; undefined if they are too many. */
export async function listChangedPks(
  context: Context,
  seq: number,
  fields: readonly string[],
  most: number,
): Promise<number[] | undefined> {
  const { clickhouse, config } = context;
  const rows = await queryInTime(
    clickhouse,
    Pk,
    `SELECT DISTINCT pk FROM directory_changes_v1 FINAL
     WHERE alias = {alias:String} AND seq > {seq:UInt64} AND seq <= {horizon:UInt64}
       AND type != 'added' AND (type != 'updated' OR hasAny(changed, {fields:Array(String)}))
     LIMIT {limit:UInt32}`,
    { alias: config.directoryAlias, seq, horizon: await readHorizon(context), fields, limit: most + 1 },
  );
  return rows.length > most ? undefined : rows.map(({ pk }) => pk);
}

/** The creators that left the directory after a batch and are not back, also those that were added after it. */
export async function listGonePks(context: Context, seq: number): Promise<number[]> {
  const { clickhouse, config } = context;
  const rows = await queryInTime(
    clickhouse,
    Pk,
    `SELECT pk FROM directory_changes_v1 FINAL
     WHERE alias = {alias:String} AND seq > {seq:UInt64} AND seq <= {horizon:UInt64} AND type != 'updated'
     GROUP BY pk HAVING argMax(type, (seq, line)) IN ('removed', 'opted_out')`,
    { alias: config.directoryAlias, seq, horizon: await readHorizon(context) },
  );
  return rows.map(({ pk }) => pk);
}
