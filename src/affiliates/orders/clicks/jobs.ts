import type { Context } from '../../../kit/operation/context.ts';
import type { Job } from '../../../kit/operation/job.ts';
import { inWork } from '../../../kit/operation/work.ts';
import { decideAgain } from '../actions.ts';
import { deleteOld, listDue, markUsed } from './queries.ts';

const AT_ONCE = 200;

/** Decides orders again that paid nobody, with the click that the shop's pixel reported. One that fails delays no other. */
export async function useClicks({ postgres, clock, secrets, failures }: Context): Promise<void> {
  for (const due of await listDue(postgres.db, clock.now(), AT_ONCE)) {
    const { brandId, integrationId, provider, orderId, clicks } = due;
    const actor = { brandId, keyId: null, operation: 'use_order_clicks', requestId: null };
    try {
      await inWork(postgres.db, clock, actor, async (work) => {
        const source = { id: integrationId, brandId, provider };
        await decideAgain(work, secrets, source, orderId, { clickIds: clicks, codes: [] });
        await markUsed(work.db, due, work.now);
      });
    } catch (error) {
      failures.failed('deciding an order by a reported click', error, { brandId, order: orderId });
    }
  }
}

export const useOrderClicks: Job = {
  name: 'use-order-clicks',
  everyMs: 5_000,
  asksFor: 'orders for which a pixel reported a click',
  run: useClicks,
};

export const forgetOrderClicks: Job = {
  name: 'forget-order-clicks',
  everyMs: 600_000,
  asksFor: 'reported clicks that no order can use any more',
  run: ({ postgres, clock }) => deleteOld(postgres.db, clock.now()),
};
