import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { mergeMappings } from '../../platform/imports/reading/doubts.ts';
import { readRecords } from '../../platform/imports/reading/read-table.ts';
import type { Line } from '../../platform/imports/reading/shapes.ts';
import type { ClaimedJob, JobKind, TurnOutcome } from '../../platform/jobs/jobs.ts';
import { BATCH, endTurn, getWriter, inBatches, judgeBatch, toActor, toByteSource, toRequest } from './batches.ts';
import { takeErased, toFileEnd } from './erased.ts';
import { clearImport, failImport, type ImportRow, KEPT_MS, listDueImports, stopImport } from './imports.ts';
import { read } from './read.ts';
import type { Judged } from './tallies.ts';

/** A run lets other brands' jobs have a turn after this time. */
const TURN_MS = 2 * MINUTE_MS;
/** An import waits this long for another one of its kind. */
const WAIT_MS = 1_000;

const JobRequest = z.object({ import_id: z.string(), step: z.enum(['read', 'run', 'undo']) });

async function findImport(db: Db, { brandId, request }: ClaimedJob): Promise<ImportRow | undefined> {
  return await db
    .selectFrom('imports')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', JobRequest.parse(request).import_id)
    .executeTakeFirst();
}

/** True if an import of the same kind that was confirmed earlier is still being written. */
async function mustWait(db: Db, { brandId, of, id, confirmedAt }: ImportRow): Promise<boolean> {
  const other = await db
    .selectFrom('imports')
    .select('id')
    .where('brandId', '=', brandId)
    .where('of', '=', of)
    .where('status', '=', 'running')
    .where('id', '<>', id)
    .where(sql<boolean>`(confirmed_at, id) < (${confirmedAt}, ${id})`)
    .executeTakeFirst();
  return other !== undefined;
}

class Stopped extends Error {}

/** Writes a batch together with the position of the run, so that a batch that is repeated writes nothing again. */
async function writeBatch(context: Context, row: ImportRow, lines: readonly Line[], handled: number): Promise<void> {
  const { clock, config, postgres } = context;
  await inWork(postgres.db, clock, toActor(row), async (work) => {
    const writer = getWriter(row.of);
    const held = await work.db
      .updateTable('imports')
      .set({ handled: handled + lines.length, updatedAt: work.now })
      .where('brandId', '=', row.brandId)
      .where('id', '=', row.id)
      .where('status', '=', 'running')
      .where('handled', '=', handled)
      .returning('erasedHashes')
      .executeTakeFirst();
    if (held === undefined) throw new Stopped();
    await writer.lock(work, row);
    const leftLines = await takeErased(work.db, context.secrets, { ...row, ...held }, lines);
    const judgedLines = await judgeBatch(work.db, row, leftLines, { now: work.now, linksUrl: config.linksUrl });
    const { written, updated } = await writer.write(work, context, row, judgedLines);
    const tally = (outcome: Judged['outcome']) => judgedLines.filter((one) => one.outcome === outcome).length;
    const knownCount = tally('known') + tally('differs') - updated;
    await sql`update imports set result = jsonb_build_object(
        'written', coalesce((result ->> 'written')::bigint, 0) + ${written}::bigint,
        'updated', coalesce((result ->> 'updated')::bigint, 0) + ${updated}::bigint,
        'known', coalesce((result ->> 'known')::bigint, 0) + ${knownCount}::bigint,
        'refused', coalesce((result ->> 'refused')::bigint, 0) + ${tally('refused')}::bigint)
      where brand_id = ${row.brandId} and id = ${row.id}`.execute(work.db);
  });
}

async function finishRun(context: Context, row: ImportRow): Promise<void> {
  const { postgres, clock } = context;
  await inWork(postgres.db, clock, toActor(row), async ({ db, now, brandId }) => {
    const none = { written: 0, updated: 0, known: 0, refused: 0 };
    await db
      .updateTable('imports')
      .set({ status: 'done', endedAt: now, updatedAt: now, dueAt: toFileEnd(now, KEPT_MS) })
      .set({ result: sql<string>`coalesce(result, ${JSON.stringify(none)}::jsonb)` })
      .where('brandId', '=', brandId)
      .where('id', '=', row.id)
      .where('status', '=', 'running')
      .execute();
  });
}

async function run(
  context: Context,
  row: ImportRow,
  signal: AbortSignal,
  note: (rows: number) => void,
): Promise<TurnOutcome> {
  const { postgres, clock } = context;
  if (row.status !== 'running' || row.plan === null) return endTurn(row.handled);
  if (await mustWait(postgres.db, row)) return { waitMs: WAIT_MS };
  const source = toByteSource(context, row);
  const confirmedAt = row.confirmedAt ?? clock.now();
  const request = await toRequest(postgres.db, row, confirmedAt);
  const until = performance.now() + TURN_MS;
  const effective = { ...row, mapping: mergeMappings(row.stored ?? {}, row.mapping) };
  let { handled } = row;
  try {
    for await (const batch of inBatches(readRecords(source, request, row.plan, { after: handled }))) {
      signal.throwIfAborted();
      await writeBatch(context, effective, batch, handled);
      handled += batch.length;
      note(handled);
      if (performance.now() > until) return { cursor: null, rows: handled, isDone: false };
    }
  } catch (error) {
    if (error instanceof Stopped) return endTurn(handled);
    throw error;
  }
  await finishRun(context, row);
  return endTurn(handled);
}

/** Takes back what the import wrote, some rows a transaction; a row that something touched since stays. */
async function undo(context: Context, row: ImportRow, signal: AbortSignal): Promise<TurnOutcome> {
  const { postgres, clock } = context;
  for (let rows = 0; ; ) {
    signal.throwIfAborted();
    const batch = await inWork(postgres.db, clock, toActor(row), async (work) => {
      const writes = await work.db
        .deleteFrom('importWrites')
        .where('brandId', '=', row.brandId)
        .where('importId', '=', row.id)
        .where('rowId', 'in', (query) =>
          query
            .selectFrom('importWrites')
            .select('rowId')
            .where('brandId', '=', row.brandId)
            .where('importId', '=', row.id)
            .orderBy('noun')
            .orderBy('rowId')
            .limit(BATCH),
        )
        .returning(['noun', 'rowId', 'before'])
        .execute();
      const undoneCount = writes.length === 0 ? 0 : ((await getWriter(row.of).undo?.(work, row, writes)) ?? 0);
      return { writes: writes.length, gone: undoneCount };
    });
    rows += batch.gone;
    if (batch.writes > 0) continue;
    await inWork(postgres.db, clock, toActor(row), async ({ db, now, brandId }) => {
      await db
        .updateTable('imports')
        .set({ status: 'undone', undoneAt: now, updatedAt: now, dueAt: now })
        .where('brandId', '=', brandId)
        .where('id', '=', row.id)
        .where('status', '=', 'undoing')
        .execute();
    });
    return endTurn(rows, { removed: rows });
  }
}

export const importKind: JobKind = {
  run: async (context, job, { signal, note }) => {
    const { step } = JobRequest.parse(job.request);
    const row = await findImport(context.postgres.db, job);
    if (!row) return endTurn(0);
    if (step === 'read') return await read(context, row, signal);
    if (step === 'run') return await run(context, row, signal, note);
    return row.status === 'undoing' ? await undo(context, row, signal) : endTurn(0);
  },
  failed: failImport,
  cancelled: stopImport,
};

const AT_ONCE = 100;

/** Expires what nobody confirmed within 7 days, and removes the files and lines of imports that ended 7 days ago. */
export const expireImports: Job = {
  name: 'expire-imports',
  everyMs: 30_000,
  asksFor: 'imports that nobody confirmed, and files of those that ended 7 days ago',
  run: async (context) => {
    const { postgres, clock } = context;
    for (const row of await listDueImports(postgres.db, clock.now(), AT_ONCE)) await clearImport(context, row);
  },
};
