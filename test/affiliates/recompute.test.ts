import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Posted } from '../../src/affiliates/commissions/adjustments.ts';
import { postApproval, postPayment, postRejection } from '../../src/affiliates/commissions/commissions.ts';
import {
  type CommissionState,
  type KnownRefund,
  mergeSnapshots,
  type OrderSnapshot,
  type RecomputedCommission,
  recompute,
} from '../../src/affiliates/orders/recompute.ts';
import type { NewEntry, Posting } from '../../src/kit/outbox/ledger-entry.ts';
import { multiplyPpm } from '../../src/kit/values/money.ts';

const ORDERED = new Date('2026-03-10T12:00:00Z');

/** A commission on its way, as deliveries, reviews and payouts find it, without an engine. */
interface State {
  order: OrderSnapshot | undefined;
  refunds: Map<string, KnownRefund>;
  standing: CommissionState;
  last: RecomputedCommission | undefined;
  posted: Posted[];
}

type Fact =
  | { kind: 'snapshot'; snapshot: OrderSnapshot }
  | { kind: 'refund'; refund: Omit<KnownRefund, 'proratedMinor'> };
type Review = 'approve' | 'reject' | 'pay';

const minutes = (count: number) => new Date(ORDERED.getTime() + count * 60_000);
const minute = fc.integer({ min: 0, max: 6 });
const money = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 1_000_000_000 }));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

const snapshotFact = fc
  .record({ baseMinor: money, paid: maybe(minute), cancelled: fc.option(minute, { nil: null, freq: 3 }), at: minute })
  .map(
    ({ baseMinor, paid, cancelled, at }): Fact => ({
      kind: 'snapshot',
      snapshot: {
        baseMinor,
        occurredAt: ORDERED,
        paidAt: paid === null ? null : minutes(paid),
        cancelledAt: cancelled === null ? null : minutes(cancelled),
        firstCancelledAt: cancelled === null ? null : minutes(cancelled),
        updatedAt: minutes(at),
        ...{ isTest: false, disputeLostAt: null },
      },
    }),
  );
const refundFact = fc.record({ id: fc.nat({ max: 3 }), amountMinor: money, at: minute }).map(
  ({ id, amountMinor, at }): Fact => ({
    kind: 'refund',
    refund: { refundId: `r${id}`, amountMinor, at: minutes(at) },
  }),
);
const facts = fc.array(fc.oneof({ weight: 2, arbitrary: snapshotFact }, { weight: 3, arbitrary: refundFact }), {
  maxLength: 6,
});
const terms = fc.record({ ratePpm: fc.integer({ min: 0, max: 1_000_000 }), holdDays: fc.integer({ min: 0, max: 90 }) });

/** Facts, a review, facts, a review, …: reviews stand where they are, facts between two of them may come in any order. */
const history = fc.array(fc.record({ facts, review: fc.constantFrom<Review>('approve', 'reject', 'pay', 'approve') }), {
  minLength: 1,
  maxLength: 4,
});

function start({ ratePpm, holdDays }: { ratePpm: number; holdDays: number }): State {
  const stand = { status: 'pending', statusNote: null, commissionMinor: 0 } as const;
  const none = { rejectedFrom: null, noteBeforeRejection: null, clawedBackAt: null };
  return {
    ...{ order: undefined, refunds: new Map(), last: undefined, posted: [] },
    standing: { ratePpm, holdDays, ...stand, ...none },
  };
}

function arrive(state: State, fact: Fact): void {
  if (fact.kind === 'snapshot') {
    state.order = state.order ? mergeSnapshots(state.order, fact.snapshot) : fact.snapshot;
  } else {
    const { refundId, amountMinor, at } = fact.refund;
    const known = state.refunds.get(refundId);
    const largest = Math.max(amountMinor, known?.amountMinor ?? 0);
    state.refunds.set(refundId, {
      refundId,
      amountMinor: largest,
      at: known && known.at < at ? known.at : at,
      proratedMinor: state.standing.status === 'paid' ? (known?.proratedMinor ?? 0) : largest,
    });
  }
  if (!state.order) return;
  state.last = recompute(state.order, [...state.refunds.values()], state.standing, state.posted);
  state.posted.push(...state.last.entries);
  state.standing = { ...state.standing, ...state.last.columns };
}

/** As a brand may: approved only what is paid and stands, paid only what is approved. */
function review(state: State, what: Review): void {
  const { order, last, standing } = state;
  if (!order || !last || standing.status === 'paid') return;
  const { columns } = last;
  const stands =
    order.paidAt && !order.cancelledAt && (order.baseMinor === 0 || columns.refundedMinor < order.baseMinor);
  const commission = {
    ...{ id: 'com', orderId: 'ord', linkId: 'lnk', creatorId: 'crt', currency: 'USD' },
    ...{ commissionMinor: columns.commissionMinor, status: standing.status },
    ...{ occurredAt: order.occurredAt, paidAt: order.paidAt },
  };
  const work = { post: ({ kind, postings }: NewEntry) => void state.posted.push({ kind, postings }) };
  if (what === 'approve' && stands && standing.status !== 'approved') {
    postApproval(work, commission);
    state.standing = { ...standing, status: 'approved', statusNote: null };
  } else if (what === 'reject' && standing.status !== 'rejected') {
    postRejection(work, commission);
    state.standing = { ...standing, status: 'rejected', statusNote: 'no' };
  } else if (what === 'pay' && standing.status === 'approved') {
    postPayment(work, commission, 'pay');
    state.standing = { ...standing, status: 'paid' };
  }
}

/** Per account and time, what is not zero. */
function sums(posted: readonly Posted[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { account, amountMinor, at } of posted.flatMap(({ postings }): readonly Posting[] => postings)) {
    const key = `${account} ${at.toISOString()}`;
    found[key] = (found[key] ?? 0) + amountMinor;
  }
  return Object.fromEntries(Object.entries(found).filter(([, sum]) => sum !== 0));
}

const total = (posted: readonly Posted[], account: string) =>
  posted
    .flatMap(({ postings }) => postings)
    .filter((posting) => posting.account === account)
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0);

const endOf = ({ last, standing, posted }: State) => ({
  columns: last && { ...last.columns, status: standing.status, statusNote: standing.statusNote },
  adjustments: last?.adjustments,
  sums: sums(posted),
  sales: posted.filter(({ kind }) => kind === 'sale').length,
});

type History = { facts: Fact[]; review: Review }[];

function run(history: History, given: Parameters<typeof start>[0], check: (state: State) => void = () => undefined) {
  const state = start(given);
  for (const { facts, review: what } of history) {
    for (const fact of facts) {
      arrive(state, fact);
      check(state);
    }
    review(state, what);
    check(state);
  }
  return state;
}

const RUNS = { numRuns: 300 };

describe('a commission with its ledger entries', () => {
  it('is the same in whatever order facts arrive, and however often', () => {
    fc.assert(
      fc.property(history, terms, fc.infiniteStream(fc.nat({ max: 1_000 })), (original, given, noise) => {
        const draw = () => noise.next().value ?? 0;
        const shuffled = original.map(({ facts, review }) => ({
          facts: facts
            .flatMap((fact) => (draw() % 3 === 0 ? [fact, fact] : [fact]))
            .map((fact) => ({ fact, rank: draw() }))
            .toSorted((a, b) => a.rank - b.rank)
            .map(({ fact }) => fact),
          review,
        }));
        expect(endOf(run(shuffled, given))).toEqual(endOf(run(original, given)));
      }),
      RUNS,
    );
  });

  it('adds up: each entry to zero, sales to the order’s amount, refunds to no more, and the accounts to what is owed', () => {
    fc.assert(
      fc.property(history, terms, (original, given) => {
        run(original, given, ({ order, last, posted, standing }) => {
          for (const { postings } of posted) expect(postings.reduce((sum, one) => sum + one.amountMinor, 0)).toBe(0);
          if (!order || !last) return;
          const { columns, adjustments } = last;
          const isPaid = order.paidAt !== null;
          expect(posted.filter(({ kind }) => kind === 'sale')).toHaveLength(isPaid ? 1 : 0);
          expect(0 - total(posted, 'sales')).toBe(isPaid ? order.baseMinor : 0);
          expect(total(posted, 'sales_refunds')).toBe(isPaid ? columns.refundedMinor : 0);
          const due = multiplyPpm(order.baseMinor - columns.refundedMinor, given.ratePpm);
          const takenBack = adjustments.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
          const owed = { pending: 0, approved: 0, paid: 0, rejected: 0, [standing.status]: columns.commissionMinor };
          for (const status of ['pending', 'approved', 'paid'] as const) {
            expect(0 - total(posted, `commission_${status}`)).toBe(isPaid ? owed[status] : 0);
          }
          if (standing.status === 'paid') expect(takenBack).toBe(Math.max(0, columns.commissionMinor - due));
          else expect(columns.commissionMinor).toBe(due);
          expect(total(posted, 'refund_adjustment')).toBe(takenBack);
        });
      }),
      RUNS,
    );
  });

  const order: OrderSnapshot = {
    ...{ baseMinor: 10_000, occurredAt: ORDERED, paidAt: minutes(1), cancelledAt: null, firstCancelledAt: null },
    ...{ updatedAt: minutes(1), isTest: false, disputeLostAt: null },
  };
  const snapshot = (more: Partial<OrderSnapshot> = {}): Fact => {
    return { kind: 'snapshot', snapshot: { ...order, firstCancelledAt: more.cancelledAt ?? null, ...more } };
  };
  const refund = (refundId: string, amountMinor: number, at = 2): Fact => ({
    kind: 'refund',
    refund: { refundId, amountMinor, at: minutes(at) },
  });
  const tenPercent = { ratePpm: 100_000, holdDays: 30 };
  const after = (...history: History) => endOf(run(history, tenPercent));

  it('is reduced by a refund before payment, at the sale’s own time', () => {
    expect(after({ facts: [snapshot(), refund('r', 2_505)], review: 'approve' })).toMatchObject({
      columns: { status: 'approved', commissionMinor: 750, refundedMinor: 2_505 },
      sums: {
        [`commission_approved ${ORDERED.toISOString()}`]: -750,
        [`sales_refunds ${minutes(2).toISOString()}`]: 2_505,
      },
    });
  });

  it('is rejected by a full refund, even beyond the base, and gets its status back from a newer, larger order', () => {
    const refunded = { facts: [snapshot(), refund('r', 10_001)], review: 'pay' } as const;
    expect(after({ ...refunded, facts: [...refunded.facts] }).columns).toMatchObject({
      status: 'rejected',
      ...{ statusNote: 'order_refunded', rejectedFrom: 'pending', commissionMinor: 0, refundedMinor: 10_000 },
    });
    const edited = snapshot({ baseMinor: 12_001, updatedAt: minutes(3) });
    expect(
      after({ facts: [snapshot()], review: 'approve' }, { facts: [refund('r', 10_001), edited], review: 'approve' })
        .columns,
    ).toMatchObject({ status: 'approved', statusNote: null, commissionMinor: 200 });
  });

  it('is rejected by cancelling an unpaid order; cancelling a paid one refunds what is left', () => {
    const cancelled = { cancelledAt: minutes(4), updatedAt: minutes(4) };
    const unpaid = after({ facts: [snapshot({ ...cancelled, paidAt: null })], review: 'approve' });
    expect(unpaid).toMatchObject({
      columns: { status: 'rejected', statusNote: 'order_cancelled' },
      sums: {},
      sales: 0,
    });
    const paid = after({ facts: [snapshot(), refund('r', 4_000), snapshot(cancelled)], review: 'approve' });
    expect(paid).toMatchObject({
      columns: { status: 'rejected', statusNote: 'order_refunded', refundedMinor: 10_000 },
      sums: { [`sales_refunds ${minutes(4).toISOString()}`]: 6_000 },
    });
  });

  it('stays once paid, and refunds take it back one by one at their own time', () => {
    const paid: History = [
      { facts: [snapshot(), refund('before', 1_000, 9)], review: 'approve' },
      { facts: [], review: 'pay' },
    ];
    const end = after(...paid, { facts: [refund('b', 500, 6), refund('a', 5_000, 7)], review: 'reject' });
    expect(end).toMatchObject({
      columns: { status: 'paid', commissionMinor: 900, refundedMinor: 6_500 },
      adjustments: [
        { cause: 'b', amountMinor: 50, at: minutes(6) },
        { cause: 'a', amountMinor: 500, at: minutes(7) },
      ],
    });
    expect(end.sums[`refund_adjustment ${minutes(6).toISOString()}`]).toBe(50);
  });

  it('is taken back, for what a refund grew by after the payment, at the refund’s time; the rest stays prorated', () => {
    const paid: History = [
      { facts: [snapshot(), refund('r', 1_000, 6)], review: 'approve' },
      { facts: [], review: 'pay' },
    ];
    expect(after(...paid, { facts: [refund('r', 5_000, 6)], review: 'pay' })).toMatchObject({
      columns: { commissionMinor: 900, refundedMinor: 5_000 },
      adjustments: [{ cause: 'r', amountMinor: 400, at: minutes(6) }],
    });
  });

  it('is taken back, for a lowered order, at the sale’s time, and no later delivery moves that', () => {
    const paid: History = [
      { facts: [snapshot()], review: 'approve' },
      { facts: [], review: 'pay' },
    ];
    const edits = [snapshot({ baseMinor: 4_000, updatedAt: minutes(3) })];
    const lowered = after(...paid, { facts: edits, review: 'pay' });
    expect(lowered.adjustments).toEqual([{ cause: 'order_updated', amountMinor: 600, at: ORDERED }]);
    edits.push(snapshot({ baseMinor: 4_000, updatedAt: minutes(5) }));
    expect(after(...paid, { facts: edits, review: 'pay' })).toEqual(lowered);
  });

  it('owes nothing once a review rejected it, whatever the facts say, and still counts as a sale', () => {
    const unpaid: History = [{ facts: [snapshot({ paidAt: null })], review: 'reject' }];
    const end = after(...unpaid, { facts: [snapshot()], review: 'reject' });
    expect(end).toMatchObject({ columns: { status: 'rejected', statusNote: 'no', rejectedFrom: null }, sales: 1 });
    expect(Object.keys(end.sums).some((key) => key.startsWith('commission'))).toBe(false);
  });
});
