import { decimal, major } from './deliveries.ts';
import { checkDue, payees } from './due.ts';
import type { Act } from './history.ts';
import { type OracleOrder, type OraclePayout, standings } from './model.ts';
import { dueTo, owedBack, payable, payOut, useLeftOf } from './paying.ts';
import { assertSame, idsOf, orderIdOf } from './reviews.ts';
import { pick, type World } from './world.ts';

type Of<Name extends Act['act']> = Extract<Act, { act: Name }>;

interface Wish {
  creator: number;
  currency: string;
  amountMinor: number;
  isWallet: boolean;
  ids: string[] | undefined;
}

/** Makes a payout and pays it: a wallet's is paid when it is made. The answer is the last one. */
async function makeNow({ door, emails }: World, { creator, currency, amountMinor, isWallet, ids }: Wish) {
  const amount = Number(decimal(amountMinor, currency));
  const listed = ids ? { commission_ids: ids } : {};
  const input = { creator_email: emails[creator], amount, currency, method: isWallet ? 'wallet' : 'manual' };
  const made = await door.send('POST', '/v1/payouts', isWallet ? { ...input, ...listed } : input);
  if (isWallet) return made;
  return await door.send('PATCH', `/v1/payouts/${made.body.data.id}`, { status: 'paid', ...listed });
}

function assertShown(shown: Record<string, unknown>, paid: OraclePayout): void {
  const { currency, amountMinor, allocatedMinor, nettedMinor, leftMinor } = paid;
  assertSame(
    'a payout',
    [shown.amount, shown.allocated_amount, shown.netted_amount, shown.unallocated],
    [amountMinor, allocatedMinor, nettedMinor, leftMinor].map((minor) => major(minor, currency)),
  );
}

/** A payout of a part of what is owed, or more, paid at once. */
export async function payNow(world: World, act: Of<'pay'>, now: number): Promise<void> {
  const { door, oracle } = world;
  const { percent, isListed, isWallet } = act;
  const owed = standings(oracle).filter(({ status }) => status === 'approved');
  const payee = pick(owed, act.payee);
  if (!payee) return;
  const { currency, commission } = payee;
  const { creator } = commission.link;
  const all = payable(oracle, creator, currency);
  const wanted = isListed ? all.toReversed().slice(0, 2) : all;
  const dueMinor = wanted.reduce((sum, one) => sum + one.dueMinor, 0) - owedBack(oracle, creator, currency);
  const amountMinor = Math.max(1, Math.ceil((dueMinor * percent) / 100));
  const known = await idsOf(world);
  const ids = isListed ? wanted.map(({ order }) => known.get(orderIdOf(order)) ?? 'missing') : undefined;
  const answer = await makeNow(world, { creator, currency, amountMinor, isWallet, ids });
  const id = String(answer.body.data?.id ?? '');
  const paid = payOut(oracle, { id, at: now, creator, currency, amountMinor, isFee: false }, wanted, isListed);
  if (!paid) return assertSame('a list too dear', [answer.status, answer.body.code], [422, 'INVALID_SELECTION']);
  assertShown(answer.body.data ?? answer.body, paid);
  if (!act.isTwice || isWallet) return;
  const again = await door.send('PATCH', `/v1/payouts/${id}`, { status: 'paid', ...(ids && { commission_ids: ids }) });
  assertSame('a payout paid twice', again.status, 200);
}

/** Everybody is paid what the preview says is due. */
export async function batchNow(world: World, { isWallet }: Of<'batch'>, now: number): Promise<void> {
  await checkDue(world);
  const { door, oracle, emails } = world;
  const body = { method: isWallet ? 'wallet' : 'bank_transfer' };
  const { payouts, skipped } = (await door.ask('POST', '/v1/payouts/batch', body)).data;
  const made = new Map<string, Record<string, unknown>>(
    payouts.map((row: Record<string, unknown>) => [`${row.creator_email} ${row.currency}`, row]),
  );
  const all = payees(oracle);
  const due = all.filter(({ creator, currency }) => dueTo(oracle, creator, currency) > 0);
  const isSkipped = (payee: (typeof due)[number]) =>
    !due.includes(payee) && payable(oracle, payee.creator, payee.currency).length > 0;
  const named = due.map(({ creator, currency }) => `${emails[creator]} ${currency}`);
  assertSame('whom a batch pays', [...made.keys()].sort(), named.sort());
  assertSame('whom a batch skips', skipped.length, all.filter(isSkipped).length);
  for (const { creator, currency } of due) {
    const shown = made.get(`${emails[creator]} ${currency}`) ?? {};
    const amountMinor = dueTo(oracle, creator, currency);
    const payout = { id: String(shown.id), at: now, creator, currency, amountMinor, isFee: false };
    const paid = payOut(oracle, payout, payable(oracle, creator, currency), true);
    if (!paid) throw new Error('What is due does not pay what is approved.');
    assertShown(shown, paid);
  }
  await checkDue(world);
}

/** A commission that the brand records itself. At a moment that an order has none is: of two one is always the older. */
export async function recordNow(world: World, act: Of<'record'>, now: number): Promise<void> {
  const { oracle, emails, usedTimes } = world;
  const { currency } = oracle;
  if (usedTimes.has(now)) return;
  usedTimes.add(now);
  const creator = act.creator % emails.length;
  const status = act.isApproved ? ('approved' as const) : ('pending' as const);
  const amount = Number(decimal(act.amountMinor, currency));
  const id = await world.record({ creator_email: emails[creator] ?? '', amount, status });
  const reported = { store: 0, orderId: id, currency, baseMinor: 0, occurredAt: now, paidAt: now, cancelledAt: null };
  const none = { updatedAt: now, customer: null, codes: [], tokens: [], refunds: [], dispute: null };
  const kind = { isTest: false, isRenewal: false };
  const terms = { ratePpm: 0, holdDays: 0 };
  const rest = { attributionDays: 0, paysRenewals: false };
  const link = { id: '', creator, type: 'discount_code' as const, value: '', currency, store: null, states: [] };
  const order: OracleOrder = {
    reported: [{ ...reported, ...none, ...kind }],
    ...{ refunds: [], disputes: [], seen: new Set() },
    commission: {
      ...{ ...terms, link: { ...link, ...terms, ...rest }, clickId: null, code: null },
      ...{ review: status, paidMinor: 0, manualMinor: act.amountMinor },
    },
  };
  oracle.orders.set(`manual ${id}`, order);
  if (act.isApproved) useLeftOf(oracle, [order]);
}

/** Money that goes out whatever is approved: for commissions to come, or a fee. */
export async function advanceNow(world: World, act: Of<'advance'>, now: number): Promise<void> {
  const { oracle, emails } = world;
  const { currency, amountMinor, isWallet, isFee } = act;
  const creator = act.creator % emails.length;
  const answer = await makeNow(world, { creator, currency, amountMinor, isWallet, ids: isFee ? [] : undefined });
  const made = { id: String(answer.body.data?.id ?? ''), at: now, creator, currency, amountMinor, isFee };
  const paid = payOut(oracle, made, isFee ? [] : payable(oracle, creator, currency), false);
  if (!paid) throw new Error('An advance was refused.');
  assertShown(answer.body.data ?? answer.body, paid);
}
