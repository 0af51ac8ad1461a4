import { z } from 'zod';
import {
  askStore,
  type ChangedOrdersQuery,
  type OrderPage,
  type StoreAccess,
  type StoreRequest,
  StoreTime,
} from './provider.ts';

const Orders = z.object({ orders: z.array(z.looseObject({})), next_cursor: z.string().max(4_000).nullish() });

/** Requests changed orders; undefined if the store does not list them. */
export async function listGenericOrders(
  store: StoreAccess,
  { since, before, cursor }: ChangedOrdersQuery,
  credentials: StoreRequest<unknown>['credentials'],
): Promise<OrderPage | undefined> {
  const query = new URLSearchParams({ updated_since: since.toISOString(), ...(cursor === null ? {} : { cursor }) });
  const answer = await askStore(store, {
    method: 'GET',
    path: `/orders?${query}`,
    credentials,
    shape: Orders,
    isList: true,
  });
  if (!answer) return undefined;
  const last = StoreTime.safeParse(answer.orders.at(-1)?.updated_at).data;
  const isOver = before !== undefined && last !== undefined && last >= before;
  const next = isOver ? null : answer.next_cursor || null;
  return {
    // The time of the change replaces the sending time of a webhook, which a list lacks.
    orders: answer.orders.map((data) => ({
      headers: {},
      body: { event: 'order.updated', createdAt: data.updated_at, data },
    })),
    cursor: next === cursor ? null : next,
    waitMs: 0,
  };
}
