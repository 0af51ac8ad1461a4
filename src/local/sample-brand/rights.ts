import { askForErasure } from '../../affiliates/data-requests/asked.ts';
import { OrderFilter } from '../../affiliates/orders/orders.shapes.ts';
import { orders } from '../../affiliates/orders/orders.ts';
import { listMatching } from '../../workflow/creators/creators.ts';
import { ADDED } from './campaigns.ts';
import type { Person } from './people.ts';
import type { Schedule } from './schedule.ts';

/** An order of the buyer who is erased. */
const ERASED_ORDER = 'L-20900';

/**
 * What people ask by law: a creator had a copy, a buyer is erased, and a creator whose contract was voided waits for an answer.
 * The copy comes first, because the reference tries the oldest request, and its file is kept for a week.
 */
export function addRights({ ago, add }: Schedule, people: readonly Person[]): void {
  const [asking, leaving] = [people[ADDED + 2], people[ADDED + 5]];
  if (!asking || !leaving) throw new Error('The sample has too few creators.');
  add(
    ago(4.6),
    async ({ call }) =>
      await call('create_data_request', {
        body: { kind: 'access', creator_email: asking.email, reason: 'Asked in a message what we keep.' },
      }),
    'alone',
  );
  add(
    ago(2.9),
    async ({ call, context, brandId }) => {
      const where = OrderFilter.parse({ order_id: ERASED_ORDER });
      const [order] = await orders.select(context.postgres.db, brandId, where, { limit: 1 });
      if (!order) throw new Error(`The sample has no order ${ERASED_ORDER}.`);
      const body = { kind: 'erasure', customer_of: order.id, reason: 'Asked our support by mail.' } as const;
      await call('create_data_request', { body });
    },
    'alone',
  );
  add(
    ago(1.4),
    ({ change }) =>
      change('page_me', async (work) => {
        const identity = { email: leaving.email, igHandle: null, ttHandle: null };
        const [creator] = await listMatching(work.db, work.brandId, identity);
        if (!creator) throw new Error(`The sample has no creator ${leaving.email}.`);
        await askForErasure(work, creator);
      }),
    'alone',
  );
}
