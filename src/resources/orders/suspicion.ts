import type { Work } from '../../operation/work.ts';
import type { Secrets } from '../../values/secrets.ts';
import { updateCommission } from '../commissions/order-queries.ts';
import type { CommissionRow } from '../commissions/queries.ts';
import { FraudFlags } from '../commissions/schema.ts';
import { getCreator } from '../creators/queries.ts';
import { hashEmail } from './customer.ts';
import { flagsOf, MAX_ORDERS_OF_CUSTOMER, MAX_ORDERS_OF_LINK, VELOCITY_WINDOW_MS } from './fraud.ts';
import { countOrdersAround, type OrderRow, type WonOrder } from './queries.ts';

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
