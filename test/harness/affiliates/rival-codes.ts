import fc from 'fast-check';
import { insertLinks, insertStates } from '../../../src/affiliates/links/links.ts';
import { recordRefunds } from '../../../src/affiliates/orders/record.ts';
import type { OrderFacts } from '../../../src/affiliates/stores/formats/facts.ts';
import { mintClick } from '../../../src/kit/values/click-token.ts';
import { newId } from '../../../src/kit/values/ids.ts';
import { makeBrand, type TestApp, type TestBrand, unique } from '../app.ts';
import { type Assignment, asTest, daysAgo, makeAssignment, orderFacts, report } from './sales.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** A brand with two creators, each with a code and a link. */
export interface Rivals {
  brand: TestBrand;
  key: string;
  creators: { assignment: Assignment; linkId: string }[];
  app: TestApp;
}

async function insertLinkOf(app: TestApp, brand: TestBrand, creatorId: string, days: number): Promise<string> {
  const createdAt = daysAgo(900);
  return await asTest(app.context, brand, async ({ db, brandId }) => {
    const id = newId('lnk', createdAt.getTime());
    const value = unique('link');
    const terms = { commissionRatePpm: 200_000, holdDays: 10, attributionDays: days, currency: 'USD' };
    const link = { id, brandId, creatorId, type: 'link' as const, value, slug: value, active: true };
    await insertLinks(db, [{ ...link, ...terms, destinationUrl: 'https://shop.example', createdAt }]);
    await insertStates(db, [{ brandId, linkId: id, at: createdAt, active: true }]);
    return id;
  });
}

export async function makeRivals(app: TestApp): Promise<Rivals> {
  const brand = await makeBrand(app.context);
  const creators: Rivals['creators'] = [];
  for (const [days, rate] of [
    [7, 10],
    [30, 12],
  ] as const) {
    const assignment = await makeAssignment(app.context, brand, { rate, holdDays: 20 });
    creators.push({ assignment, linkId: await insertLinkOf(app, brand, assignment.creatorId, days) });
  }
  return { app, brand, key: await brand.key('brand'), creators };
}

/** An order as a store tells it, with times relative to now. */
export interface ReportedOrder {
  daysAgo: number;
  cents: number;
  currency: 'USD' | 'EUR';
  isPaid: boolean;
  isCancelled: boolean;
  isTest: boolean;
  isRenewal: boolean;
  codes: ('first' | 'second' | 'unknown')[];
  /** Days before the order; negative ones came after it. */
  clicks: { of: 0 | 1; days: number }[];
  refundCents: number;
  isReportedAgain: boolean;
}

export const reportedOrder: fc.Arbitrary<ReportedOrder> = fc.record({
  daysAgo: fc.integer({ min: 2, max: 60 }),
  cents: fc.integer({ min: 0, max: 20_000 }),
  currency: fc.constantFrom('USD', 'USD', 'USD', 'EUR'),
  isPaid: fc.constantFrom(true, true, true, false),
  isCancelled: fc.constantFrom(false, false, false, false, true),
  isTest: fc.constantFrom(false, false, false, false, false, true),
  isRenewal: fc.constantFrom(false, false, false, false, true),
  codes: fc.uniqueArray(fc.constantFrom('first', 'second', 'unknown'), { maxLength: 2 }),
  clicks: fc.array(fc.record({ of: fc.constantFrom(0, 1), days: fc.integer({ min: -1, max: 45 }) }), { maxLength: 3 }),
  refundCents: fc.constantFrom(0, 0, 0, 500, 30_000),
  isReportedAgain: fc.boolean(),
});

/** Reports the orders to a brand as its store does, each under its place as id. */
export async function reportAll({ app, creators }: Rivals, history: readonly ReportedOrder[]): Promise<void> {
  const { context } = app;
  const [one, other] = creators;
  if (!one || !other) throw new Error('Two creators are needed.');
  const codeOf = { first: one.assignment.code, second: other.assignment.code, unknown: 'NOBODYS' };
  for (const [place, order] of history.entries()) {
    const occurredAt = daysAgo(order.daysAgo);
    // No two clicks at one moment: their random ids would decide, in each brand otherwise.
    const clickIds = order.clicks.map(({ of, days }, i) => {
      const { linkId } = of === 0 ? one : other;
      return mintClick(context.secrets.key('click'), { linkId, atMs: occurredAt.getTime() - days * DAY_MS - i });
    });
    const facts: OrderFacts = orderFacts(occurredAt, {
      ...{ orderId: `order-${place}`, baseMinor: order.cents, currency: order.currency, isTest: order.isTest },
      ...{
        kind: order.isRenewal ? ('renewal' as const) : ('once' as const),
        paidAt: order.isPaid ? occurredAt : null,
        clickIds,
      },
      customerEmail: `c${place}@shop.example`,
      codes: order.codes.map((name) => codeOf[name]),
    });
    await report(context, one.assignment, facts);
    const later = new Date(occurredAt.getTime() + 60_000);
    if (order.isReportedAgain) {
      const cancelledAt = order.isCancelled ? later : null;
      await report(context, one.assignment, { ...facts, cancelledAt, codes: [codeOf.second], updatedAt: later });
    }
    if (order.refundCents === 0) continue;
    const refunds = [{ refundId: `re-${place}`, amountMinor: order.refundCents, at: later }];
    const received = {
      orderId: facts.orderId,
      currency: order.currency,
      refunds,
      updatedAt: later,
      hasAllRefunds: false,
    };
    await asTest(context, { id: one.assignment.source.brandId }, (work) =>
      recordRefunds(work, one.assignment.source, received),
    );
  }
}
