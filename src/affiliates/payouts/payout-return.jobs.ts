import { sql } from 'kysely';
import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import type { Call } from '../../kit/operation/operation.ts';
import type { Work } from '../../kit/operation/work.ts';
import { assertBelowLimit, createJob, jobs, toJob } from '../../platform/jobs/jobs.ts';
import { insertLines, workOnLines } from '../../platform/jobs/lines.ts';
import { countPaidCommissions, lockReturned, returnNextPart } from './corrections.ts';
import { StatementLine } from './due-payouts.shapes.ts';
import { listStatementLines, toStatementLines } from './payout-statement.ts';
import { PayoutReturn } from './payouts.shapes.ts';
import { getPayout } from './payouts.ts';

export const PAYOUT_RETURN = 'payout_return';

/** Commissions that one transaction reopens. Each is compared with its order, which takes longer than paying it. */
const REOPENED_A_STEP = 200;

/** Finds the job that already returns the payout. */
async function findOpenJob({ db, brandId }: Work, payoutId: string): Promise<string | undefined> {
  const job = await db
    .selectFrom('jobs')
    .select('id')
    .where('brandId', '=', brandId)
    .where('kind', '=', PAYOUT_RETURN)
    .where('status', 'in', ['queued', 'running'])
    .where(sql<boolean>`request ->> 'payout_id' = ${payoutId}`)
    .executeTakeFirst();
  return job?.id;
}

/** Starts a job if the payout paid more commissions than a call returns; undefined otherwise. */
export async function startPayoutReturn(
  context: Context,
  { caller: { brandId, keyId }, params: { id }, body: patch }: Call<{ id: string }, unknown, PayoutReturn>,
) {
  const { postgres, config } = context;
  if ((await countPaidCommissions(postgres.db, brandId, id)) <= config.commissionsAtOnce) return undefined;
  return async (work: Work) => {
    const { old, at } = await lockReturned(work, id, patch);
    const openId = await findOpenJob(work, id);
    if (openId !== undefined) return { data: toJob(await jobs.get(work.db, brandId, openId), context) };
    await assertBelowLimit(work);
    const request = { payout_id: id, reason: patch.reason, returned_at: at.toISOString() };
    const job = await createJob(work, { kind: PAYOUT_RETURN, request, dueAt: work.now, keyId, totalRows: 1 });
    await insertLines(work.db, job, [{ creatorId: old.creatorId, currency: old.currency }]);
    return { data: toJob(job, context) };
  };
}

const ReturnRequest = PayoutReturn.extend({ payout_id: z.string(), returned_at: z.coerce.date() });

const Outcome = z.object({ commission_count: z.number().int() });

export const payoutReturnKind = workOnLines({
  operation: 'return_payout',
  request: ReturnRequest,
  outcome: Outcome,
  step: async (work, { outcome }, { payout_id, ...patch }, { config }) => {
    const count = outcome?.commission_count ?? (await countPaidCommissions(work.db, work.brandId, payout_id));
    const limit = Math.min(config.commissionsAtOnce, REOPENED_A_STEP);
    return { outcome: { commission_count: count }, isDone: await returnNextPart(work, payout_id, patch, limit) };
  },
  files: [
    {
      name: 'returned.csv',
      item: StatementLine,
      rows: async function* ({ postgres: { db } }, { brandId }, { payout_id }) {
        const payout = await getPayout(db, brandId, payout_id);
        yield* toStatementLines(payout, await listStatementLines(db, brandId, payout_id));
      },
    },
  ],
  sum: ([line], { payout_id }) => ({ payout_id, commissions: line?.outcome.commission_count ?? 0 }),
});
