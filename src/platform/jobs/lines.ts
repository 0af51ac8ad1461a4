import { sql } from 'kysely';
import type { z } from 'zod';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { toCsv } from '../../kit/operation/csv.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { toStorageKey } from './job-files.ts';
import { type ClaimedJob, type JobKind, type JobRow, listFiles, storeFile, type TurnOutcome } from './jobs.ts';

type OwnJob = Pick<JobRow, 'brandId' | 'id'>;

interface NewLine {
  creatorId: string;
  /** Empty for work that is about all of the creator's currencies. */
  currency: string;
  planned?: object;
  /** Of a creator for whom nothing is left to do. */
  outcome?: object;
}

/** Stores the creators whom a job works on. */
export async function insertLines(db: Db, { brandId, id }: OwnJob, lines: readonly NewLine[]): Promise<void> {
  const values = lines.map(({ creatorId: creator_id, ...line }) => ({ creator_id, ...line }));
  await sql`insert into job_lines (brand_id, job_id, creator_id, currency, planned, outcome, is_done)
    select ${brandId}, ${id}, creator_id, currency, planned, outcome, outcome is not null
    from jsonb_to_recordset(${JSON.stringify(values)}::jsonb)
      as line (creator_id text, currency text, planned jsonb, outcome jsonb)`.execute(db);
}

const selectLines = (db: Db, { brandId, id }: OwnJob) =>
  db.selectFrom('jobLines').where('jobLines.brandId', '=', brandId).where('jobLines.jobId', '=', id);

const listOpenLines = (db: Db, job: OwnJob, limit: number) =>
  selectLines(db, job)
    .select(['creatorId', 'currency'])
    .where('isDone', '=', false)
    .orderBy('creatorId')
    .orderBy('currency')
    .limit(limit)
    .execute();

export type JobLine = Awaited<ReturnType<typeof listLines>>[number];

/** The lines of a job with their creators, by email address. */
export const listLines = (db: Db, job: OwnJob) =>
  selectLines(db, job)
    .leftJoin('creators', 'creators.id', 'jobLines.creatorId')
    .select(['creatorId', 'currency', 'outcome', 'creators.email as creatorEmail', 'creators.name as creatorName'])
    .orderBy(sql`lower(creators.email)`)
    .orderBy('creatorId')
    .orderBy('currency')
    .execute();

/** A creator whom a step works on. */
interface OpenLine<Outcome> {
  creatorId: string;
  currency: string;
  planned: unknown;
  /** What earlier steps did. */
  outcome: Outcome | undefined;
}

/** A CSV file that the job writes at its end. */
interface LineFile<Request> {
  name: string;
  item: z.ZodObject;
  rows: (context: Context, job: ClaimedJob, request: Request) => AsyncIterable<Record<string, unknown>>;
}

/** A job that works on creators one by one. */
interface LineWork<Request, Outcome> {
  /** The operation that the audit log names. */
  operation: string;
  request: z.ZodType<Request>;
  outcome: z.ZodType<Outcome>;
  /** Does a part of the work on one creator, or all of it, in a transaction that also stores the outcome. */
  step: (
    work: Work,
    line: OpenLine<Outcome>,
    request: Request,
    context: Pick<Context, 'config'>,
  ) => Promise<{ outcome: Outcome; isDone: boolean }>;
  files: readonly LineFile<Request>[];
  /** The result that the API shows. */
  sum: (outcomes: readonly (JobLine & { outcome: Outcome })[], request: Request) => object;
}

const TURN_MS = 5_000;
const LINES_A_TURN = 200;

/** Locks a line that is not done. Until the transaction ends, the job is neither cancelled nor taken over. */
async function lockLine(db: Db, job: ClaimedJob, { creatorId, currency }: { creatorId: string; currency: string }) {
  const own = await db
    .selectFrom('jobs')
    .select('id')
    .where('brandId', '=', job.brandId)
    .where('id', '=', job.id)
    .where('claim', '=', job.claim)
    .forShare()
    .executeTakeFirst();
  if (!own) throw new Error('The job was cancelled, or another worker took it over.');
  return await selectLines(db, job)
    .select(['creatorId', 'currency', 'planned', 'outcome'])
    .where('creatorId', '=', creatorId)
    .where('currency', '=', currency)
    .where('isDone', '=', false)
    .forUpdate()
    .executeTakeFirst();
}

async function updateLine(
  db: Db,
  job: OwnJob,
  { creatorId, currency }: { creatorId: string; currency: string },
  { outcome, isDone }: { outcome: unknown; isDone: boolean },
): Promise<void> {
  await db
    .updateTable('jobLines')
    .set({ outcome: JSON.stringify(outcome), isDone })
    .where('brandId', '=', job.brandId)
    .where('jobId', '=', job.id)
    .where('creatorId', '=', creatorId)
    .where('currency', '=', currency)
    .execute();
}

/** Works on one creator until nothing is left to do. */
async function finishLine<Request, Outcome>(
  context: Context,
  job: ClaimedJob,
  open: { creatorId: string; currency: string },
  { kind, request, signal }: { kind: LineWork<Request, Outcome>; request: Request; signal: AbortSignal },
): Promise<void> {
  const { postgres, clock } = context;
  const actor = { brandId: job.brandId, keyId: job.keyId, operation: kind.operation, requestId: null };
  for (let isDone = false; !isDone; ) {
    signal.throwIfAborted();
    isDone = await inWork(postgres.db, clock, actor, async (work) => {
      const line = await lockLine(work.db, job, open);
      if (!line) return true;
      const outcome = line.outcome === null ? undefined : kind.outcome.parse(line.outcome);
      const after = await kind.step(work, { ...line, outcome }, request, context);
      await updateLine(work.db, job, line, after);
      return after.isDone;
    });
  }
}

/** Writes the next file of a job whose lines are done; the last one ends the job. */
async function writeFile<Request, Outcome>(
  context: Context,
  job: ClaimedJob,
  rows: number,
  { kind, request, signal }: { kind: LineWork<Request, Outcome>; request: Request; signal: AbortSignal },
): Promise<TurnOutcome> {
  const { postgres, files } = context;
  const number = (await listFiles(postgres.db, job)).length + 1;
  const next = kind.files[number - 1];
  if (!next) throw new Error(`The job ${job.id} has no file ${number}.`);
  let fileRows = 0;
  async function* count(): AsyncGenerator<Record<string, unknown>> {
    for await (const row of next?.rows(context, job, request) ?? []) {
      signal.throwIfAborted();
      fileRows += 1;
      yield row;
    }
  }
  const storageKey = toStorageKey(job.id, number, job.claim);
  const mimeType = 'text/csv';
  const storedFile = await storeFile(files, { key: storageKey, mimeType, signal }, toCsv(next.item, count()));
  const file = { number, name: next.name, mimeType, storageKey, rows: fileRows, ...storedFile };
  const isDone = number === kind.files.length;
  if (!isDone) return { cursor: null, rows, file, isDone };
  const lines = (await listLines(postgres.db, job)).map((line) => ({
    ...line,
    outcome: kind.outcome.parse(line.outcome),
  }));
  return { cursor: null, rows, file, isDone, result: kind.sum(lines, request) };
}

/** Runs jobs that work on creators one by one. A job whose worker died goes on with the creators who are left. */
export const workOnLines = <Request, Outcome>(kind: LineWork<Request, Outcome>): JobKind => ({
  run: async (context, job, { signal, note }) => {
    const { db } = context.postgres;
    const request = kind.request.parse(job.request);
    const open = await listOpenLines(db, job, LINES_A_TURN);
    let rows = await countRows(selectLines(db, job).where('isDone', '=', true).select(COUNT));
    const until = performance.now() + TURN_MS;
    for (const line of open) {
      if (performance.now() >= until) break;
      await finishLine(context, job, line, { kind, request, signal });
      rows += 1;
      note(rows);
    }
    if (open.length > 0) return { cursor: null, rows, isDone: false };
    return await writeFile(context, job, rows, { kind, request, signal });
  },
});
