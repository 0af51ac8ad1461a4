import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import type { Call } from '../../kit/operation/operation.ts';
import type { Work } from '../../kit/operation/work.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { creatorEmail, idField } from '../../kit/values/fields.ts';
import { timestamp } from '../../kit/values/page.ts';
import { assertBelowLimit, createJob, toJob } from '../../platform/jobs/jobs.ts';
import { insertLines, listLines, workOnLines } from '../../platform/jobs/lines.ts';
import { listPayTo } from '../../workflow/payments/payments.ts';
import { computeTotalDue, isDue, listBalances } from './balances.ts';
import { PayoutBatch, PayoutBatchMade } from './due-payouts.shapes.ts';
import {
  assertExpected,
  computeWithheld,
  findPayees,
  isLarge,
  payPayee,
  sumByCurrency,
  weighPayee,
} from './payout-batch.ts';
import { payeeName } from './payouts.shapes.ts';
import { lockPayees } from './payouts.ts';
import { checkPaidAt, payNextPart } from './settle.ts';

export const PAYOUT_BATCH = 'payout_batch';

const toFilter = ({ currency, cutoff }: PayoutBatch, creatorIds: readonly string[] | undefined) => ({
  creatorIds,
  currency,
  cutoff,
});

/**
 * Starts a job if more is due than a call pays; undefined otherwise. Its payees are those with something due now. All are
 * checked against `expected` at once, and each of them again when it is paid.
 */
export async function startPayoutBatch(
  context: Context,
  { caller: { brandId, keyId }, body: batch }: Pick<Call<unknown, unknown, PayoutBatch>, 'caller' | 'body'>,
) {
  const { postgres, clock, config } = context;
  const listDue = async (work: Pick<Work, 'db' | 'brandId' | 'now'>) => {
    const { payeeEmails, unknownEmails } = await findPayees(work, batch.creator_emails ?? []);
    const filter = toFilter(batch, batch.creator_emails && [...payeeEmails.keys()]);
    const balances = (await listBalances(work.db, brandId, filter, work.now)).filter(isDue);
    return { balances, unknownEmails };
  };
  const { balances } = await listDue({ db: postgres.db, brandId, now: clock.now() });
  if (!isLarge(balances, config.commissionsAtOnce)) return undefined;
  return async (work: Work) => {
    await assertBelowLimit(work);
    const paidAt = await checkPaidAt(work, batch);
    const { balances: due, unknownEmails } = await listDue(work);
    if (batch.expected !== undefined) assertExpected(batch.expected, due, batch);
    const { creator_emails: _emails, cutoff, paid_at: _paidAt, ...terms } = batch;
    const request = {
      ...terms,
      ...(cutoff ? { cutoff: cutoff.toISOString() } : {}),
      paid_at: paidAt.toISOString(),
      not_found: unknownEmails,
    };
    const job = await createJob(work, {
      kind: PAYOUT_BATCH,
      request,
      dueAt: work.now,
      keyId,
      totalRows: due.length,
    });
    const lines = due.map((balance) => ({
      creatorId: balance.creatorId,
      currency: balance.currency,
      planned: { total_minor: computeTotalDue(balance) },
    }));
    await insertLines(work.db, job, lines);
    return { data: toJob(job, context) };
  };
}

const BatchRequest = PayoutBatch.extend({ paid_at: z.coerce.date(), not_found: z.array(z.string()) });

const Planned = z.object({ total_minor: z.number().int() });

const reason = z.enum([...PayoutBatchMade.shape.skipped.element.shape.reason.options, 'changed']);

const BatchOutcome = z.object({
  payout_id: z.string().nullable(),
  reason: reason.nullable(),
  amount_minor: z.number().int(),
  commission_count: z.number().int(),
  /** The last step of a payout withholds this, because the rail cannot pay it. */
  withheld_minor: z.number().int().default(0),
});
type BatchOutcome = z.output<typeof BatchOutcome>;

const BatchRow = z.object({
  creator_id: idField('crt', 'Creator who is due something.'),
  creator_email: creatorEmail,
  creator_name: payeeName,
  currency: z.string(),
  result: z.enum(['paid', 'skipped']),
  reason: reason.nullable(),
  amount: z.number(),
  commission_count: z.number().int(),
  payout_id: z.string().nullable(),
  method: PayoutBatch.shape.method,
  reference: z.string().nullable(),
  paid_at: timestamp.nullable(),
});

type BatchTerms = z.output<typeof BatchRequest>;
type BatchStep = { outcome: BatchOutcome; isDone: boolean };

/** Commissions that one transaction pays, so that the brand's other changes wait for it no longer than for others. */
const PAID_A_STEP = 1_000;

/** Goes on with a payout that an earlier step began. */
async function payRest(
  work: Work,
  outcome: BatchOutcome,
  { cutoff, paid_at }: BatchTerms,
  limit: number,
): Promise<BatchStep> {
  const { payout_id, withheld_minor: withheldMinor } = outcome;
  const paidCount = await payNextPart(work, payout_id ?? '', { cutoff, limit, withheldMinor, paidAt: paid_at });
  return paidCount === undefined
    ? { outcome, isDone: false }
    : { outcome: { ...outcome, commission_count: paidCount }, isDone: true };
}

/**
 * Pays one payee: all, or the first of very many commissions. What changed since the job was started is paid as it is now,
 * unless the caller expected the sums.
 */
async function payLine(
  work: Work,
  { creatorId, currency, planned }: { creatorId: string; currency: string; planned: unknown },
  batch: BatchTerms,
  limit: number,
): Promise<BatchStep> {
  const { db, brandId, now } = work;
  const skip = (why: BatchOutcome['reason'], amountMinor = 0): BatchStep => ({
    outcome: { payout_id: null, reason: why, amount_minor: amountMinor, commission_count: 0, withheld_minor: 0 },
    isDone: true,
  });
  await lockPayees(db, brandId, [creatorId]);
  const filter = { ...toFilter(batch, [creatorId]), currency };
  const [balance] = (await listBalances(db, brandId, filter, now)).filter(isDue);
  if (!balance) return skip('nothing_due');
  const isExpected = Planned.parse(planned).total_minor === computeTotalDue(balance);
  if (batch.expected !== undefined && !isExpected) return skip('changed', computeTotalDue(balance));
  const payTo = (await listPayTo(db, brandId, [creatorId], now)).get(creatorId);
  const { due, skipped } = await weighPayee(work, batch, balance, payTo, limit);
  if (skipped) return skip(skipped.reason, due.sentMinor);
  const { id } = await payPayee(work, batch, due, payTo, batch.paid_at);
  const sums = { amount_minor: due.sentMinor, commission_count: balance.dueCount };
  const withheld_minor = due.isPart ? computeWithheld(due) : 0;
  return { outcome: { payout_id: id, reason: null, ...sums, withheld_minor }, isDone: !due.isPart };
}

export const payoutBatchKind = workOnLines({
  operation: 'pay_payout_batch',
  request: BatchRequest,
  outcome: BatchOutcome,
  step: async (work, line, batch, { config }) => {
    const limit = Math.min(config.commissionsAtOnce, PAID_A_STEP);
    return line.outcome === undefined
      ? await payLine(work, line, batch, limit)
      : await payRest(work, line.outcome, batch, limit);
  },
  files: [
    {
      name: 'payouts.csv',
      item: BatchRow,
      rows: async function* ({ postgres }, job, batch) {
        for (const { currency, outcome, ...line } of await listLines(postgres.db, job)) {
          const { amount_minor, commission_count, payout_id, reason: why } = BatchOutcome.parse(outcome);
          yield {
            creator_id: line.creatorId,
            creator_email: line.creatorEmail,
            creator_name: line.creatorName,
            currency,
            result: payout_id === null ? 'skipped' : 'paid',
            reason: why,
            amount: fromMinor(amount_minor, currency),
            commission_count,
            payout_id,
            method: batch.method,
            reference: batch.reference ?? null,
            paid_at: payout_id === null ? null : batch.paid_at.toISOString(),
          };
        }
      },
    },
  ],
  sum: (lines, { not_found }) => {
    const paidLines = lines.filter(({ outcome }) => outcome.payout_id !== null);
    const skippedByReason = Map.groupBy(lines, ({ outcome }) => outcome.reason);
    return {
      payouts: paidLines.length,
      by_currency: sumByCurrency(
        paidLines.map(({ currency, outcome }) => ({ currency, amountMinor: outcome.amount_minor })),
      ),
      skipped: [...skippedByReason].flatMap(([why, own]) =>
        why === null ? [] : [{ reason: why, creators: own.length }],
      ),
      not_found,
    };
  },
});
