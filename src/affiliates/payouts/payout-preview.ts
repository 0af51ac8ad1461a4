import type { Context } from '../../kit/operation/context.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { validationError } from '../../kit/values/errors.ts';
import { amountProblem, toMinor } from '../../kit/values/money.ts';
import { listPayTo, type PayTo } from '../../workflow/payments/payments.ts';
import { listApproved, type PayableCommission } from '../commissions/commissions.ts';
import { computeTransfer, oldestFirst, planPayment } from './allocate.ts';
import { computeTotalDue, isDue, listBalances, type PayeeBalance } from './balances.ts';
import type { PreviewFilter } from './due-payouts.shapes.ts';
import { listFunds } from './payouts.ts';
import { type Rail, toRailMinor } from './rails.ts';

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
  const [approvedCommissions, funds] = await Promise.all([listApproved(db, payee, query.cutoff), listFunds(db, payee)]);
  const dueMinor = approvedCommissions.reduce((sum, { commissionMinor }) => sum + commissionMinor, 0);
  const requestedMinor = query.amount === undefined ? undefined : toMinor(query.amount, currency);
  const amountMinor = requestedMinor ?? computeTransfer(dueMinor, funds, outstandingMinor);
  const allFunds = [...funds, { id: 'preview', leftMinor: amountMinor }];
  const plan = planPayment(approvedCommissions.toSorted(oldestFirst), allFunds, outstandingMinor);
  const restMinor = plan.shares.at(-1)?.leftMinor ?? 0;
  const toCommission = ({ id, commissionMinor, occurredAt }: PayableCommission) => ({
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
  const { db } = context.postgres;
  const now = context.clock.now();
  const all = await listBalances(db, brandId, query, now);
  const dueBalances = all.filter(isDue);
  assertAmount(query, dueBalances);
  const balances = dueBalances.filter((balance) => fromMinor(computeTotalDue(balance), balance.currency) >= minimum);
  const ids = [...new Set(balances.map(({ creatorId }) => creatorId))];
  const payees = await listPayTo(db, brandId, ids, now);
  const addPayTo = <Row extends { creator_id: string }>(row: Row) => ({
    ...row,
    ...toAddress(payees.get(row.creator_id)),
  });
  if (creator_email === undefined) return balances.map((balance) => addPayTo(previewTotals(balance)));
  return await Promise.all(
    balances.map(async (balance) => addPayTo(await previewPayment(context, brandId, balance, query))),
  );
}

/** The fields of a preview that say where the money goes. */
const toAddress = (payee: PayTo | undefined) => ({
  pay_to: payee?.payTo ?? null,
  pay_to_source: payee?.payToSource ?? ('mail' as const),
  blocked: payee?.blocked ? { ...payee.blocked, until: payee.blocked.until?.toISOString() ?? null } : null,
  country: payee?.country ?? null,
  legal_name: payee?.legalName ?? null,
});

type Previews = Awaited<ReturnType<typeof previewPayouts>>;

export function sumPreviews(previews: Previews) {
  return [...Map.groupBy(previews, ({ currency }) => currency)].map(([currency, rows]) => {
    const minor = rows.reduce((sum, { total }) => sum + (toMinor(total, currency) ?? 0), 0);
    return { currency, total: fromMinor(minor, currency), payees: rows.filter(({ total }) => total > 0).length };
  });
}

/** The payees of a rail's file: one whose address just changed is left out, as a batch skips them. */
export const listPayees = (rail: Rail, previews: Previews): Previews[number][] =>
  [...previews].filter(
    ({ total, currency, blocked }) =>
      toRailMinor(rail, toMinor(total, currency) ?? 0, currency) > 0 && blocked?.reason !== 'payment_change_pending',
  );
