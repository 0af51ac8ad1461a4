import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Call } from '../../kit/operation/operation.ts';
import type { Work } from '../../kit/operation/work.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { creatorEmail, idField } from '../../kit/values/fields.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { assertBelowLimit, createJob, toJob } from '../../platform/jobs/jobs.ts';
import { insertLines, listLines, workOnLines } from '../../platform/jobs/lines.ts';
import { matchesCreator } from '../../workflow/creators/creators.ts';
import { isApprovable, isSuspicious, listApprovalBlockers } from '../commissions/commissions.ts';
import { payeeName } from '../payouts/payouts.shapes.ts';
import type { CommissionsApproved, DueApproval } from './reviews.shapes.ts';
import { lockCandidates, moveCommissions } from './reviews.ts';

export const APPROVAL = 'approval';

/** Commissions that one transaction of a job approves. */
const AT_ONCE = 500;

type ApprovalSelection = Pick<DueApproval, 'cutoff' | 'currency' | 'creator_email' | 'flagged'> & {
  /** Review periods that are over by then are over. */
  asOf: Date;
};

const HIGH = sql<boolean>`commissions.fraud_flags @> '[{"severity": "high"}]'`;

function selectApprovable(db: Db, brandId: string, { cutoff, currency, creator_email, asOf }: ApprovalSelection) {
  return db
    .selectFrom('commissions')
    .where('commissions.brandId', '=', brandId)
    .where((eb) => eb.and(omitUndefined({ currency })))
    .where(isApprovable(asOf))
    .where(matchesCreator('commissions.creatorId', brandId, creator_email))
    .where('commissions.occurredAt', '<=', cutoff);
}

interface PayeeApproval {
  creatorId: string;
  currency: string;
  commissions: number;
  /** Commissions that a high fraud flag leaves to a person. */
  flagged: number;
}

/** Counts what can be approved, by creator and currency. */
async function listPayees(db: Db, brandId: string, where: ApprovalSelection): Promise<PayeeApproval[]> {
  const countFlagged = sql<number>`count(*) filter (where ${HIGH})`;
  const rows = await selectApprovable(db, brandId, where)
    .select(['creatorId', 'currency', sql<number>`count(*)`.as('all'), countFlagged.as('flagged')])
    .groupBy(['creatorId', 'currency'])
    .orderBy('creatorId')
    .orderBy('currency')
    .execute();
  return rows.map(({ all, flagged: high, ...row }) =>
    where.flagged ? { ...row, commissions: all, flagged: 0 } : { ...row, commissions: all - high, flagged: high },
  );
}

const countCommissions = (payees: readonly PayeeApproval[]) =>
  payees.reduce((sum, { commissions }) => sum + commissions, 0);

interface Approved {
  commissions: number;
  amountMinor: number;
}

/** Approves the payee's next commissions, oldest first. It is over when there are fewer than one step takes. */
async function approveNext(
  work: Work,
  { creatorId, currency }: Pick<PayeeApproval, 'creatorId' | 'currency'>,
  where: ApprovalSelection,
  note: string | null,
): Promise<Approved & { isDone: boolean }> {
  const { db, brandId } = work;
  const { asOf, flagged } = where;
  const next = await selectApprovable(db, brandId, { ...where, currency })
    .select('commissions.id')
    .where('commissions.creatorId', '=', creatorId)
    .$if(!flagged, (query) => query.where(sql<boolean>`not ${HIGH}`))
    .orderBy('commissions.occurredAt')
    .orderBy('commissions.id')
    .limit(AT_ONCE)
    .execute();
  const review = { status: 'approved' as const, note };
  const candidates = await lockCandidates(
    work,
    next.map(({ id }) => id),
    review,
  );
  const rows = [...candidates.values()].flatMap(({ row, end }) => {
    if (row?.status !== 'pending' || (!flagged && isSuspicious(row))) return [];
    return listApprovalBlockers(row, end, asOf).length === 0 ? [row] : [];
  });
  await moveCommissions(work, rows, review);
  const amountMinor = rows.reduce((sum, { commissionMinor }) => sum + commissionMinor, 0);
  return { commissions: rows.length, amountMinor, isDone: next.length < AT_ONCE || rows.length === 0 };
}

type ApprovedSums = Approved & { currency: string };

function toApproved(sums: readonly ApprovedSums[], flagged: number): z.input<typeof CommissionsApproved> {
  const approvedSums = sums.filter(({ commissions }) => commissions > 0);
  return {
    updated: approvedSums.reduce((sum, { commissions }) => sum + commissions, 0),
    flagged,
    by_currency: [...Map.groupBy(approvedSums, ({ currency }) => currency)].map(([currency, own]) => ({
      currency,
      commissions: own.reduce((sum, { commissions }) => sum + commissions, 0),
      total: fromMinor(
        own.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
        currency,
      ),
    })),
  };
}

/** Approves everything that can be approved, in the transaction of the call. */
export async function approveAll(work: Work, { note = null, ...filter }: DueApproval, most: number) {
  const where = { ...filter, asOf: work.now };
  const payees = await listPayees(work.db, work.brandId, where);
  if (countCommissions(payees) > most) {
    const message =
      `${countCommissions(payees)} commissions can be approved, more than can be planned or approved at once. Send an ` +
      'earlier cutoff, or have a person approve them: over REST, without mode=plan, a job does it.';
    throw new ApiError('CONFLICT', message);
  }
  const sums: ApprovedSums[] = [];
  for (const payee of payees) {
    for (let isDone = payee.commissions === 0; !isDone; ) {
      const step = await approveNext(work, payee, where, note);
      sums.push({ ...step, currency: payee.currency });
      isDone = step.isDone;
    }
  }
  return toApproved(
    sums,
    payees.reduce((sum, { flagged }) => sum + flagged, 0),
  );
}

/** Starts a job if more can be approved than a call does; undefined otherwise. */
export async function startApproval(
  context: Context,
  { caller: { brandId, keyId }, body }: Pick<Call<unknown, unknown, DueApproval>, 'caller' | 'body'>,
) {
  const { postgres, clock, config } = context;
  const payees = await listPayees(postgres.db, brandId, { ...body, asOf: clock.now() });
  if (countCommissions(payees) <= config.commissionsAtOnce) return undefined;
  return async (work: Work) => {
    await assertBelowLimit(work);
    const payees = await listPayees(work.db, brandId, { ...body, asOf: work.now });
    const { creator_email: _email, cutoff, ...terms } = body;
    const request = {
      ...terms,
      cutoff: cutoff.toISOString(),
      as_of: work.now.toISOString(),
    };
    const lines = payees.map(({ creatorId, currency, flagged, commissions }) => {
      const planned = { flagged };
      const outcome = { commissions: 0, amount_minor: 0, flagged };
      return { creatorId, currency, planned, ...(commissions === 0 ? { outcome } : {}) };
    });
    const job = await createJob(work, { kind: APPROVAL, request, dueAt: work.now, keyId, totalRows: lines.length });
    await insertLines(work.db, job, lines);
    return { data: toJob(job, context) };
  };
}

const ApprovalRequest = z.object({
  cutoff: z.coerce.date(),
  currency: z.string().optional(),
  flagged: z.boolean(),
  note: z.string().nullable().optional(),
  as_of: z.coerce.date(),
});

const count = z.number().int();
const Planned = z.object({ flagged: count });
const Outcome = z.object({ commissions: count, amount_minor: count, flagged: count });

const ApprovalRow = z.object({
  creator_id: idField('crt', 'Creator whose commissions were approved.'),
  creator_email: creatorEmail,
  creator_name: payeeName,
  currency: z.string(),
  commissions: count,
  amount: z.number(),
  flagged: count,
});

export const approvalKind = workOnLines({
  operation: 'approve_due_commissions',
  request: ApprovalRequest,
  outcome: Outcome,
  step: async (work, { creatorId, currency, planned, outcome }, { as_of: asOf, note = null, ...where }) => {
    const step = await approveNext(work, { creatorId, currency }, { ...where, asOf }, note);
    const before = outcome ?? { commissions: 0, amount_minor: 0 };
    return {
      outcome: {
        commissions: before.commissions + step.commissions,
        amount_minor: before.amount_minor + step.amountMinor,
        flagged: Planned.parse(planned).flagged,
      },
      isDone: step.isDone,
    };
  },
  files: [
    {
      name: 'approved.csv',
      item: ApprovalRow,
      rows: async function* ({ postgres }, job) {
        for (const { currency, outcome, ...line } of await listLines(postgres.db, job)) {
          const { amount_minor, ...counts } = Outcome.parse(outcome);
          yield {
            creator_id: line.creatorId,
            creator_email: line.creatorEmail,
            creator_name: line.creatorName,
            currency,
            ...counts,
            amount: fromMinor(amount_minor, currency),
          };
        }
      },
    },
  ],
  sum: (lines) =>
    toApproved(
      lines.map(({ currency, outcome: { commissions, amount_minor } }) => ({
        currency,
        commissions,
        amountMinor: amount_minor,
      })),
      lines.reduce((sum, { outcome }) => sum + outcome.flagged, 0),
    ),
});
