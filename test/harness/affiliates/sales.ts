import { insertLinks, insertStates } from '../../../src/affiliates/links/links.ts';
import type { OrderSource } from '../../../src/affiliates/orders/orders.shapes.ts';
import { recordOrder, recordReadings, recordRefunds } from '../../../src/affiliates/orders/record.ts';
import { insertIntegration } from '../../../src/affiliates/stores/connections/connections.ts';
import type { OrderFacts, RefundFacts } from '../../../src/affiliates/stores/formats/facts.ts';
import type { Context } from '../../../src/kit/operation/context.ts';
import { inWork, type Work } from '../../../src/kit/operation/work.ts';
import { StoredPostings } from '../../../src/kit/outbox/ledger-entry.ts';
import { newId } from '../../../src/kit/values/ids.ts';
import { ensureCreator } from '../../../src/workflow/creators/creators.ts';
import { putOnRoster } from '../../../src/workflow/roster/roster.ts';
import { unique } from '../app.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
export const daysAgo = (days: number, now = new Date()): Date => new Date(now.getTime() - days * DAY_MS);

/** As a test's own hand, in one transaction. */
export async function asTest<T>(context: Context, brand: { id: string }, change: (work: Work) => Promise<T>) {
  const actor = { brandId: brand.id, keyId: null, operation: 'test', requestId: null };
  return await inWork(context.postgres.db, context.clock, actor, change);
}

export interface Assignment {
  creatorId: string;
  email: string;
  linkId: string;
  /** The discount code. */
  code: string;
  source: { id: string; brandId: string; provider: string };
}

interface Terms {
  email?: string;
  name?: string;
  /** Percent. */
  rate?: number;
  holdDays?: number;
}

/** A creator on the roster with a discount code, and a store where it is redeemed. */
export async function makeAssignment(
  context: Context,
  brand: { id: string },
  { email = `${unique('ann')}@mail.example`, name = 'Ann', rate = 10, holdDays = 30 }: Terms = {},
): Promise<Assignment> {
  return await asTest(context, brand, async (work) => {
    const { db, now, brandId } = work;
    const createdAt = daysAgo(1_000, now);
    const creatorId = await ensureCreator(work, { email, name, igHandle: null, ttHandle: null });
    await putOnRoster(work, 1_000_000, creatorId);
    const host = `${unique('store')}.example`;
    const source = { id: newId('int', now.getTime()), brandId, provider: 'generic' };
    await insertIntegration(db, {
      ...{ id: source.id, brandId, provider: 'generic', name: host, currency: 'USD', status: 'connected' },
      ...{ storefrontUrl: `https://${host}`, storefrontHost: host, baseUrl: `https://${host}` },
      secrets: context.secrets.seal('{}', source.id),
      ...{ connectedAt: createdAt, createdAt },
    });
    const code = unique('CODE').toUpperCase();
    const linkId = newId('lnk', now.getTime());
    const terms = { commissionRatePpm: rate * 10_000, holdDays, attributionDays: 30, currency: 'USD' };
    const link = { id: linkId, brandId, creatorId, type: 'discount_code' as const, value: code, active: true };
    await insertLinks(db, [{ ...link, ...terms, createdAt }]);
    await insertStates(db, [{ brandId, linkId, at: createdAt, active: true }]);
    return { creatorId, email, linkId, code, source };
  });
}

export interface Sale extends Assignment {
  /** Of the commission. */
  id: string;
  /** At the store. */
  orderId: string;
  facts: OrderFacts;
}

/** An order of 100.00 USD that was paid as it was placed. */
export const orderFacts = (occurredAt: Date, more: Partial<OrderFacts> = {}): OrderFacts => ({
  ...{ orderId: unique('order'), currency: 'USD', baseMinor: 10_000, occurredAt, paidAt: occurredAt },
  ...{ cancelledAt: null, updatedAt: occurredAt, customerEmail: 'jane@example.com', codes: [], clickIds: [] },
  ...{ refunds: [], hasAllRefunds: false, isTest: false, dispute: null, kind: 'once', customerId: null, country: null },
  ...{ subscriptionId: null, previousSubscriptionId: null, ...more },
});

/** A sale with a commission: of `amountMinor`, paid long enough ago to be approvable, unless told otherwise. */
export async function makeSale(
  context: Context,
  brand: { id: string },
  options: Terms & { assignment?: Assignment } & Partial<OrderFacts> & { amountMinor?: number } = {},
): Promise<Sale> {
  const { assignment, email, name, rate, holdDays, amountMinor = 10_000, ...reported } = options;
  const terms = Object.fromEntries(Object.entries({ email, name, rate, holdDays }).filter(([, v]) => v !== undefined));
  const found = assignment ?? (await makeAssignment(context, brand, terms));
  const occurredAt = reported.occurredAt ?? daysAgo(60, context.clock.now());
  const facts = orderFacts(occurredAt, {
    ...{ baseMinor: amountMinor, customerEmail: `${unique('c')}@shop.example`, codes: [found.code], ...reported },
  });
  await report(context, found, facts);
  const { id } = await context.postgres.db
    .selectFrom('commissions')
    .innerJoin('orders', 'orders.id', 'commissions.orderId')
    .select('commissions.id')
    .where('orders.brandId', '=', brand.id)
    .where('orders.orderId', '=', facts.orderId)
    .executeTakeFirstOrThrow();
  return { ...found, id, orderId: facts.orderId, facts };
}

const AT_ONCE = 5;

/** Many sales of one assignment, each with an order time of its own, oldest last. */
export async function makeSales(
  context: Context,
  brand: { id: string },
  count: number,
  assignment: Assignment,
): Promise<Sale[]> {
  const sales: Sale[] = [];
  while (sales.length < count) {
    const next = Array.from({ length: Math.min(AT_ONCE, count - sales.length) }, (_, i) => sales.length + i);
    const made = next.map((i) => makeSale(context, brand, { assignment, occurredAt: daysAgo(60 + i) }));
    sales.push(...(await Promise.all(made)));
  }
  return sales;
}

/** What a store says of an order, at once. */
export async function report(context: Context, { source }: Assignment, facts: OrderFacts): Promise<void> {
  await asTest(context, { id: source.brandId }, (work) => recordOrder(work, context.secrets, source, facts));
}

export async function refund(
  context: Context,
  { source, orderId, facts }: Sale,
  amountMinor: number,
  at = context.clock.now(),
): Promise<void> {
  const refunds = [{ refundId: unique('refund'), amountMinor, at }];
  await reportRefunds(context, source, orderId, refunds, facts.currency);
}

/** What a store reports of refunds alone, now. */
export async function reportRefunds(
  context: Context,
  source: OrderSource,
  orderId: string,
  refunds: RefundFacts[],
  currency = 'USD',
): Promise<void> {
  const reported = { orderId, currency, refunds, updatedAt: context.clock.now(), hasAllRefunds: false };
  await asTest(context, { id: source.brandId }, (work) => recordRefunds(work, source, reported));
}

/** One sale of each kind whose commission cannot be approved. */
export async function makeUnapprovable(context: Context, brand: { id: string }) {
  const cancelled = await makeSale(context, brand);
  await report(context, cancelled, { ...cancelled.facts, cancelledAt: new Date(), updatedAt: new Date() });
  const refunded = await makeSale(context, brand);
  await refund(context, refunded, refunded.facts.baseMinor);
  const unpaid = await makeSale(context, brand, { paidAt: null });
  return {
    unpaid,
    cancelled,
    refunded,
    held: await makeSale(context, brand, { occurredAt: daysAgo(3), holdDays: 30 }),
  };
}

/** Balances of the brand's ledger by currency and account, without those that are zero: a plain sum of every posting. */
export async function balancesOf(context: Context, brand: { id: string }): Promise<Record<string, number>> {
  const rows = await context.postgres.db
    .selectFrom('ledgerEntries')
    .select(['currency', 'postings'])
    .where('brandId', '=', brand.id)
    .execute();
  const sums: Record<string, number> = {};
  for (const { currency, postings } of rows) {
    for (const { account, amount_minor } of StoredPostings.parse(postings)) {
      const name = currency === 'USD' ? account : `${currency} ${account}`;
      sums[name] = (sums[name] ?? 0) + amount_minor;
    }
  }
  return Object.fromEntries(Object.entries(sums).filter(([, minor]) => minor !== 0));
}

const READ_AT_ONCE = 200;

/** Orders of one buyer by one creator's code. */
export async function buyOften(
  context: Context,
  brand: { id: string },
  assignment: Assignment,
  email: string,
  count: number,
): Promise<void> {
  for (let made = 0; made < count; made += READ_AT_ONCE) {
    const readings = Array.from({ length: Math.min(READ_AT_ONCE, count - made) }, (_, i) => ({
      kind: 'order' as const,
      notes: [],
      facts: orderFacts(daysAgo(60 + ((made + i) % 300)), { customerEmail: email, codes: [assignment.code] }),
    }));
    await asTest(context, brand, (work) => recordReadings(work, context.secrets, assignment.source, readings));
  }
}
