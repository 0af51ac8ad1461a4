import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import type { Cells } from '../../kit/operation/csv.ts';
import { create, get, read } from '../../kit/operation/kit.ts';
import { validationError } from '../../kit/values/errors.ts';
import { idField } from '../../kit/values/fields.ts';
import { amountProblem, getDecimals, fromMinor, toMinor } from '../../kit/values/money.ts';
import { pageThrough } from '../../kit/values/page.ts';
import { getRecord } from '../../workflow/roster/roster.ts';
import { statementLines } from './policy.ts';
import { getPayout, listAllocated, listFunds } from './payouts.ts';
import { payoutOf, WEIGHED_PAYOUT } from './payouts.shapes.ts';
import { balanceOf, isDue, listApproved, listStandings, listStatementLines, payBatch, previewOf, previewRow, type Standing, totalDueOf } from './balances.ts';
import {
  CreatorBalance,
  PayoutBatch,
  PayoutBatchMade,
  PayoutStatement,
  PreviewFilter,
  PreviewList,
  PreviewRow,
  StatementLine,
} from './due-payouts.shapes.ts';

const tag = 'Payouts';
const RosterParams = z.object({ id: idField('rst', 'Roster id of the creator, as `list_roster` gives it.').max(100) });
const PAGE_LIVES_MS = 30 * 24 * 60 * 60 * 1_000;

function assertAmount({ amount }: PreviewFilter, standings: readonly Standing[]): void {
  if (amount === undefined) return;
  const [first, second] = standings;
  if (first && second) {
    const message = `is required: something is due in ${standings.map(({ currency }) => currency).join(', ')}.`;
    throw validationError([{ field: 'currency', code: 'ambiguous', message }]);
  }
  if (!first || toMinor(amount, first.currency) !== undefined) return;
  const message = `${amountProblem(amount, first.currency)}; got ${amount}.`;
  throw validationError([{ field: 'amount', code: 'invalid', message }]);
}

/** One row per creator and currency with something due; lists the commissions if only one creator is requested. */
async function previewsOf({ postgres: { db }, clock }: Context, brandId: string, query: PreviewFilter) {
  const { creator_email, amount, cutoff, minimum = 0 } = query;
  const found = await listStandings(db, brandId, query, clock.now());
  const standings = found.filter(isDue);
  assertAmount(query, standings);
  const wanted = standings.filter((one) => fromMinor(totalDueOf(one), one.currency) >= minimum);
  if (creator_email === undefined) return wanted.map(previewRow);
  return await Promise.all(
    wanted.map(async (standing) => {
      const payee = { brandId, creatorId: standing.creatorId, currency: standing.currency };
      const [approved, funds] = await Promise.all([listApproved(db, payee, cutoff), listFunds(db, payee)]);
      return previewOf({ standing, approved, funds, amount });
    }),
  );
}

type Previews = Awaited<ReturnType<typeof previewsOf>>;

function totalsOf(rows: Previews) {
  return [...Map.groupBy(rows, ({ currency }) => currency)].map(([currency, own]) => {
    const minor = own.reduce((sum, { total }) => sum + (toMinor(total, currency) ?? 0), 0);
    return { currency, total: fromMinor(minor, currency), payees: own.filter(({ total }) => total > 0).length };
  });
}

/** The limits of a PayPal file. */
const PAYPAL_ROWS = 5_000;

const refused = (code: string, message: string) => validationError([{ field: 'currency', code, message }]);

/** Rows of PayPal's mass payment file: recipient, amount, currency, the recipient's id, note, wallet. */
function paypalRows(rows: Previews): Cells[] {
  const due = rows.filter(({ total }) => total > 0);
  const currencies = [...new Set(due.map(({ currency }) => currency))];
  if (currencies.length > 1)
    throw refused(
      'ambiguous',
      `is required: something is due in ${currencies.join(', ')}, and PayPal accepts one currency per file.`,
    );
  if (due.length > PAYPAL_ROWS) {
    const message = `has ${due.length} creators to pay, but PayPal accepts ${PAYPAL_ROWS} per file: set \`minimum\` or \`cutoff\`, pay these, and try again.`;
    throw refused('too_many', message);
  }
  return due.map(({ creator_id, creator_email, total, currency }) => {
    if (creator_email === null) throw refused('no_email', `has a creator without an e-mail address: ${creator_id}.`);
    return [creator_email, total.toFixed(getDecimals(currency)), currency, creator_id, '', 'PAYPAL'];
  });
}

async function* each<T>(rows: readonly T[]): AsyncGenerator<T> {
  yield* rows;
}

async function statementOf({ postgres: { db }, pageLinks, clock }: Context, brandId: string, id: string) {
  const payout = await getPayout(db, brandId, id);
  const lines = statementLines(payout, await listStatementLines(db, brandId, id));
  const expiresAt = new Date(clock.now().getTime() + PAGE_LIVES_MS);
  return {
    payout: { ...payoutOf(payout), commission_ids: await listAllocated(db, brandId, id) },
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
      "`Accept: text/csv; profile=paypal` returns PayPal's mass payment file, in one currency.",
    forAgents: {
      description:
        'What we owe: one row for each creator and currency with something due, with the approved commissions, what refunds and earlier payouts take off, and what to transfer.',
      example: { creator_email: 'ana@example.com' },
    },
    query: PreviewFilter,
    response: PreviewList,
    handler: async (context, { caller, query }) => {
      const rows = await previewsOf(context, caller.brandId, query);
      return { ...pageThrough(rows, query), summary: { by_currency: totalsOf(rows) } };
    },
    csv: {
      item: PreviewRow,
      rows: async (context, { caller, query }) => each(await previewsOf(context, caller.brandId, query)),
      profiles: {
        paypal: async (context, { caller, query }) => paypalRows(await previewsOf(context, caller.brandId, query)),
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
      'are no longer due, so calling it again pays nothing twice, even without an `Idempotency-Key`.',
    forAgents: {
      description:
        'Records one paid payout for each creator and currency, of all that preview_payouts shows as payable, in one transaction. Rollcall moves no money: transfer what the preview shows, then call this. Calling it again pays nothing twice.',
      example: { method: 'bank_transfer' },
      omits: ['cutoff'],
    },
    body: PayoutBatch,
    item: PayoutBatchMade,
    hints: { idempotent: true, moneyOut: true },
    weighs: WEIGHED_PAYOUT,
    apply: async (work, { body }) => await payBatch(work, body),
  }),
  read({
    id: 'get_payout_statement',
    path: '/v1/payouts/{id}/statement',
    tag,
    summary: 'Get the statement of a payout',
    description:
      'One line for each commission that it paid, with its order and masked customer, one for the amount ' +
      'withheld for refunds, and one for the unallocated rest. The lines add up to the amount.',
    forAgents: {
      description:
        'One line for each commission that it paid, one for what was withheld for refunds, and one for what is left over. The lines add up to the amount.',
    },
    response: z.object({ data: PayoutStatement }),
    errors: ['NOT_FOUND'],
    handler: async (context, { caller, params }) => ({ data: await statementOf(context, caller.brandId, params.id) }),
    csv: {
      item: StatementLine,
      rows: async (context, { caller, params }) => each((await statementOf(context, caller.brandId, params.id)).lines),
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
      const standings = await listStandings(db, brandId, { creatorIds: [creatorId] }, now);
      return {
        ...{ creator_id: creatorId, creator_email: creatorEmail, creator_name: creatorName },
        as_of: now.toISOString(),
        by_currency: standings.map(balanceOf),
      };
    },
  }),
] as const;
