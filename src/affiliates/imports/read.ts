import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import { transact } from '../../kit/engines/postgres/transaction.ts';
import type { Context } from '../../kit/operation/context.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { refuseFile } from '../../platform/imports/reading/describe.ts';
import { mergeMappings } from '../../platform/imports/reading/doubts.ts';
import { BrokenFile, MappingProblem, UnsupportedFile } from '../../platform/imports/reading/problems.ts';
import { type Read, readRecords, readTable } from '../../platform/imports/reading/read-table.ts';
import type { ByteSource, Line, Question } from '../../platform/imports/reading/shapes.ts';
import type { TurnOutcome } from '../../platform/jobs/jobs.ts';
import { KnownDoubts } from './ask-known.ts';
import { endTurn, inBatches, judgeBatch, toActor, toByteSource, toRequest } from './batches.ts';
import { endNamingErased, openErased } from './erased.ts';
import { type ImportRow, type StoredReading, withoutCells } from './imports.ts';
import { findMapping } from './mappings.ts';
import { listNamesakes } from './people.ts';
import { type Judged, Tallies, toMajorSums, toOptionLine, toShownLine } from './tallies.ts';

/** Lines that are kept of each outcome. */
const MOST_LINES = 10_000;

/** Somebody was erased while the file was read, or the import ended: what was read is told nobody. */
class Outdated extends Error {}
/** The file names somebody who was erased since it was sent. */
class NamedErased extends Error {}

/** Holds an import that is read as it was; an erasure waits until the transaction ends. */
async function holdReading(db: Db, { id, brandId, erasedHashes, revision }: ImportRow): Promise<void> {
  const current = await db
    .selectFrom('imports')
    .select(['status', 'erasedHashes', 'revision'])
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  const isAsRead = current?.status === 'reading' && current.revision === revision;
  if (!isAsRead || !isDeepStrictEqual(current.erasedHashes, erasedHashes)) throw new Outdated();
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
  await transact(db, async (trx) => {
    await holdReading(trx, row);
    await sql`${toInsert('import_lines', rows)} on conflict do nothing`.execute(trx);
  });
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
  const { clock, config, postgres, secrets } = context;
  const { db } = postgres;
  const erased = await openErased(db, secrets, row);
  const tallies = new Tallies();
  const doubts = new KnownDoubts();
  const sample: Judged[] = [];
  let [number, addedCount] = [0, 0];
  for await (const batch of inBatches(lines)) {
    signal.throwIfAborted();
    if (batch.some(erased.inLine)) throw new NamedErased();
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
  await holdReading(db, row);
  await db
    .updateTable('imports')
    .set({ status: reading.status, readingId: reading.reading_id, updatedAt: now })
    .set({ reading: JSON.stringify(reading), plan: plan && JSON.stringify(plan) })
    .set({ stored: stored && JSON.stringify(stored) })
    .where('brandId', '=', brandId)
    .where('id', '=', row.id)
    .execute();
  await db
    .deleteFrom('importLines')
    .where('brandId', '=', brandId)
    .where('importId', '=', row.id)
    .where('revision', '<', row.revision)
    .execute();
}

const toMajorQuestion = (question: Question) => ({
  ...question,
  options: question.options.map((one) => ({
    ...one,
    mapping: { ...one.mapping },
    sums: toMajorSums(one.sums),
    sample: one.sample.map(toOptionLine),
  })),
});

/** Reads a file and compares it with the brand's own records. */
export async function read(context: Context, row: ImportRow, signal: AbortSignal): Promise<TurnOutcome> {
  const { postgres, clock } = context;
  try {
    return await readWhole(context, row, signal);
  } catch (error) {
    // The next turn reads it as it is now, if it is still to be read.
    if (error instanceof Outdated) return { cursor: null, rows: 0, isDone: false };
    if (!(error instanceof NamedErased)) throw error;
    await inWork(postgres.db, clock, toActor(row), async (work) => {
      await endNamingErased(work, [row.id], work.now);
      await work.db
        .deleteFrom('importLines')
        .where('brandId', '=', row.brandId)
        .where('importId', '=', row.id)
        .execute();
    });
    return endTurn(0);
  }
}

async function readWhole(context: Context, row: ImportRow, signal: AbortSignal): Promise<TurnOutcome> {
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
  // Without a plan, no line was looked at.
  const shownReading = plan === null && row.erasedHashes.length > 0 ? withoutCells(complete) : complete;
  const change = { reading: shownReading, plan, stored };
  await inWork(postgres.db, clock, toActor(row), (work) => storeReading(work, row, change));
  return endTurn(complete.counts.records, { counts: complete.counts });
}
