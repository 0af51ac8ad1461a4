import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { getBrand } from '../../platform/brands/brands.ts';
import { refuseFile } from '../../platform/imports/reading/describe.ts';
import { mergeMappings } from '../../platform/imports/reading/doubts.ts';
import { findFault } from '../../platform/imports/reading/faults.ts';
import { BrokenFile, MappingProblem, UnsupportedFile } from '../../platform/imports/reading/problems.ts';
import { type Read, readRecords, readTable } from '../../platform/imports/reading/read-table.ts';
import type { ByteSource, Line, Question, Request } from '../../platform/imports/reading/shapes.ts';
import { type ClaimedJob, JobFailure, type JobKind, type TurnOutcome } from '../../platform/jobs/jobs.ts';
import { toReadingRequest } from '../reconciliations/read.ts';
import { findStore } from '../reconciliations/reconciliations.ts';
import { KnownDoubts } from './ask-known.ts';
import { judgeCompared } from './compare-orders.ts';
import type { Of } from './imports.shapes.ts';
import {
  clearImport,
  failImport,
  type ImportRow,
  KEPT_MS,
  listDueImports,
  type StoredReading,
  stopImport,
} from './imports.ts';
import { findMapping } from './mappings.ts';
import { listNamesakes } from './people.ts';
import { type Judged, Tallies, toMajorSums, toOptionLine, toShownLine } from './tallies.ts';
import { commissionsWriter } from './write-commissions.ts';
import { ordersWriter } from './write-orders.ts';
import { paymentsWriter } from './write-payments.ts';
import { payoutsWriter } from './write-payouts.ts';
import { rosterWriter } from './write-roster.ts';
import type { JudgeFacts, Writer } from './writer.ts';

const WRITERS: Readonly<Record<Exclude<Of, 'reconciliation'>, Writer>> = {
  orders: ordersWriter,
  commissions: commissionsWriter,
  roster: rosterWriter,
  payouts: payoutsWriter,
  payment_details: paymentsWriter,
};

const getJudge = (of: Of): Writer['judge'] => (of === 'reconciliation' ? judgeCompared : WRITERS[of].judge);

function getWriter(of: Of): Writer {
  if (of === 'reconciliation') throw new Error('A comparison records nothing.');
  return WRITERS[of];
}

/** Records of one transaction. */
const BATCH = 500;
/** Lines that are kept of each outcome. */
const MOST_LINES = 10_000;
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

function toByteSource({ files }: Context, { storageKey, fileName, sizeBytes }: ImportRow): ByteSource {
  if (storageKey === null) throw new JobFailure('The file was removed; send it again.');
  return { name: fileName, sizeBytes, read: (range) => files.read(storageKey, range) };
}

async function toRequest(db: Db, row: ImportRow, now: Date): Promise<Request> {
  const storedMapping = row.stored === null ? {} : { stored: row.stored };
  if (row.of === 'reconciliation') {
    const store = row.integrationId === null ? undefined : await findStore(db, row.brandId, row.integrationId);
    if (!store) throw new JobFailure('The store no longer exists.');
    return { ...toReadingRequest(store, row.mapping, now), ...storedMapping };
  }
  const brand = await getBrand(db, row.brandId);
  const stores = await db
    .selectFrom('integrations')
    .select(['provider as platform', 'currency'])
    .where('brandId', '=', row.brandId)
    .where('status', '=', 'connected')
    .execute();
  return {
    of: row.of,
    mapping: row.mapping,
    ...storedMapping,
    brand: { currency: brand.currency, timeZone: brand.timeZone, stores },
    now,
  };
}

/** Lines in batches that the brand's own records are compared with. */
async function* splitLines(lines: AsyncIterable<Line[]>): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  for await (const some of lines) {
    for (const line of some) {
      batch.push(line);
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** The next batch is read while one is dealt with: the engines and this process work at the same time. */
async function* inBatches(lines: AsyncIterable<Line[]>): AsyncGenerator<Line[]> {
  const batches = splitLines(lines);
  try {
    for (let next = batches.next(); ; ) {
      const { value, done } = await next;
      if (done) return;
      next = batches.next();
      // Its failure is thrown when its turn comes.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await batches.return(undefined);
  }
}

const keepOutcome = (line: Line): Judged[] =>
  line.outcome === 'read'
    ? []
    : [{ line, outcome: line.outcome, kind: line.kind, message: line.message, knownId: null }];

/** The cell that a refusal by the brand's own records is about. */
function addFault(judgedLine: Judged, { plan }: ImportRow): Judged {
  const { outcome, kind, line } = judgedLine;
  if (outcome !== 'refused' || kind === null || plan === null) return judgedLine;
  return { ...judgedLine, line: { ...line, fault: findFault(plan, line.cells, kind) } };
}

/** Compares a batch; lines that were not read keep their outcome, and all keep their order. */
async function judgeBatch(db: Db, row: ImportRow, lines: readonly Line[], facts: JudgeFacts): Promise<Judged[]> {
  const judgedLines = await getJudge(row.of)(
    db,
    row,
    lines.filter(({ outcome }) => outcome === 'read'),
    facts,
  );
  const byLine = new Map(judgedLines.map((one) => [one.line, one]));
  return lines.flatMap((line) => {
    const one = byLine.get(line);
    return one ? addFault(one, row) : keepOutcome(line);
  });
}

async function insertLines(
  db: Db,
  row: ImportRow,
  judgedLines: readonly (Judged & { number: number })[],
): Promise<void> {
  if (judgedLines.length === 0) return;
  const rows = judgedLines.map((one) => ({
    importId: row.id,
    brandId: row.brandId,
    revision: row.revision,
    number: one.number,
    outcome: one.outcome,
    kind: one.kind,
    content: { ...toShownLine(one), cells: one.outcome === 'refused' ? one.line.cells.flat() : [] },
  }));
  await sql`${toInsert('import_lines', rows)} on conflict do nothing`.execute(db);
}

interface FileComparison {
  tallies: Tallies;
  doubts: KnownDoubts;
  sample: Judged[];
  added: number;
}

/** Compares every record of the file with the brand's own, and keeps the first lines of each outcome. */
async function compare(
  context: Context,
  row: ImportRow,
  lines: AsyncIterable<Line[]>,
  signal: AbortSignal,
): Promise<FileComparison> {
  const { clock, config, postgres } = context;
  const { db } = postgres;
  const tallies = new Tallies();
  const doubts = new KnownDoubts();
  const sample: Judged[] = [];
  let [number, addedCount] = [0, 0];
  for await (const batch of inBatches(lines)) {
    signal.throwIfAborted();
    const judgedLines = await judgeBatch(db, row, batch, { now: clock.now(), linksUrl: config.linksUrl });
    const keptLines = judgedLines.flatMap((one) => {
      number += 1;
      tallies.add(one);
      doubts.add(one, row.of, row.mapping);
      if (one.outcome === 'new' && one.knownId === null) addedCount += 1;
      return tallies.count(one.outcome) > MOST_LINES ? [] : [{ ...one, number }];
    });
    if (sample.length < 20) sample.push(...judgedLines.slice(0, 20 - sample.length));
    await insertLines(db, row, keptLines);
  }
  return { tallies, doubts, sample, added: row.of === 'roster' ? addedCount : 0 };
}

/** Names that stand alone may be chosen among the creators who have them. */
async function addNamesakes(db: Db, brandId: string, { questions, ...reading }: Read['reading']) {
  const names = questions.flatMap(({ id, code }) => (code === 'people' ? [id.slice('people:'.length)] : []));
  const people = await listNamesakes(db, brandId, names);
  return {
    ...reading,
    questions: questions.map(({ sample = [], ...question }) => {
      const name = question.id.slice('people:'.length);
      if (question.code !== 'people') return question;
      const options = people
        .filter(({ folded }) => folded === name.trim().toLowerCase())
        .map(({ id, name: known, email }) => ({
          mapping: { people: { [name]: id } },
          label: [known, email].filter(Boolean).join(', '),
          sums: [],
          records: question.lines,
          refused: 0,
          sample: sample.map(({ record, ...line }) => ({
            ...line,
            record: record?.kind === 'paid' ? { ...record, email } : record,
          })),
        }));
      return { ...question, options };
    }),
  };
}

/** Reads the file, with the mapping that an earlier import left for its header. */
async function readFile(context: Context, row: ImportRow, source: ByteSource, now: Date) {
  const { db } = context.postgres;
  const request = await toRequest(db, { ...row, stored: null }, now);
  try {
    const first = await readTable(source, request);
    const headers = first.reading.columns.map(({ header }) => header);
    const storedMapping = await findMapping(db, row, headers);
    if (storedMapping === undefined) return { ...first, request, stored: null };
    const again = { ...request, stored: storedMapping };
    return { ...(await readTable(source, again)), request: again, stored: storedMapping };
  } catch (error) {
    const isRefusal = error instanceof UnsupportedFile || error instanceof MappingProblem;
    if (!isRefusal) throw error;
    const refusal =
      error instanceof UnsupportedFile
        ? new BrokenFile(error.kind, error.message, null, { expected: 'a CSV or .xlsx file' })
        : new BrokenFile(error.code, `${error.field} ${error.message}`, null, {
            field: error.field,
            expected: 'a mapping that names what the file has',
          });
    const reading = refuseFile(source, undefined, request, `${row.id}-${row.revision}`, refusal);
    const file = { ...reading.file, sha256: row.sha256.toString('hex') };
    return { reading: { ...reading, file }, plan: null, opened: null, request, stored: null };
  }
}

async function storeReading(work: Work, row: ImportRow, change: Pick<ImportRow, 'reading' | 'plan' | 'stored'>) {
  const { db, brandId, now } = work;
  const { reading, plan, stored } = change;
  if (reading === null) return;
  await db
    .updateTable('imports')
    .set({ status: reading.status, readingId: reading.reading_id, updatedAt: now })
    .set({ reading: JSON.stringify(reading), plan: plan && JSON.stringify(plan) })
    .set({ stored: stored && JSON.stringify(stored) })
    .where('brandId', '=', brandId)
    .where('id', '=', row.id)
    .where('status', '=', 'reading')
    .where('revision', '=', row.revision)
    .execute();
  await db
    .deleteFrom('importLines')
    .where('brandId', '=', brandId)
    .where('importId', '=', row.id)
    .where('revision', '<', row.revision)
    .execute();
}

const toActor = ({ brandId }: ImportRow) => ({ brandId, keyId: null, operation: 'run_import', requestId: null });

const endTurn = (rows: number, result: object = {}): TurnOutcome => ({ cursor: null, rows, result, isDone: true });

const toMajorQuestion = (question: Question) => ({
  ...question,
  options: question.options.map((one) => ({
    ...one,
    mapping: { ...one.mapping },
    sums: toMajorSums(one.sums),
    sample: one.sample.map(toOptionLine),
  })),
});

async function read(context: Context, row: ImportRow, signal: AbortSignal): Promise<TurnOutcome> {
  const { postgres, clock } = context;
  if (row.status !== 'reading') return endTurn(0);
  const now = clock.now();
  const source = toByteSource(context, row);
  const { reading, plan, opened, request, stored } = await readFile(context, row, source, now);
  const effective = { ...row, plan, stored, mapping: mergeMappings(stored ?? {}, row.mapping) };
  const none: FileComparison = { tallies: new Tallies(), doubts: new KnownDoubts(), sample: [], added: 0 };
  const lines = plan && readRecords(source, request, plan, { opened });
  const comparison = lines ? await compare(context, effective, lines, signal) : none;
  const { tallies, doubts, sample, added } = comparison;
  const ownQuestions = doubts.questions(tallies);
  const { sums: _sums, sample: _sample, ...rest } = await addNamesakes(postgres.db, row.brandId, reading);
  const { statuses, questions } = rest;
  const complete: StoredReading = {
    ...rest,
    status: rest.status === 'ready' && ownQuestions.length > 0 ? 'needs_answers' : rest.status,
    statuses: statuses.map((one) => ({ ...one, sums: toMajorSums(one.sums) })),
    questions: [...questions.map(toMajorQuestion), ...ownQuestions],
    counts: {
      lines: reading.counts.lines,
      records: tallies.records,
      new: tallies.count('new'),
      known: tallies.count('known'),
      differs: tallies.count('differs'),
      repeated: tallies.count('repeated'),
      left_out: tallies.count('left_out'),
      refused: tallies.count('refused'),
    },
    sums: tallies.sums,
    refusals: plan ? tallies.refusals : reading.refusals,
    sample: sample.map((one) => ({ ...toShownLine(one), cells: one.line.cells.flat() })),
    added,
  };
  const change = { reading: complete, plan, stored };
  await inWork(postgres.db, clock, toActor(row), (work) => storeReading(work, row, change));
  return endTurn(complete.counts.records, { counts: complete.counts });
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
    const { numUpdatedRows } = await work.db
      .updateTable('imports')
      .set({ handled: handled + lines.length, updatedAt: work.now })
      .where('brandId', '=', row.brandId)
      .where('id', '=', row.id)
      .where('status', '=', 'running')
      .where('handled', '=', handled)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new Stopped();
    await writer.lock(work, row);
    const judgedLines = await judgeBatch(work.db, row, lines, { now: work.now, linksUrl: config.linksUrl });
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
      .set({ status: 'done', endedAt: now, updatedAt: now, dueAt: new Date(now.getTime() + KEPT_MS) })
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
