import { z } from 'zod';
import { integer, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import type { Context } from '../../kit/operation/context.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { CHANGE_TYPES } from './changes.ts';
import { CHANGES_KEPT_MS } from './jobs.ts';
import { findHorizon, findOldestSeq } from './queries.ts';
import { type ChangeFeed, type ChangeFilter, END_OF_BATCH, type Position, readCursor } from './schema.ts';
import { readSince } from './since.ts';

type Engines = Pick<Context, 'clickhouse' | 'postgres' | 'config' | 'clock'>;

const Row = z.object({
  seq: integer,
  line: integer,
  pk: integer,
  type: z.enum(CHANGE_TYPES),
  at: z.string(),
  changed: z.array(z.string()),
  directory_version: z.string(),
});

const cursorOf = ([seq, line]: Position) => `${seq}.${line}`;

async function startOf({ postgres: { db }, config, clock }: Engines, query: ChangeFilter): Promise<Position> {
  const { directoryAlias: alias } = config;
  const { since, after } = query;
  const oldest = await findOldestSeq(db, alias, new Date(clock.now().getTime() - CHANGES_KEPT_MS));
  const start: Position = after !== undefined ? readCursor(after) : [oldest - 1, END_OF_BATCH];
  if (since !== undefined) start[0] = (await readSince(db, alias, 'since', since)).seq;
  if ((since !== undefined || after !== undefined) && start[0] < oldest - 1) {
    const name = since === undefined ? 'after' : 'since';
    throw new ApiError('CONFLICT', `Changes are kept for 90 days, and \`${name}\` is older; leave it out.`);
  }
  return start;
}

/** A page of the feed of changes, up to the last batch that ClickHouse has completely. */
export async function readChanges(engines: Engines, query: ChangeFilter): Promise<z.input<typeof ChangeFeed>> {
  const { clickhouse, postgres, config } = engines;
  const { directoryAlias: alias } = config;
  const horizon = await findHorizon(postgres.db, alias);
  const [seq, line] = await startOf(engines, query);
  const { type = [], fields = [], limit } = query;
  const rows = await queryInTime(
    clickhouse,
    Row,
    `SELECT seq, line, pk, type, formatDateTime(at, '%Y-%m-%dT%H:%i:%S.%f', 'UTC') AS at, changed,
       version AS directory_version
     FROM directory_changes_v1 FINAL
     WHERE alias = {alias:String} AND seq >= {seq:UInt64} AND seq <= {horizon:UInt64}
       AND (seq, line) > ({seq:UInt64}, {line:UInt64})
       AND (empty({type:Array(String)}) OR has({type:Array(String)}, toString(type)))
       AND (empty({fields:Array(String)}) OR type != 'updated' OR hasAny(changed, {fields:Array(String)}))
     ORDER BY seq, line LIMIT {limit:UInt32}`,
    { alias, seq, line, horizon, type, fields, limit: limit + 1 },
  );
  const page = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  const last = page.at(-1);
  const next: Position = hasMore && last ? [last.seq, last.line] : [Math.max(horizon, seq), END_OF_BATCH];
  return {
    data: page.map(({ pk, type, at, changed, directory_version }) => ({
      pk,
      type,
      at: `${at.slice(0, 23)}Z`,
      changed,
      directory_version,
    })),
    has_more: hasMore,
    next_after: cursorOf(seq > horizon ? [seq, line] : next),
  };
}

const NAMED = 1_000;
const Gone = z.object({ total: integer, pks: z.array(integer) });

/** The creators who left the directory after a batch and have not returned: the first 1,000 by `pk`, and their number. */
export async function readRemoved(
  { clickhouse, postgres, config }: Engines,
  seq: number,
): Promise<{ removed: number[]; removed_total: number }> {
  const { directoryAlias: alias } = config;
  const horizon = await findHorizon(postgres.db, alias);
  const [gone] = await queryInTime(
    clickhouse,
    Gone,
    `SELECT count() AS total, arraySlice(arraySort(groupArray(pk)), 1, {named:UInt32}) AS pks FROM (
       SELECT pk, argMin(type, (seq, line)) AS first, argMax(type, (seq, line)) AS last
       FROM directory_changes_v1 FINAL
       WHERE alias = {alias:String} AND seq > {seq:UInt64} AND seq <= {horizon:UInt64} AND type != 'updated'
       GROUP BY pk
     ) WHERE last IN ('removed', 'opted_out') AND first != 'added'`,
    { alias, seq, horizon, named: NAMED },
  );
  return { removed: gone?.pks ?? [], removed_total: gone?.total ?? 0 };
}
