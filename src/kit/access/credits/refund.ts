import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../values/log.ts';
import type { RepeatedFailures } from '../../values/repeated-failures.ts';
import type { AccessEngines } from './access.ts';
import type { Charge } from './meter.ts';
import { bumpVersion, insertEntries } from './queries.ts';
import { accessKey, chargesKey } from './stream.ts';

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
  const run = engines.redis.script(REFUND);

  async function refundSomehow(charge: Charge): Promise<void> {
    const keys = [accessKey(charge.subscriptionId), chargesKey(charge.subscriptionId)];
    try {
      const { id, keyId, credits, periodStartMs, requestId, day = '' } = charge;
      await run(keys, [id, keyId, credits, periodStartMs, requestId, day]);
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
