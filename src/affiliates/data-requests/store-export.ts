import type { Context } from '../../kit/operation/context.ts';
import { inWork } from '../../kit/operation/work.ts';
import type { PersonWish } from '../stores/formats/provider.ts';
import { createRequest, readFile } from './data-requests.ts';
import type { TakenRow } from './erase.ts';

/** The columns of an order that a buyer is told, by the names that WordPress shows. */
const TOLD = {
  order_number: 'Order',
  occurred_at: 'Ordered',
  customer_email: 'Address, as it is kept',
  country: 'Country',
} as const;

const toItem = (row: TakenRow) => ({
  group_id: 'rollcall',
  group_label: 'Rollcall: orders that creators are paid for',
  item_id: `rollcall-${row.id}`,
  data: Object.entries(TOLD).flatMap(([column, name]) => {
    const value = row[column] ?? (column === 'order_number' ? row.order_id : undefined);
    return value === undefined || value === null ? [] : [{ name, value: String(value) }];
  }),
});

/** Everything that is kept of a buyer of one store, in the form of WordPress' exporters. Undefined unless the wish names an address. */
export async function exportForStore(
  context: Pick<Context, 'postgres' | 'clock' | 'secrets' | 'config'>,
  { id, brandId, requestId }: { id: string; brandId: string; requestId: string },
  wish: PersonWish | undefined,
): Promise<{ data: object[]; done: true } | undefined> {
  if (!wish?.email) return undefined;
  const { postgres, clock, secrets } = context;
  const body = { kind: 'access' as const, customer_email: wish.email, integration_id: id };
  const actor = { brandId, keyId: null, operation: 'ingest', requestId };
  const request = await inWork(postgres.db, clock, actor, (work) => createRequest(work, secrets, body, 'woocommerce'));
  const file = await readFile(context, postgres.db, brandId, request.id);
  return { data: (file?.tables.orders ?? []).map(toItem), done: true };
}
