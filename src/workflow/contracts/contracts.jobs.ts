import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { expireContract, listExpired } from './contracts.ts';

const AT_ONCE = 100;

/** Expires contracts that are due. A failure does not delay the others. Returns how many expired. */
export async function expireDue({ postgres, clock, failures }: Context): Promise<number> {
  let expiredCount = 0;
  for (const { id, brandId } of await listExpired(postgres.db, clock.now(), AT_ONCE)) {
    const actor = { brandId, keyId: null, operation: 'expire_contract', requestId: null };
    try {
      if (await inWork(postgres.db, clock, actor, (work) => expireContract(work, id))) expiredCount += 1;
    } catch (error) {
      failures.failed('expiring a contract', error, { brandId, contract: id });
    }
  }
  return expiredCount;
}

export const expireContracts: Job = {
  name: 'expire-contracts',
  everyMs: 5_000,
  asksFor: 'contracts that were not signed in time',
  run: expireDue,
};
