import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import { create, list, read } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { Job } from '../../platform/jobs/jobs.api.ts';
import { registerKind, toJob } from '../../platform/jobs/jobs.ts';
import { disputeOperations } from './disputes.api.ts';
import { STATEMENTS, startStatements, statementsKind } from './statement-batch.ts';
import { disputeMails, statementMails } from './statements.mails.ts';
import {
  CreatorStatementLine,
  Statement,
  StatementBatch,
  StatementCreate,
  StatementDetail,
  StatementFilter,
  StatementMade,
  toStatement,
  toStatementContent,
} from './statements.shapes.ts';
import { createStatement, getLinkEnd, getStatement, statements, sumStatement } from './statements.ts';

const tag = 'Payouts';

async function getDetail({ postgres: { db }, pageLinks, clock }: Context, brandId: string, id: string) {
  const row = await getStatement(db, brandId, id);
  const expiresAt = getLinkEnd(row);
  const url =
    expiresAt > clock.now()
      ? pageLinks.urlOf({ kind: 'statement', rowId: row.id, version: row.linkVersion, expiresAt })
      : null;
  return { ...toStatement(row), ...toStatementContent(await sumStatement(db, row)), url };
}

async function* eachLine(context: Context, brandId: string, id: string) {
  yield* (await getDetail(context, brandId, id)).lines;
}

const statementOperations = [
  list({
    id: 'list_statements',
    path: '/v1/statements',
    tag,
    summary: 'List statements for creators',
    description: 'Newest first.',
    forAgents: { example: { creator_email: 'ana@example.com' } },
    query: StatementFilter,
    item: Statement,
    rows: statements,
    itemOf: toStatement,
  }),
  read({
    id: 'get_statement',
    path: '/v1/statements/{id}',
    tag,
    summary: 'Get a statement with its lines',
    description:
      'It is computed from the ledger as of its creation, so it never changes. The CSV format has only the lines.',
    forAgents: { description: 'Computed from the ledger as of its creation, so it never changes.' },
    response: z.object({ data: StatementDetail }),
    errors: ['NOT_FOUND'],
    handler: async (context, { caller, params }) => ({ data: await getDetail(context, caller.brandId, params.id) }),
    csv: {
      item: CreatorStatementLine,
      rows: async (context, { caller, params }) => {
        await getStatement(context.postgres.db, caller.brandId, params.id);
        return eachLine(context, caller.brandId, params.id);
      },
    },
  }),
  create({
    id: 'create_statement',
    path: '/v1/statements',
    tag,
    summary: 'Create a statement for a creator',
    description:
      'Covers a period, from the ledger as of now, and records its last hash. The page at `url` shows the creator orders ' +
      'with masked customers, commissions, refunds and payouts, and lets them ask a question about each line.',
    forAgents: {
      description:
        'A period, from the ledger as of now. The page at `url` shows it to the creator and takes questions about each line.',
      example: { creator_email: 'ana@example.com', from: '2026-01-01', to: '2026-03-31' },
    },
    body: StatementCreate,
    item: StatementMade,
    sealsAnswer: true,
    lookUp: async ({ pageLinks }) => pageLinks,
    apply: async (work, { body }, pageLinks) => {
      const { row, expiresAt, isMailed } = await createStatement(work, body);
      const url = pageLinks.urlOf({ kind: 'statement', rowId: row.id, version: row.linkVersion, expiresAt });
      return { ...toStatement(row), url, email_sent: isMailed };
    },
  }),
  create({
    id: 'create_statements',
    path: '/v1/statements/batch',
    tag,
    status: 202,
    summary: 'Create a statement for every creator',
    description:
      'Starts a job: a statement for each creator who earned or was paid in the period, or is owed something at its end, all as of ' +
      'the same ledger entry. `statements.csv` lists them with their links and totals, `lines.csv` all their lines.',
    forAgents: { isListed: false, example: { from: '2026-03-01', to: '2026-03-31' } },
    body: StatementBatch,
    item: Job,
    errors: ['CONFLICT'],
    lookUp: async (context) => context,
    apply: async (work, { caller, body }, context) =>
      toJob({ ...(await startStatements(work, caller.keyId, body)), files: [] }, context),
  }),
] as const;

registerKind(STATEMENTS, statementsKind);

export const statementsNoun = noun({
  name: 'statements',
  ids: { statements: 'stm', lines: 'com', disputes: 'dsp' },
  operations: [...statementOperations, ...disputeOperations],
  mails: { ...statementMails, ...disputeMails },
});
