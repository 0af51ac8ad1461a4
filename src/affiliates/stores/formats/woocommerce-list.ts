import { z } from 'zod';
import { type ChangedOrdersQuery, getHeader, type OrderPage, type StoreAnswer } from './provider.ts';
import { WooTime } from './woocommerce-orders.ts';

/** Largest page that WooCommerce allows. */
const PER_PAGE = 100;
/** Its times are whole seconds, and `modified_after` leaves its own second out. */
const SECOND_MS = 1_000;
/** `any` excludes the trash. */
const STATUSES = ['any', 'trash'] as const;

/** Orders are parsed one by one, so that an invalid one does not hold up the others. */
export const WooOrders = z.array(z.looseObject({}));
type WooOrders = z.output<typeof WooOrders>;

const WooListCursor = z.tuple([z.enum(STATUSES), z.coerce.date(), z.coerce.number().int()]);
type WooListCursor = z.output<typeof WooListCursor>;

const toGmt = (at: Date) => at.toISOString().slice(0, 19);

/** Pages shift while orders change, so the next one begins by time, and by number only within a second. */
function getNextCursor(
  [status, after, page]: WooListCursor,
  orders: WooOrders,
  pages: number,
): WooListCursor | undefined {
  if (page >= pages) return undefined;
  const last = WooTime.safeParse(orders.at(-1)?.date_modified_gmt);
  const from = last.success ? last.data.getTime() - SECOND_MS : 0;
  return from > after.getTime() ? [status, new Date(from), 1] : [status, after, page + 1];
}

/** Counts the pages. Proxies may drop the header with their number. */
function countPages({ headers, body }: StoreAnswer<WooOrders>, page: number): number {
  const pages = Number(getHeader(headers, 'x-wp-totalpages'));
  if (pages > 0) return pages;
  return body.length < PER_PAGE ? page : page + 1;
}

/** Lists orders that were modified, then those in the trash. */
export async function listWooOrders(
  { since, before, cursor }: ChangedOrdersQuery,
  ask: (path: string) => Promise<StoreAnswer<WooOrders>>,
): Promise<OrderPage> {
  const start = new Date(since.getTime() - SECOND_MS);
  const listCursor: WooListCursor = cursor === null ? ['any', start, 1] : WooListCursor.parse(cursor.split(' '));
  const [status, after, page] = listCursor;
  const until = before === undefined ? '' : `&modified_before=${toGmt(before)}`;
  const answer = await ask(
    `/orders?status=${status}&modified_after=${toGmt(after)}${until}&dates_are_gmt=true` +
      `&orderby=modified&order=asc&per_page=${PER_PAGE}&page=${page}`,
  );
  const next = getNextCursor(listCursor, answer.body, countPages(answer, page));
  const trash: WooListCursor | undefined = status === 'any' ? ['trash', start, 1] : undefined;
  const following = next ?? trash;
  return {
    orders: answer.body.map((body) => ({ headers: { 'x-wc-webhook-topic': 'order.updated' }, body })),
    cursor: following ? [following[0], following[1].toISOString(), following[2]].join(' ') : null,
    waitMs: 0,
  };
}
