import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { notFound } from '../../values/errors.ts';
import type { Log } from '../../values/log.ts';
import type { RepeatedFailures } from '../../values/repeated-failures.ts';
import { type AccessEngines, changeAccess } from './access.ts';
import { bumpVersion, insertEntries, listKeyCharges } from './entries.ts';
import type { Charge } from './meter.ts';
import { settleAll } from './settle.ts';
import { accessKey, chargesKey, markKey } from './stream.ts';

const REFUND = readFileSync(new URL('./refund.lua', import.meta.url), 'utf8');
const RETRY_MS = 1_000;
const RETRIES = 300;

/** Writes the refund directly to the ledger; the balance in Redis is rebuilt from it. */
async function refundInLedger({ db, clock }: AccessEngines, charge: Charge): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await insertEntries(trx, [
      {
        chargeId: charge.id,
        kind: 'refund',
        subscriptionId: charge.subscriptionId,
        keyId: charge.keyId,
        credits: charge.credits,
        periodStart: new Date(charge.periodStartMs),
        requestId: charge.requestId,
        occurredAt: clock.now(),
      },
    ]);
    await bumpVersion(trx, charge.subscriptionId);
  });
}

interface Reports {
  log: Log;
  failures: RepeatedFailures;
}

/**
 * Refunds a charge once: through Redis, otherwise directly in the ledger; if both fail, it retries for five minutes
 * after the caller has its response. The charge's id prevents a second refund.
 */
export function openRefund(engines: AccessEngines, { log, failures }: Reports): (charge: Charge) => Promise<void> {
  const runScript = engines.redis.script(REFUND);

  async function refundSomehow(charge: Charge): Promise<void> {
    const marks = (charge.markIds ?? []).map((id) => markKey(charge.subscriptionId, id));
    const keys = [accessKey(charge.subscriptionId), chargesKey(charge.subscriptionId), ...marks];
    try {
      const { id, keyId, credits, periodStartMs, requestId, day = '' } = charge;
      await runScript(keys, [id, keyId, credits, periodStartMs, requestId, day]);
    } catch {
      await refundInLedger(engines, charge);
    }
  }

  async function keepTrying(charge: Charge): Promise<void> {
    for (let attempt = 0; attempt < RETRIES; attempt += 1) {
      await sleep(RETRY_MS, undefined, { ref: false });
      try {
        return await refundInLedger(engines, charge);
      } catch (error) {
        failures.failed('writing a refund', error, { charge: charge.id });
      }
    }
    log.error({ charge }, 'refund given up; `cli credits refund` with the request id repairs it');
  }

  return async (charge) => {
    try {
      await refundSomehow(charge);
    } catch {
      void keepTrying(charge);
    }
  };
}

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
