import { createHash } from 'node:crypto';
import { insertOnce } from '../../kit/engines/clickhouse/insert.ts';
import { ensureMigrated } from '../../kit/engines/clickhouse/migrate.ts';
import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Follower, Job } from '../../kit/operation/job.ts';
import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { findRunningWriter, toDirectoryEngines, withWriterLock } from '../imports/indexing/writer.ts';
import { type ChangeBatch, deleteOldBatches, hasStaged, listUnsent, markSent, parseChanges } from './changes.ts';

const TABLE = 'directory_changes_v1';
const COLUMNS = ['alias', 'seq', 'line', 'pk', 'type', 'changed', 'at', 'version'];

/** The feed reaches back this long. */
export const CHANGES_KEPT_MS = 90 * DAY_MS;
/** Batches of up to 5,000 changes. */
const SENT_AT_ONCE = 20;
const DELETED_AT_ONCE = 10_000;

function toRows({ alias, seq, at, version, lines }: ChangeBatch): string {
  const reportedAt = tsvTime(at ?? new Date(0));
  return parseChanges(lines ?? '')
    .map(({ pk, type, fields }, line) => {
      const fieldList = `[${fields.map((field) => `'${field}'`).join(',')}]`;
      return `${[alias, seq, line, pk, type, fieldList, reportedAt, version].join('\t')}\n`;
    })
    .join('');
}

/** Sends the batches that ClickHouse lacks, in order. Safe to run twice at once: a batch replaces its own rows. */
export async function sendChanges({ postgres, clickhouse }: Pick<Context, 'postgres' | 'clickhouse'>): Promise<void> {
  for (;;) {
    const batches = await listUnsent(postgres.db, SENT_AT_ONCE);
    const [first] = batches;
    if (!first) return;
    await ensureMigrated(clickhouse);
    const rows = batches.map(toRows).join('');
    await insertOnce(clickhouse, TABLE, COLUMNS, rows, createHash('sha256').update(rows).digest('hex'));
    await markSent(
      postgres.db,
      batches.map(({ id }) => id),
    );
  }
}

/** Reports changes whose writer was killed after it made them. */
export async function finishChanges(context: Context): Promise<void> {
  const { postgres, config } = context;
  const { directoryAlias: alias } = config;
  if (!(await hasStaged(postgres.db, alias)) || (await findRunningWriter(postgres.db, alias))) return;
  // Each writer settles what the previous one left.
  await withWriterLock(toDirectoryEngines(context), 'recovery', {}, async () => undefined);
}

export const followChanges: Follower = {
  name: 'send-directory-changes',
  everyMs: 2_000,
  open: (context) => () => sendChanges(context),
};

export const finishDirectoryChanges: Job = {
  name: 'finish-directory-changes',
  everyMs: 5_000,
  asksFor: 'changes of the directory whose writer was killed',
  run: finishChanges,
};

export const forgetDirectoryChanges: Job = {
  name: 'forget-directory-changes',
  everyMs: HOUR_MS,
  asksFor: 'batches of directory changes older than 90 days',
  run: ({ postgres, clock }) =>
    deleteOldBatches(postgres.db, new Date(clock.now().getTime() - CHANGES_KEPT_MS), DELETED_AT_ONCE),
};
