import { notFound } from '../../values/errors.ts';
import { changeAccess } from '../keys/actions.ts';
import type { AccessEngines } from './access.ts';
import { insertEntries, listKeyCharges } from './queries.ts';
import { settleAll } from './settle.ts';

/**
 * Refunds the charge of one request. Throws if there is no charge, if it was refunded already, or if the id matches
 * several charges.
 */
export async function refundRequest(engines: AccessEngines, requestOrChargeId: string) {
  await settleAll(engines);
  const charges = await listKeyCharges(engines.db, requestOrChargeId);
  const open = charges.filter((charge) => charge.refundedAt === null);
  const [charge, another] = open;
  if (charges.length === 0) throw notFound(`charge of ${requestOrChargeId}`);
  if (!charge) throw new Error(`The charge of ${requestOrChargeId} was already refunded.`);
  if (another) {
    const ids = open.map((one) => `${one.chargeId} (${one.occurredAt.toISOString()})`).join(', ');
    throw new Error(`${requestOrChargeId} has several charges; use one of these ids: ${ids}.`);
  }
  const { refundedAt: _refundedAt, ...entry } = charge;
  await changeAccess(engines, entry.subscriptionId, async (db) => {
    await insertEntries(db, [{ ...entry, kind: 'refund', keyId: entry.keyId ?? '', occurredAt: engines.clock.now() }]);
  });
  return { chargeId: entry.chargeId, credits: entry.credits };
}
