import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { openDisposable } from '../../kit/mail/imitation.ts';
import type { Work } from '../../kit/operation/work.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { listSpellings, toMailbox } from '../../kit/values/email.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { type FraudFlag, FraudFlags } from '../commissions/commissions.shapes.ts';
import { type CommissionRow, updateCommission } from '../commissions/commissions.ts';
import { type FraudRule, type FraudRules, getFraudRules } from '../rules/fraud-rules.ts';
import { Attribution } from './attribution.shapes.ts';
import { getSalt, hashEmail } from './customers.ts';
import type { OrderRow } from './orders.ts';

interface Suspect extends AttributedOrder {
  /** Decided by the customer: that they bought before, and how often, is no reason to suspect anything. */
  isByCustomer: boolean;
  creatorId: string;
  /** The customer's address as reported now; it is not stored. */
  reportedEmail: string | null;
  /** Leak score of the winning code. */
  leakScore: number | null;
}

/** Lists the addresses of creators: for mail and payment, now, before and soon. */
async function listAddresses(db: Db, brandId: string, creatorIds: readonly string[]): Promise<Map<string, string[]>> {
  if (creatorIds.length === 0) return new Map();
  const ids = [...new Set(creatorIds)];
  const { rows } = await sql<{ id: string; email: string }>`
    select id, email from creators where brand_id = ${brandId} and id = any(${ids}) and email is not null
    union select creator_id, wallet_email from payment_profiles
      where brand_id = ${brandId} and creator_id = any(${ids}) and wallet_email is not null
    union select creator_id, waiting ->> 'walletEmail' from payment_profiles
      where brand_id = ${brandId} and creator_id = any(${ids}) and waiting ->> 'walletEmail' is not null
    union select creator_id, email from creator_addresses where brand_id = ${brandId} and creator_id = any(${ids})`.execute(
    db,
  );
  const byId = Map.groupBy(rows, ({ id }) => id);
  return new Map([...byId].map(([id, own]) => [id, own.map(({ email }) => email)]));
}

/** Compares mailboxes if the address was just reported, and otherwise hashes of the usual spellings. */
function isOwnAddress({ reportedEmail, customerHash }: Suspect, own: readonly string[], salt: Buffer): boolean {
  if (reportedEmail !== null) return own.some((email) => toMailbox(email) === toMailbox(reportedEmail));
  return customerHash !== null && own.flatMap(listSpellings).some((one) => hashEmail(salt, one).equals(customerHash));
}

/** Detects fraud in new attributed orders. Each is compared with stored orders and with those before it in the list. */
export async function detectFlags(
  { db, now, brandId }: Work,
  secrets: Secrets,
  rules: FraudRules,
  orders: readonly Suspect[],
) {
  const { customer_orders, link_orders, minutes } = rules.velocity;
  const withinMs = minutes * MINUTE_MS;
  const around = await loadFraudSignals(db, brandId, orders, {
    withinMs,
    most: { ofCustomer: customer_orders + 1, ofLink: link_orders },
    refundsOf: rules.refund_rate.action === 'off' ? 0 : rules.refund_rate.orders,
  });
  const salt = await getSalt(db, secrets);
  const addresses = await listAddresses(
    db,
    brandId,
    rules.self_referral.action === 'off' ? [] : orders.map(({ creatorId }) => creatorId),
  );
  const isDisposable = rules.disposable_address.action === 'off' ? () => false : await openDisposable();
  return orders.map((order, place) => {
    const { linkId, occurredAt, reportedEmail, leakScore } = order;
    const signals = around[place];
    const { ofLink = 0 } = signals ?? {};
    const ofCustomers = order.isByCustomer ? undefined : signals;
    const { ofCustomer = 0, isReturning = false, paid = 0, refunded = 0 } = ofCustomers ?? {};
    const earliestMs = occurredAt.getTime() - withinMs;
    const before = orders
      .slice(0, place)
      .filter((one) => one.linkId === linkId && one.occurredAt <= occurredAt && one.occurredAt.getTime() > earliestMs);
    const suspicion = {
      isCreator: isOwnAddress(order, addresses.get(order.creatorId) ?? [], salt),
      ordersOfCustomer: ofCustomer,
      ordersOfLink: 1 + ofLink + before.length,
      isReturning,
      paid,
      refunded,
      leakScore,
      at: now,
      hasDisposableAddress: reportedEmail !== null && isDisposable(reportedEmail),
    };
    return checkRules(suspicion, rules);
  });
}

function isDecidedByCustomer({ attribution }: OrderRow): boolean {
  const { rule } = Attribution.parse(attribution);
  return rule === 'subscription' || rule === 'customer';
}

/** Adds flags once the store names the customer, which may come after the attribution. None is removed. */
export async function addCustomerFlags(
  work: Work,
  secrets: Secrets,
  order: OrderRow,
  commission: CommissionRow,
  reportedEmail: string | null,
): Promise<void> {
  const { linkId, creatorId, fraudFlags } = commission;
  if (linkId === null) return;
  const { rules: all } = await getFraudRules(work.db, work.brandId);
  // Refunds of other orders do not depend on the customer.
  const rules = { ...all, refund_rate: { ...all.refund_rate, action: 'off' as const } };
  const isByCustomer = isDecidedByCustomer(order);
  const suspect = { ...order, linkId, isByCustomer, creatorId, reportedEmail, leakScore: null };
  const [detectedFlags = []] = await detectFlags(work, secrets, rules, [suspect]);
  const existing = FraudFlags.parse(fraudFlags);
  const addedFlags = detectedFlags.filter(({ code }) => existing.every((flag) => flag.code !== code));
  if (addedFlags.length === 0) return;
  await updateCommission(work.db, commission, { fraudFlags: JSON.stringify([...existing, ...addedFlags]) });
}

export interface FraudCase {
  /** The customer has an address of the creator. */
  isCreator: boolean;
  /** Orders of the customer and of the winning link within the velocity window, including this one. */
  ordersOfCustomer: number;
  ordersOfLink: number;
  /** The customer's address is from a provider of disposable ones. */
  hasDisposableAddress: boolean;
  isReturning: boolean;
  /** The last paid orders by the same code or link, and those of them that were refunded. */
  paid: number;
  refunded: number;
  /** Leak score of the winning code; null if it does not look leaked or a click won. */
  leakScore: number | null;
  at: Date;
}

/** Checks an order against a rule and returns the reasons for a flag, in sentences. */
type FraudCheck = (suspicion: FraudCase, rules: FraudRules) => string[];

const CHECKS: Readonly<Record<Exclude<FraudRule, 'forbidden_referrer'>, FraudCheck>> = {
  self_referral: ({ isCreator }) => (isCreator ? ["The customer's email address is the creator's."] : []),
  velocity: ({ ordersOfCustomer, ordersOfLink }, { velocity: { customer_orders, link_orders, minutes } }) =>
    [
      { who: 'One customer', count: ordersOfCustomer, most: customer_orders },
      { who: 'One code or link', count: ordersOfLink, most: link_orders },
    ].flatMap(({ who, count, most }) =>
      count > most ? [`${who} had more than ${most} orders within ${minutes} minutes.`] : [],
    ),
  code_leak: ({ leakScore }, { code_leak: { score } }) =>
    leakScore !== null && leakScore >= score ? [`The code is probably public: its leak score is ${leakScore}.`] : [],
  disposable_address: ({ hasDisposableAddress }) =>
    hasDisposableAddress ? ["The customer's email address is a disposable one."] : [],
  refund_rate: ({ paid, refunded }, { refund_rate: { percent, orders } }) =>
    paid >= orders && refunded * 100 >= percent * paid
      ? [`${refunded} of the last ${paid} paid orders by this code or link were refunded.`]
      : [],
  returning_customer: ({ isReturning }) => (isReturning ? ['The customer had bought before.'] : []),
};

/** Creates a flag. A high one prevents automatic approval. */
export const toFlag = (code: FraudRule, rules: FraudRules, detail: string, at: Date): FraudFlag => ({
  code,
  detail,
  detected_at: at.toISOString(),
  severity: rules[code].action === 'hold' ? 'high' : 'medium',
});

const CHECKED_RULES = [
  'self_referral',
  'velocity',
  'code_leak',
  'disposable_address',
  'refund_rate',
  'returning_customer',
] as const;

/** Lists the fraud flags of an attributed order. */
export const checkRules = (suspicion: FraudCase, rules: FraudRules): FraudFlag[] =>
  CHECKED_RULES.filter((rule) => rules[rule].action !== 'off').flatMap((rule) =>
    CHECKS[rule](suspicion, rules).map((detail) => toFlag(rule, rules, detail, suspicion.at)),
  );

/** Limits on the orders that are counted around an order. */
interface SignalLimits {
  /** Length of the window before the order. */
  withinMs: number;
  /** Limits of the counts. */
  most: { ofCustomer: number; ofLink: number };
  /** Number of the link's last paid orders that are searched for refunds. */
  refundsOf: number;
}

interface FraudSignals {
  ofCustomer: number;
  ofLink: number;
  /** The customer had bought before. */
  isReturning: boolean;
  /** Other paid orders of its link, up to the limit, and the refunded ones among them. */
  paid: number;
  refunded: number;
}

/** An order that a code or link earned. */
interface AttributedOrder extends Pick<OrderRow, 'id' | 'customerHash' | 'occurredAt'> {
  linkId: string;
}

/**
 * Loads signals for each order, in the same sequence: its customer's orders within a time, and among the latest
 * commissions of its link those within it. A burst is among the latest, and no more are read. Hash and time are compared as
 * pairs, which the index of customers alone can serve: while a first import has no statistics, PostgreSQL would read all
 * orders of the time for each of them.
 */
async function loadFraudSignals(
  db: Db,
  brandId: string,
  orders: readonly AttributedOrder[],
  { withinMs, most, refundsOf }: SignalLimits,
): Promise<FraudSignals[]> {
  const of = <V>(value: (order: AttributedOrder) => V) => orders.map(value);
  const { rows } = await sql<FraudSignals>`
    select of_customer.count as of_customer, of_link.count as of_link, is_returning, refunds.paid, refunds.refunded
    from unnest(${of(({ id }) => id)}::text[], ${of(({ linkId }) => linkId)}::text[],
      ${of(({ customerHash }) => customerHash)}::bytea[],
      ${of(({ occurredAt }) => new Date(occurredAt.getTime() - withinMs).toISOString())}::timestamptz[],
      ${of(({ occurredAt }) => occurredAt.toISOString())}::timestamptz[])
      with ordinality as won (id, link_id, customer_hash, after, until, place)
    cross join lateral (select count(*) as count from (
      select from orders where brand_id = ${brandId} and (customer_hash, occurred_at) > (won.customer_hash, won.after)
        and (customer_hash, occurred_at) <= (won.customer_hash, won.until) limit ${most.ofCustomer}) as one
    ) as of_customer
    cross join lateral (select count(*) as count from (
      select occurred_at from commissions where brand_id = ${brandId} and link_id = won.link_id and order_id <> won.id
      order by created_at desc limit ${most.ofLink}) as one
      where occurred_at > won.after and occurred_at <= won.until) as of_link
    cross join lateral (select exists (
      select from orders as earlier where earlier.brand_id = ${brandId} and earlier.customer_hash >= won.customer_hash
        and (earlier.customer_hash, earlier.occurred_at) < (won.customer_hash, won.until) and earlier.id <> won.id
        and earlier.paid_at is not null and earlier.base_minor > 0 and earlier.is_test is not true) as is_returning) as customer
    cross join lateral (select count(*) as paid, count(*) filter (where refunded_minor > 0) as refunded from (
      select refunded_minor from commissions where brand_id = ${brandId} and link_id = won.link_id
        and order_id <> won.id and paid_at is not null
      order by created_at desc limit ${refundsOf}) as one) as refunds
    order by won.place`.execute(db);
  return rows;
}
