import type { Work } from '../../operation/work.ts';
import type { Secrets } from '../../values/secrets.ts';
import { updateCommission } from '../commissions/order-queries.ts';
import type { CommissionRow } from '../commissions/queries.ts';
import { FraudFlags } from '../commissions/schema.ts';
import { getCreator } from '../creators/queries.ts';
import { hashEmail } from './customer.ts';
import { flagsOf, MAX_ORDERS_OF_CUSTOMER, MAX_ORDERS_OF_LINK, VELOCITY_WINDOW_MS } from './fraud.ts';
import { countOrdersAround, type OrderRow } from './queries.ts';

/** Fraud flags of an attributed order, given the orders around it now. */
export async function findFlags(
  { db, now }: Work,
  secrets: Secrets,
  order: OrderRow,
  { linkId, creatorEmail }: { linkId: string; creatorEmail: string | null },
) {
  const { customerHash, occurredAt } = order;
  const around = await countOrdersAround(db, order, linkId, {
    after: new Date(occurredAt.getTime() - VELOCITY_WINDOW_MS),
    until: occurredAt,
    most: { ofCustomer: MAX_ORDERS_OF_CUSTOMER + 1, ofLink: MAX_ORDERS_OF_LINK },
  });
  return flagsOf({
    customerHash,
    creatorHash: creatorEmail === null ? null : hashEmail(secrets, creatorEmail),
    ordersOfCustomer: around.ofCustomer ?? 0,
    ordersOfLink: 1 + (around.ofLink ?? 0),
    at: now,
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
  const found = await findFlags(work, secrets, order, { linkId, creatorEmail: creator.email });
  const known = FraudFlags.parse(fraudFlags);
  const added = found.filter(({ code }) => known.every((flag) => flag.code !== code));
  if (added.length === 0) return;
  await updateCommission(work.db, commission, { fraudFlags: JSON.stringify([...known, ...added]) });
}
