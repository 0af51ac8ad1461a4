import { sql } from 'kysely';
import { makePlainTerms } from '../../analytics/pricing/plain.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { fromPpm } from '../../kit/values/money.ts';
import { findItems } from '../orders/items.ts';
import { listProducts, toHex } from '../orders/order-history.ts';
import { getOrderKind } from '../orders/order-kinds.ts';
import type { OrderRow } from '../orders/orders.ts';
import { draftRow } from '../terms/customer-rows.ts';
import { insertCustomers, lockCustomers, makeCustomerId } from './customers.ts';

const ORDERS_AT_ONCE = 2_000;
const MOST_MS = 400 * DAY_MS;

interface Span {
  after: string;
  /** Inclusive. */
  last: string;
  until: Date;
}

type PastOrder = OrderRow & { linkId: string; creatorId: string; commissionRatePpm: number; boundTo: string | null };

/** Selects the starts of something by links with `pays_renewals`, if the customer can be recognized again. */
const isWanted = ({ after, last, until }: Span) => sql<boolean>`(
  orders.id > ${after} and orders.id <= ${last}
  and orders.created_at < ${until} and orders.occurred_at >= ${new Date(until.getTime() - MOST_MS)}
  and orders.customer_id is null and orders.is_test is not true and orders.is_renewal is not true
  and (orders.kind is null or orders.kind in ('first', 'resubscribe'))
  and orders.attribution ->> 'rule' in ('code', 'last_click', 'first_click')
  and (orders.customer_hash is not null or orders.customer_id_hash is not null or orders.subscription_id is not null)
  and links.pays_renewals)`;

const ordersWithLinks = sql`orders join commissions on commissions.order_id = orders.id join links on links.id = commissions.link_id`;

async function listBrands(db: Db, span: Span): Promise<string[]> {
  const { rows } = await sql<{ brandId: string }>`
    select distinct orders.brand_id from ${ordersWithLinks} where ${isWanted(span)} order by 1`.execute(db);
  return rows.map(({ brandId }) => brandId);
}

/** Makes the rows that these orders would have made when they were decided, with their own rates. Decides nothing. */
async function makeRows(work: Work, span: Span): Promise<void> {
  const { db, brandId } = work;
  await lockCustomers(db, brandId, true);
  const { rows } = await sql<PastOrder>`
    select orders.*, links.id as link_id, links.creator_id, links.integration_id as bound_to, commissions.commission_rate_ppm
    from ${ordersWithLinks} where orders.brand_id = ${brandId} and ${isWanted(span)} order by orders.occurred_at, orders.id`.execute(
    db,
  );
  for (const order of rows) {
    const { linkId, creatorId, boundTo, customerEmail } = order;
    const { items } = await findItems(db, order);
    const draft = draftRow(
      {
        ...order,
        placedAt: order.occurredAt,
        amountMinor: order.baseMinor,
        kind: getOrderKind(order),
        customerId: toHex(order.customerIdHash),
        email: toHex(order.customerHash),
        products: listProducts(items),
      },
      { linkId, creatorId, boundTo, terms: makePlainTerms(fromPpm(order.commissionRatePpm), 'subscription') },
    );
    const id = makeCustomerId(work.now);
    await insertCustomers(db, work, [{ id, draft, customerEmail }]);
    await db
      .updateTable('orders')
      .set({ customerId: id })
      .where('brandId', '=', brandId)
      .where('id', '=', order.id)
      .execute();
  }
}

/** Makes rows of the next orders; false if there are no more. Two workers that do the same make each row once. */
async function makeNextRows({ postgres, clock }: Context): Promise<boolean> {
  const { db } = postgres;
  const state = await db.selectFrom('pastCustomers').selectAll().where('doneAt', 'is', null).executeTakeFirst();
  if (!state) return false;
  const { afterId: after, until } = state;
  const { rows } = await sql<{ last: string | null }>`
    select max(id) as last from (select id from orders where id > ${after} order by id limit ${ORDERS_AT_ONCE}) as next`.execute(
    db,
  );
  const last = rows[0]?.last ?? null;
  if (last === null) {
    await db.updateTable('pastCustomers').set({ doneAt: clock.now() }).execute();
    return false;
  }
  for (const brandId of await listBrands(db, { after, last, until })) {
    const actor = { brandId, keyId: null, operation: 'make_past_customers', requestId: null };
    await inWork(db, clock, actor, (work) => makeRows(work, { after, last, until }));
  }
  await db.updateTable('pastCustomers').set({ afterId: last }).where('afterId', '=', after).execute();
  return true;
}

/** Makes the rows of customers who were won before there were any, so that their renewals pay as their links say. */
export const makePastCustomers: Job = {
  name: 'make-past-customers',
  everyMs: 60_000,
  asksFor: 'orders from before there were customers',
  run: async (context) => {
    while (await makeNextRows(context));
  },
};
