import { sql } from 'kysely';
import { z } from 'zod';
import { toPeriod } from '../../analytics/figures/sums.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import type { Work } from '../../kit/operation/work.ts';
import { creatorEmail } from '../../kit/values/fields.ts';
import type { ClaimedJob } from '../../platform/jobs/jobs.ts';
import { assertBelowLimit, createJob } from '../../platform/jobs/jobs.ts';
import { insertLines, listLines, workOnLines } from '../../platform/jobs/lines.ts';
import { findHead } from '../ledger/ledger.ts';
import {
  CreatorStatementLine,
  eachLine,
  isEmptyStatement,
  Statement,
  type StatementBatch,
  toStatement,
} from './statements.shapes.ts';
import { getLinkEnd, getStatement, recordStatement, sumStatement, sumUp } from './statements.ts';

export const STATEMENTS = 'statements';

const StatementRequest = z.object({
  from: z.string(),
  to: z.string(),
  /** Jobs of before had UTC days. */
  time_zone: z.string().default('UTC'),
  send_email: z.boolean(),
  ledger_seq: z.number().int(),
  ledger_hash: z.string().nullable(),
});
type StatementRequest = z.output<typeof StatementRequest>;

/** Starts a job that creates a statement for every creator of the ledger, all of them as of the same entry. */
export async function startStatements(work: Work, keyId: string, body: StatementBatch) {
  const { db, brandId, now } = work;
  await assertBelowLimit(work);
  const { seq, hash } = await findHead(db, brandId);
  const timeZone = body.time_zone ?? (await getTimeZone(db, brandId));
  const { until } = toPeriod(body, timeZone);
  const creatorIds = await listCreators(db, brandId, { seq, until });
  const request: StatementRequest = {
    ...body,
    time_zone: timeZone,
    ledger_seq: seq,
    ledger_hash: hash?.toString('hex') ?? null,
  };
  const job = await createJob(work, { kind: STATEMENTS, request, dueAt: now, keyId, totalRows: creatorIds.length });
  const lines = creatorIds.map((creatorId) => ({ creatorId, currency: '' }));
  await insertLines(db, job, lines);
  return job;
}

async function listCreators(db: Db, brandId: string, { seq, until }: { seq: number; until: Date }): Promise<string[]> {
  const rows = await db
    .selectFrom('ledgerEntries')
    .select('creatorId')
    .distinct()
    .where('brandId', '=', brandId)
    .where('seq', '<=', seq)
    .where(sql<boolean>`exists (select from jsonb_to_recordset(postings) as posting (at text)
      where posting.at collate "C" < ${until.toISOString()})`)
    .execute();
  return rows.map(({ creatorId }) => creatorId);
}

const StatementOutcome = z.object({ statement_id: z.string().nullable(), email_sent: z.boolean() });
type StatementOutcome = z.output<typeof StatementOutcome>;

/** Creates the statement of one creator. One without lines and with nothing owed has none. */
async function stateLine(work: Work, creatorId: string, request: StatementRequest): Promise<StatementOutcome> {
  const { ledger_seq: seq, ledger_hash } = request;
  const head = { seq, hash: ledger_hash === null ? null : Buffer.from(ledger_hash, 'hex') };
  const summed = await sumUp(work, creatorId, request, head);
  if (isEmptyStatement(summed.sums)) return { statement_id: null, email_sent: false };
  const { row, isMailed } = await recordStatement(work, request, summed);
  return { statement_id: row.id, email_sent: isMailed };
}

const sharedFields = {
  statement_id: Statement.shape.id,
  creator_id: Statement.shape.creator_id,
  creator_email: creatorEmail,
  creator_name: Statement.shape.creator_name,
};
const money = z.number();
const StatementRow = z.object({
  ...sharedFields,
  currency: z.string(),
  opening: money,
  commission: money,
  taken_back: money,
  paid_out: money,
  closing: money,
  url: z.string(),
  email_sent: z.boolean(),
});
const StatementLineRow = z.object({ ...sharedFields, ...CreatorStatementLine.shape });

/** Reads the statements that the job created, by their creators' addresses. */
async function* eachStatement({ postgres: { db } }: Context, job: ClaimedJob) {
  for (const line of await listLines(db, job)) {
    const { statement_id, email_sent } = StatementOutcome.parse(line.outcome);
    if (statement_id === null) continue;
    const row = await getStatement(db, job.brandId, statement_id);
    const { creatorId: creator_id, creatorEmail: creator_email, creatorName: creator_name } = row;
    const columns = { statement_id, creator_id, creator_email, creator_name };
    yield { row, shown: columns, email_sent };
  }
}

export const statementsKind = workOnLines({
  operation: 'create_statements',
  request: StatementRequest,
  outcome: StatementOutcome,
  step: async (work, { creatorId }, request) => ({
    outcome: await stateLine(work, creatorId, request),
    isDone: true,
  }),
  files: [
    {
      name: 'statements.csv',
      item: StatementRow,
      rows: async function* (context, job) {
        for await (const { row, shown, email_sent } of eachStatement(context, job)) {
          const { id: rowId, linkVersion: version } = row;
          const url = context.pageLinks.urlOf({ kind: 'statement', rowId, version, expiresAt: getLinkEnd(row) });
          for (const total of toStatement(row).totals ?? []) yield { ...shown, ...total, url, email_sent };
        }
      },
    },
    {
      name: 'lines.csv',
      item: StatementLineRow,
      rows: async function* (context, job) {
        for await (const { row, shown } of eachStatement(context, job)) {
          for (const line of eachLine(await sumStatement(context.postgres.db, row))) yield { ...shown, ...line };
        }
      },
    },
  ],
  sum: (lines) => ({
    statements: lines.filter(({ outcome }) => outcome.statement_id !== null).length,
    without: lines.filter(({ outcome }) => outcome.statement_id === null).length,
    mailed: lines.filter(({ outcome }) => outcome.email_sent).length,
  }),
});
