import type { Work } from '../../operation/work.ts';
import { keyedHash, type Secrets } from '../../values/secrets.ts';
import { updateCommission } from '../commissions/order-queries.ts';
import type { CommissionRow } from '../commissions/queries.ts';
import { type FraudFlag, FraudFlags } from '../commissions/schema.ts';
import { getCreator } from '../creators/queries.ts';
import { countOrdersAround, type OrderRow, type WonOrder } from './queries.ts';

const VELOCITY_WINDOW_MS = 10 * 60 * 1_000;
/** A customer who corrects an order may place two or three in a row; a fourth within ten minutes is unusual. */
export const MAX_ORDERS_OF_CUSTOMER = 3;
/** A creator who posts a code gets a burst: three orders a minute for ten minutes is still one. */
export const MAX_ORDERS_OF_LINK = 30;

export interface Suspicion {
  customerHash: Buffer | null;
  creatorHash: Buffer | null;
  /** Of the customer, and of the winning assignment, in the ten minutes up to this order, which counts too. */
  ordersOfCustomer: number;
  ordersOfLink: number;
  at: Date;
}

/** Fraud flags of an attributed order. A high flag prevents automatic approval. */
export function flagsOf(suspicion: Suspicion): FraudFlag[] {
  const { customerHash, creatorHash, ordersOfCustomer, ordersOfLink, at } = suspicion;
  const detected_at = at.toISOString();
  const flags: FraudFlag[] = [];
  if (customerHash && creatorHash?.equals(customerHash)) {
    const detail = "The customer's e-mail address is the creator's.";
    flags.push({ code: 'self_referral', severity: 'high', detail, detected_at });
  }
  const bursts = [
    { who: 'One customer', count: ordersOfCustomer, most: MAX_ORDERS_OF_CUSTOMER },
    { who: 'One code or link', count: ordersOfLink, most: MAX_ORDERS_OF_LINK },
  ];
  for (const { who, count, most } of bursts) {
    if (count <= most) continue;
    const detail = `${who} had more than ${most} orders within 10 minutes.`;
    flags.push({ code: 'velocity', severity: 'medium', detail, detected_at });
  }
  return flags;
}

/** Of what is before and after the `@` and of its last label, one character each is shown: `j***@e***.com`. */
export function maskEmail(email: string): string {
  const match = /^(.).*@(.).*?(\.[^.@]*)?$/su.exec(email.replaceAll('\0', '').toWellFormed().trim());
  if (!match) return '***';
  const [, local, domain, suffix = ''] = match;
  return `${local}***@${domain}***${suffix}`;
}

/** The same text for every spelling of a mailbox: without case, surrounding spaces and any `+` suffix. */
function folded(email: string): string {
  const text = email.trim().toLowerCase();
  const at = text.lastIndexOf('@');
  return at < 0 ? text : `${text.slice(0, at).replace(/(?<=.)\+.*$/s, '')}${text.slice(at)}`;
}

/** Recognizes the same person again. It is never shown, and useless without the installation's secret. */
export function hashEmail(secrets: Secrets, email: string): Buffer {
  return keyedHash(secrets.key('customer'), folded(email));
}

const BURST = {
  withinMs: VELOCITY_WINDOW_MS,
  most: { ofCustomer: MAX_ORDERS_OF_CUSTOMER + 1, ofLink: MAX_ORDERS_OF_LINK },
};

export interface Suspect extends WonOrder {
  creatorEmail: string | null;
}

const isJustBefore = (other: Suspect, { linkId, occurredAt }: Suspect) =>
  other.linkId === linkId &&
  other.occurredAt <= occurredAt &&
  other.occurredAt.getTime() > occurredAt.getTime() - VELOCITY_WINDOW_MS;

/** Fraud flags of attributed orders without commissions yet, each given the orders around it now and those before it here. */
export async function findFlags({ db, now, brandId }: Work, secrets: Secrets, orders: readonly Suspect[]) {
  const around = await countOrdersAround(db, brandId, orders, BURST);
  return orders.map((order, place) => {
    const { customerHash, creatorEmail } = order;
    const { ofCustomer = 0, ofLink = 0 } = around[place] ?? {};
    const before = orders.slice(0, place).filter((other) => isJustBefore(other, order));
    return flagsOf({
      customerHash,
      creatorHash: creatorEmail === null ? null : hashEmail(secrets, creatorEmail),
      ordersOfCustomer: ofCustomer,
      ordersOfLink: 1 + ofLink + before.length,
      at: now,
    });
  });
}

/** A store may name the customer only after the attribution: flags are added then, and none is removed. */
export async function addFlags(
  work: Work,
  secrets: Secrets,
  order: OrderRow,
  commission: CommissionRow,
): Promise<void> {
  const { linkId, creatorId, fraudFlags } = commission;
  if (linkId === null) return;
  const creator = await getCreator(work.db, work.brandId, creatorId);
  const [found = []] = await findFlags(work, secrets, [{ ...order, linkId, creatorEmail: creator.email }]);
  const known = FraudFlags.parse(fraudFlags);
  const added = found.filter(({ code }) => known.every((flag) => flag.code !== code));
  if (added.length === 0) return;
  await updateCommission(work.db, commission, { fraudFlags: JSON.stringify([...known, ...added]) });
}
