import type { Context } from '../../kit/operation/context.ts';
import type { Cells } from '../../kit/operation/csv.ts';
import { validationError } from '../../kit/values/errors.ts';
import { amountProblem, fromMinor, getDecimals, toMinor } from '../../kit/values/money.ts';
import type { CommissionRow } from '../commissions/commissions.ts';
import { computeTransfer, oldestFirst, planPayment } from './allocate.ts';
import { computeTotalDue, isDue, listApproved, listBalances, type PayeeBalance } from './balances.ts';
import type { PreviewFilter } from './due-payouts.shapes.ts';
import { listFunds } from './payouts.ts';

const toPayee = ({ creatorId, creatorEmail, creatorName, currency, recordedMinor }: PayeeBalance) => ({
  creator_id: creatorId,
  creator_email: creatorEmail,
  creator_name: creatorName,
  currency,
  recorded: fromMinor(recordedMinor, currency),
});

/** Previews the payout of everything due. Nothing is passed over then, so the totals of the balance suffice. */
function previewTotals(balance: PayeeBalance) {
  const { currency, dueMinor, dueCount, outstandingMinor, unallocatedMinor } = balance;
  const nettedMinor = outstandingMinor >= 0 ? Math.min(outstandingMinor, dueMinor) : outstandingMinor;
  return {
    ...toPayee(balance),
    commission_count: dueCount,
    commissions_amount: fromMinor(dueMinor, currency),
    netted_amount: fromMinor(nettedMinor, currency),
    unallocated_used: fromMinor(Math.min(unallocatedMinor, Math.max(0, dueMinor - nettedMinor)), currency),
    total: fromMinor(computeTotalDue(balance), currency),
    unallocated: 0,
  };
}

/** Plans the payout to one creator by the same rules that pay it, and lists its commissions. */
async function previewPayment(
  { postgres: { db } }: Context,
  brandId: string,
  balance: PayeeBalance,
  query: PreviewFilter,
) {
  const { creatorId, currency, outstandingMinor } = balance;
  const payee = { brandId, creatorId, currency };
  const [approved, funds] = await Promise.all([listApproved(db, payee, query.cutoff), listFunds(db, payee)]);
  const dueMinor = approved.reduce((sum, { commissionMinor }) => sum + commissionMinor, 0);
  const requestedMinor = query.amount === undefined ? undefined : toMinor(query.amount, currency);
  const amountMinor = requestedMinor ?? computeTransfer(dueMinor, funds, outstandingMinor);
  const allFunds = [...funds, { id: 'preview', leftMinor: amountMinor }];
  const plan = planPayment(approved.toSorted(oldestFirst), allFunds, outstandingMinor);
  const restMinor = plan.shares.at(-1)?.leftMinor ?? 0;
  const toCommission = ({ id, commissionMinor, occurredAt }: CommissionRow) => ({
    commission_id: id,
    amount: fromMinor(commissionMinor, currency),
    occurred_at: occurredAt.toISOString(),
  });
  return {
    ...toPayee(balance),
    commission_count: plan.chosen.length,
    commissions_amount: fromMinor(plan.allocatedMinor, currency),
    netted_amount: fromMinor(plan.nettedMinor, currency),
    unallocated_used: fromMinor(plan.allocatedMinor - plan.nettedMinor - (amountMinor - restMinor), currency),
    total: fromMinor(amountMinor - restMinor, currency),
    unallocated: fromMinor(restMinor, currency),
    payable: plan.chosen.map(toCommission),
    passed_over: plan.passedOver.map(toCommission),
  };
}

/** An amount is for one creator and one currency, and in units that the currency has. */
function assertAmount({ amount }: PreviewFilter, balances: readonly PayeeBalance[]): void {
  if (amount === undefined) return;
  const [first, second] = balances;
  if (first && second) {
    const message = `is required: something is due in ${balances.map(({ currency }) => currency).join(', ')}.`;
    throw validationError([{ field: 'currency', code: 'ambiguous', message }]);
  }
  if (!first || toMinor(amount, first.currency) !== undefined) return;
  const message = `${amountProblem(amount, first.currency)}; got ${amount}.`;
  throw validationError([{ field: 'amount', code: 'invalid', message }]);
}

/** One row per creator and currency with something due; lists the commissions if only one creator is requested. */
export async function previewPayouts(context: Context, brandId: string, query: PreviewFilter) {
  const { creator_email, minimum = 0 } = query;
  const all = await listBalances(context.postgres.db, brandId, query, context.clock.now());
  const due = all.filter(isDue);
  assertAmount(query, due);
  const balances = due.filter((balance) => fromMinor(computeTotalDue(balance), balance.currency) >= minimum);
  if (creator_email === undefined) return balances.map(previewTotals);
  return await Promise.all(balances.map((balance) => previewPayment(context, brandId, balance, query)));
}

type Previews = Awaited<ReturnType<typeof previewPayouts>>;

export function sumPreviews(previews: Previews) {
  return [...Map.groupBy(previews, ({ currency }) => currency)].map(([currency, rows]) => {
    const minor = rows.reduce((sum, { total }) => sum + (toMinor(total, currency) ?? 0), 0);
    return { currency, total: fromMinor(minor, currency), payees: rows.filter(({ total }) => total > 0).length };
  });
}

/** Most rows that PayPal accepts in a file. */
const PAYPAL_ROWS = 5_000;

/** Rows of PayPal's mass payment file: recipient, amount, currency, the recipient's id, note, wallet. */
export function toPaypalRows(previews: Previews): Cells[] {
  const createError = (code: string, message: string) => validationError([{ field: 'currency', code, message }]);
  const due = previews.filter(({ total }) => total > 0);
  const currencies = [...new Set(due.map(({ currency }) => currency))];
  if (currencies.length > 1) {
    const message = `is required: something is due in ${currencies.join(', ')}, and PayPal accepts one currency per file.`;
    throw createError('ambiguous', message);
  }
  if (due.length > PAYPAL_ROWS) {
    const message = `has ${due.length} creators to pay, but PayPal accepts ${PAYPAL_ROWS} per file: set \`minimum\` or \`cutoff\`, pay these, and try again.`;
    throw createError('too_many', message);
  }
  return due.map(({ creator_id, creator_email, total, currency }) => {
    if (creator_email === null)
      throw createError('no_email', `has a creator without an e-mail address: ${creator_id}.`);
    return [creator_email, total.toFixed(getDecimals(currency)), currency, creator_id, '', 'PAYPAL'];
  });
}
