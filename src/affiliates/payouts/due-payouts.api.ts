import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import { create, get, read } from '../../kit/operation/kit.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { idField } from '../../kit/values/fields.ts';
import { toMinor } from '../../kit/values/money.ts';
import { pageThrough } from '../../kit/values/page.ts';
import { registerKind } from '../../platform/jobs/jobs.ts';
import { getRecord } from '../../workflow/roster/roster.ts';
import { listBalances, toBalance } from './balances.ts';
import {
  CreatorBalance,
  PayoutBatch,
  PayoutBatchMade,
  PayoutBatchStarted,
  PayoutStatement,
  PreviewFilter,
  PreviewList,
  PreviewRow,
  StatementLine,
} from './due-payouts.shapes.ts';
import { PAYOUT_BATCH, payoutBatchKind, startPayoutBatch } from './payout-batch.jobs.ts';
import { payBatch } from './payout-batch.ts';
import { listPayees, previewPayouts, sumPreviews } from './payout-preview.ts';
import { listStatementLines, toStatementLines } from './payout-statement.ts';
import { toPayout, WEIGHED_PAYOUT } from './payouts.shapes.ts';
import { getPayout, listAllocated } from './payouts.ts';
import { toPaypalRows, toWiseRows } from './rails.ts';

const tag = 'Payouts';
const RosterParams = z.object({ id: idField('rst', 'Roster id of the creator, as `list_roster` gives it.').max(100) });
const PAGE_LIVES_MS = 30 * 24 * 60 * 60 * 1_000;

async function* each<T>(rows: readonly T[]): AsyncGenerator<T> {
  yield* rows;
}

async function getPayoutStatement({ postgres: { db }, pageLinks, clock }: Context, brandId: string, id: string) {
  const payout = await getPayout(db, brandId, id);
  const lines = toStatementLines(payout, await listStatementLines(db, brandId, id));
  const expiresAt = new Date(clock.now().getTime() + PAGE_LIVES_MS);
  return {
    payout: { ...toPayout(payout), commission_ids: await listAllocated(db, brandId, id) },
    lines,
    total: fromMinor(
      lines.reduce((sum, { amount }) => sum + (toMinor(amount, payout.currency) ?? 0), 0),
      payout.currency,
    ),
    page_url: pageLinks.urlOf({ kind: 'statement', rowId: id, version: 0, expiresAt }),
  };
}

export const payoutDueOperations = [
  read({
    id: 'preview_payouts',
    path: '/v1/payouts/preview',
    tag,
    summary: 'Preview what payouts would pay now',
    description:
      'One row for each creator and currency with something due: the approved commissions, the deductions for ' +
      'refunds and earlier payouts, and the amount to transfer. It follows the same rules as a payout, and changes nothing. ' +
      "`Accept: text/csv; profile=paypal` returns PayPal's mass payment file, in one currency, and `profile=wise` Wise's batch file, which pays by email.",
    forAgents: {
      description:
        'What we owe: one row for each creator and currency with something due, with the approved commissions, what refunds and earlier payouts take off, and what to transfer.',
      example: { creator_email: 'ana@example.com' },
      restOnly: ['source_currency', 'header'],
    },
    query: PreviewFilter,
    response: PreviewList,
    handler: async (context, { caller, query }) => {
      const rows = await previewPayouts(context, caller.brandId, query);
      return { ...pageThrough(rows, query), summary: { by_currency: sumPreviews(rows) } };
    },
    csv: {
      item: PreviewRow,
      rows: async (context, { caller, query }) => each(await previewPayouts(context, caller.brandId, query)),
      profiles: {
        paypal: async (context, { caller, query }) =>
          toPaypalRows(listPayees('paypal', await previewPayouts(context, caller.brandId, query))),
        wise: async (context, { caller, query }) =>
          toWiseRows(listPayees('wise', await previewPayouts(context, caller.brandId, query)), query),
      },
    },
  }),
  create({
    id: 'pay_payout_batch',
    path: '/v1/payouts/batch',
    tag,
    summary: 'Pay everything that is due',
    description:
      'Records one paid payout for each creator and currency, of everything that `payable_now` shows, in one ' +
      'transaction. Rollcall moves no money: transfer what the preview shows, then call this. Commissions that are paid ' +
      'are no longer due, so calling it again pays nothing twice, even without an `Idempotency-Key`. If very much is due, the ' +
      'response is 202 with a job, whose file lists the payouts.',
    forAgents: {
      description:
        'Records one paid payout for each creator and currency, of all that preview_payouts shows as payable, in one transaction. Rollcall moves no money: transfer what the preview shows, then call this. Calling it again pays nothing twice.',
      example: { method: 'bank_transfer' },
      omits: ['cutoff', 'rail', 'expected'],
    },
    body: PayoutBatch,
    item: PayoutBatchMade,
    errors: ['CONFLICT'],
    hints: { idempotent: true, moneyOut: true },
    weighs: WEIGHED_PAYOUT,
    lookUp: async ({ config }) => config.commissionsAtOnce,
    later: { response: PayoutBatchStarted, begin: startPayoutBatch },
    apply: async (work, { body }, most) => await payBatch(work, body, most),
  }),
  read({
    id: 'get_payout_statement',
    path: '/v1/payouts/{id}/statement',
    tag,
    summary: 'Get the statement of a payout',
    description:
      'One line for each commission that it paid, with its order and masked customer, one for the amount ' +
      'withheld for refunds, and one for the unallocated rest. The lines add up to the amount.',
    response: z.object({ data: PayoutStatement }),
    errors: ['NOT_FOUND'],
    handler: async (context, { caller, params }) => ({
      data: await getPayoutStatement(context, caller.brandId, params.id),
    }),
    csv: {
      item: StatementLine,
      rows: async (context, { caller, params }) =>
        each((await getPayoutStatement(context, caller.brandId, params.id)).lines),
    },
  }),
  get({
    id: 'get_creator_balance',
    path: '/v1/roster/{id}/balance',
    tag,
    summary: "Get a creator's balance",
    description: 'Balances by currency: pending, held, approved, owed back, unallocated, and payable now.',
    params: RosterParams,
    item: CreatorBalance,
    find: async ({ postgres: { db }, clock }, { caller: { brandId }, params }) => {
      const { creatorId, creatorEmail, creatorName } = await getRecord(db, brandId, params.id);
      const now = clock.now();
      const balances = await listBalances(db, brandId, { creatorIds: [creatorId] }, now);
      return {
        creator_id: creatorId,
        creator_email: creatorEmail,
        creator_name: creatorName,
        as_of: now.toISOString(),
        by_currency: balances.map(toBalance),
      };
    },
  }),
] as const;

registerKind(PAYOUT_BATCH, payoutBatchKind);
