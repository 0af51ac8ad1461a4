import { z } from 'zod';
import { integer, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read } from '../../kit/operation/kit.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { clampedParameter, timestamp } from '../../kit/values/page.ts';
import { besideOthers } from '../../kit/values/problems.ts';
import { CREATOR_FIELDS } from '../imports/indexing/fields.ts';
import { readHorizon } from './changed-pks.ts';
import { CHANGES_KEPT_MS } from './changes.jobs.ts';
import { CHANGE_TYPES, findHorizon, findOldestSeq, readSince } from './changes.ts';

const MOST = 1_000;

const CURSOR = /^(\d{1,15})\.(\d{1,10})$/;
export type Position = [seq: number, line: number];
/** After every change of a batch. */
const END_OF_BATCH = 4_294_967_295;

function readCursor(after: string): Position {
  const [, seq, line] = CURSOR.exec(after) ?? [];
  return [Number(seq), Math.min(Number(line), END_OF_BATCH)];
}

const commaSeparated = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z
    .string()
    .max(1_000)
    .transform((value) => value.split(',').map((one) => one.trim()))
    .pipe(z.array(z.enum(names)).min(1))
    .optional();

const [FIRST, ...REST] = CREATOR_FIELDS;

const ChangeFilter = z
  .object({
    since: z
      .string()
      .max(200)
      .optional()
      .describe(
        'Where to start: a time, or a version of the directory for everything after its import. Answers have the version in `X-Directory-Version`. Without it and `after`, the feed starts 90 days ago.',
      ),
    after: z
      .string()
      .regex(CURSOR, 'must be the `next_after` of an earlier answer')
      .optional()
      .describe('Cursor of the feed, `next_after` of the previous answer: only later changes are returned.'),
    type: commaSeparated(CHANGE_TYPES).describe(
      `Types of change, separated by commas: any of ${CHANGE_TYPES.join(', ')}.`,
    ),
    fields: commaSeparated([FIRST ?? 'pk', ...REST]).describe(
      'Fields of creators, separated by commas. Updates of other fields are left out.',
    ),
    limit: clampedParameter(MOST)
      .default(MOST)
      .describe('Most changes in one answer; larger values are clamped to 1,000.'),
  })
  .superRefine(({ since, after }, context) => {
    if (since === undefined || after === undefined) return;
    const message = 'must not be combined with since: the cursor says where to continue';
    context.addIssue({ code: 'custom', path: ['after'], params: { code: 'contradiction' }, message, input: after });
  }, besideOthers);
type ChangeFilter = z.output<typeof ChangeFilter>;

const DirectoryChange = z
  .object({
    pk: z.number().int().describe('Key of the creator that changed.').meta({ example: 173560420 }),
    type: z
      .enum(CHANGE_TYPES)
      .describe('What happened. `opted_out`: the creator was removed for good at their request.')
      .meta({ example: 'updated' }),
    at: timestamp.describe('When searches began to see the change.').meta({ example: '2026-11-20T06:00:00.000Z' }),
    changed: z
      .array(z.string())
      .describe('Fields that an update changed; empty for the other types.')
      .meta({ example: ['follower_count', 'biography'] }),
    directory_version: z
      .string()
      .describe('Directory version in which the change was made.')
      .meta({ example: 'creators-20261120-3f9a0c2e' }),
  })
  .meta({ id: 'DirectoryChange' });
export type DirectoryChange = z.infer<typeof DirectoryChange>;

const ChangeFeed = z
  .object({
    data: z.array(DirectoryChange).describe('Changes in the order in which searches began to see them.'),
    has_more: z.boolean().describe('Whether more changes are ready.').meta({ example: false }),
    next_after: z
      .string()
      .describe('Position in the feed: send it as `after` in the next call.')
      .meta({ example: '1842.4294967295' }),
  })
  .meta({ id: 'DirectoryChangeFeed' });

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

async function findStartPosition({ postgres: { db }, config, clock }: Engines, query: ChangeFilter): Promise<Position> {
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
async function readChanges(engines: Engines, query: ChangeFilter): Promise<z.input<typeof ChangeFeed>> {
  const { clickhouse, postgres, config } = engines;
  const { directoryAlias: alias } = config;
  const horizon = await findHorizon(postgres.db, alias);
  const [seq, line] = await findStartPosition(engines, query);
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
    next_after: (seq > horizon ? [seq, line] : next).join('.'),
  };
}

/** The most pks that `meta.removed` names. */
export const MOST_REMOVED = 1_000;
const Gone = z.object({ total: integer, pks: z.array(integer) });

/** The creators who left the directory after a batch and have not returned: the first by `pk`, and their number. */
async function findRemoved(engines: Engines, seq: number, most: number) {
  const { clickhouse, config } = engines;
  const { directoryAlias: alias } = config;
  const horizon = await readHorizon(engines);
  const [removals] = await queryInTime(
    clickhouse,
    Gone,
    `SELECT count() AS total, arraySlice(arraySort(groupArray(pk)), 1, {most:UInt32}) AS pks FROM (
       SELECT pk, argMin(type, (seq, line)) AS first, argMax(type, (seq, line)) AS last
       FROM directory_changes_v1 FINAL
       WHERE alias = {alias:String} AND seq > {seq:UInt64} AND seq <= {horizon:UInt64} AND type != 'updated'
       GROUP BY pk
     ) WHERE last IN ('removed', 'opted_out') AND first != 'added'`,
    { alias, seq, horizon, most },
  );
  return removals ?? { total: 0, pks: [] };
}

export async function readRemoved(
  engines: Engines,
  seq: number,
): Promise<{ removed: number[]; removed_total: number }> {
  const { total, pks } = await findRemoved(engines, seq, MOST_REMOVED);
  return { removed: pks, removed_total: total };
}

/** All of them. */
export const listRemoved = async (engines: Engines, seq: number): Promise<number[]> =>
  (await findRemoved(engines, seq, 0xffff_ffff)).pks;

export const changeOperations = [
  read({
    id: 'list_directory_changes',
    path: '/v1/creators/changes',
    tag: 'Directory',
    summary: 'List changes of the directory',
    description:
      'Creators that were added, updated or removed in the last 90 days, and those that opted out, at most 20 ' +
      'seconds late. Free. Send `next_after` as `after` to continue. A start older than 90 days is refused.',
    forAgents: { isListed: false },
    directory: true,
    query: ChangeFilter,
    response: ChangeFeed,
    errors: ['CONFLICT', 'SUBSCRIPTION_REQUIRED'],
    handler: (context, { query }) => readChanges(context, query),
  }),
] as const;
