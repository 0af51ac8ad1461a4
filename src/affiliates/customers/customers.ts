import { type Insertable, sql } from 'kysely';
import { z } from 'zod';
import { toLocalTimestamp } from '../../analytics/figures/local-time.ts';
import type { CustomerKeysTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { wallMs } from '../../kit/values/time-zone.ts';
import { matchesCreator, shownName } from '../../workflow/creators/creators.ts';
import { selectRegrouped, showCreator } from '../../workflow/creators/renamed.ts';
import { INHERITED } from '../../workflow/terms/inherited.ts';
import { parseTerms } from '../../workflow/terms/versions.ts';
import { matchesGroup, selectGroupId } from '../groups/present-groups.ts';
import { selectCommissioned } from '../orders/orders.ts';
import type { CustomerKeys, CustomerRow, Payments, RowDraft } from '../terms/customer-rows.ts';
import { getLinkTerms } from '../terms/effective.ts';
import type { CustomerFilter, CustomerPatch } from './customers.shapes.ts';

type KeyRow = Omit<Insertable<CustomerKeysTable>, 'brandId' | 'customerId'>;

/** A store's own key: subscriptions of two stores may have the same id. */
export const toSubscriptionKey = (integrationId: string, id: string): string => `${integrationId} ${id}`;

/** Lists the keys of a row as they are stored. Hashes of customers' ids say themselves of which store they are. */
export function toKeyRows({ subscriptions, customerIds, emails }: CustomerKeys): KeyRow[] {
  return [
    ...subscriptions.map((one) => ({
      kind: 'subscription' as const,
      key: toSubscriptionKey(one.integrationId, one.id),
    })),
    ...customerIds.map((one) => ({
      kind: 'customer_id' as const,
      key: toSubscriptionKey(one.integrationId, one.id),
    })),
    ...emails.map((key) => ({ kind: 'email' as const, key })),
  ];
}

const StoredKeys = z.array(z.object({ kind: z.string(), key: z.string() }));

function toKeys(storedKeys: unknown): CustomerKeys {
  const keys = StoredKeys.parse(storedKeys ?? []);
  const listShopKeys = (kind: string) =>
    keys.flatMap((one) => {
      const space = one.key.indexOf(' ');
      return one.kind === kind ? [{ integrationId: one.key.slice(0, space), id: one.key.slice(space + 1) }] : [];
    });
  return {
    subscriptions: listShopKeys('subscription'),
    customerIds: listShopKeys('customer_id'),
    emails: keys.flatMap(({ kind, key }) => (kind === 'email' ? [key] : [])),
  };
}

interface StoredRow extends Omit<CustomerRow, keyof CustomerKeys | 'terms'> {
  terms: unknown;
  keys: unknown;
}

/** A person, not the facts, rejected the commission of an order. */
export const isRejectedByPerson = (alias: string) =>
  sql<boolean>`(${sql.ref(`${alias}.status`)} = 'rejected' and ${sql.ref(`${alias}.rejectedFrom`)} is null)`;

/** Lists rows that have one of the keys, and those that own earlier orders of the subscriptions. */
export async function listCustomerRows(
  db: Db,
  brandId: string,
  keys: readonly { kind: CustomerKeysTable['kind']; key: string }[],
): Promise<CustomerRow[]> {
  if (keys.length === 0) return [];
  const subscriptions = keys.flatMap(({ kind, key }) => (kind === 'subscription' ? [key] : []));
  // Each key is looked up by itself: joined, all orders of the brand would be read where PostgreSQL guesses that they are few.
  const { rows } = await sql<StoredRow>`
    with named as (select split_part(key, ' ', 1) as integration_id, substr(key, strpos(key, ' ') + 1) as subscription_id
      from unnest(${subscriptions}::text[]) as given (key)), wanted as (
      select found.id from unnest(${keys.map(({ kind }) => kind)}::text[], ${keys.map(({ key }) => key)}::text[])
        as given (kind, key) cross join lateral (select customer_id as id from customer_keys
          where brand_id = ${brandId} and kind = given.kind and key = given.key offset 0) as found
      union
      select found.id from named cross join lateral (select customer_id as id from orders
        where brand_id = ${brandId} and customer_id is not null and subscription_id = named.subscription_id
          and integration_id = named.integration_id offset 0) as found
      union
      select found.id from named cross join lateral (select order_id from store_subscriptions
        where brand_id = ${brandId} and integration_id = named.integration_id
          and subscription_id = named.subscription_id offset 0) as started
      cross join lateral (select customer_id as id from orders where brand_id = ${brandId} and customer_id is not null
        and integration_id = named.integration_id and order_id = started.order_id offset 0) as found)
    select customers.id, customers.link_id, customers.creator_id, links.integration_id as bound_to, customers.terms, customers.terms_id,
      (select time_zone from brands where id = ${brandId}) as time_zone,
      customers.origin, customers.first_order_id, customers.products, customers.since, customers.ended_at,
      coalesce((select ${isRejectedByPerson('commissions')} from commissions
        where commissions.brand_id = ${brandId} and commissions.order_id = customers.first_order_id), false)
        as is_origin_rejected,
      (select jsonb_agg(jsonb_build_object('kind', kind, 'key', key) order by kind, key) from customer_keys
        where customer_keys.customer_id = customers.id) as keys
    from customers join links on links.id = customers.link_id
    where customers.brand_id = ${brandId} and customers.id in (select id from wanted)`.execute(db);
  return rows.map(({ keys: stored, terms, ...row }) => ({ ...row, ...toKeys(stored), terms: parseTerms(terms) }));
}

export const makeCustomerId = (now: Date): string => newId('cus', now.getTime());

/** A row to insert, with the masked address of its first order. */
export interface NewCustomer {
  id: string;
  draft: RowDraft;
  customerEmail: string | null;
  /** Why a person added it. */
  reason?: string | undefined;
}

export async function insertCustomers(
  db: Db,
  { brandId, now }: { brandId: string; now: Date },
  rows: readonly NewCustomer[],
): Promise<void> {
  if (rows.length === 0) return;
  const customers = rows.map(({ id, draft, customerEmail, reason = null }) => ({
    id,
    brandId,
    linkId: draft.linkId,
    creatorId: draft.creatorId,
    terms: draft.terms,
    termsId: draft.termsId ?? null,
    origin: draft.origin,
    firstOrderId: draft.firstOrderId,
    products: draft.products,
    customerEmail,
    since: draft.since,
    endedAt: draft.endedAt,
    reason,
    createdAt: now,
  }));
  await toInsert('customers', customers).execute(db);
  const keys = rows.flatMap(({ id, draft }) => toKeyRows(draft).map((key) => ({ brandId, customerId: id, ...key })));
  if (keys.length > 0) await toInsert('customer_keys', keys).execute(db);
}

/** Lets decisions about a brand's customers follow each other, if there can be any; false if there are none. */
export async function lockCustomers(db: Db, brandId: string, isNeeded: boolean): Promise<boolean> {
  const { rows } = await sql`select pg_advisory_xact_lock(hashtext(${`customers ${brandId}`}))
    where ${isNeeded} or exists (select from customers where brand_id = ${brandId})`.execute(db);
  return rows.length > 0;
}

/** Orders of a row: those that it decided, and the one that it began with. */
const isOrderOfRow = sql<boolean>`orders.brand_id = customers.brand_id and orders.customer_id = customers.id
  and (orders.id = customers.first_order_id or orders.attribution ->> 'rule' in ('subscription', 'customer'))`;
const isPayment = sql<boolean>`orders.base_minor > 0 and orders.is_test is not true
  and not (orders.cancelled_at is not null and orders.paid_at is null)`;

const selectPaymentsMade = sql<number>`(select count(*) from orders where ${isOrderOfRow} and ${isPayment})`;
const selectFirstPaidAt = sql<Date | null>`(
  select min(orders.occurred_at) from orders where ${isOrderOfRow} and ${isPayment})`;
const isOriginRejected = sql<boolean>`coalesce((select ${isRejectedByPerson('commissions')} from commissions
  where commissions.brand_id = customers.brand_id and commissions.order_id = customers.first_order_id), false)`;

/** The longest duration of terms, and some days. */
const LONGEST_MS = 3_700 * DAY_MS;

/** The local time of the first payment. Of earlier ones than the longest duration, any offset will do. */
const toLocalPayment = (timeZone: string, now: Date) =>
  sql.raw(toLocalTimestamp({ from: new Date(now.getTime() - LONGEST_MS), until: now, timeZone }, 'first_at'));

/** The state of a row as `findRowState` finds it. */
const selectState = ({ now, timeZone }: Pick<CustomerSelection, 'now' | 'timeZone'>) => sql`case
  when customers.ended_at <= ${now} then 'ended'
  when ${isOriginRejected}
    or coalesce(customers.terms ->> 'covers', 'order') = 'order' and ${selectPaymentsMade} > 0
    or ${selectPaymentsMade} >= (customers.terms ->> 'payments')::int
    or (select ${toLocalPayment(timeZone, now)} from (select ${selectFirstPaidAt} as first_at) as paid)
      + make_interval(months => (customers.terms ->> 'months')::int)
      <= ${new Date(wallMs(timeZone, now.getTime())).toISOString().slice(0, -1)}::timestamp then 'over'
  when ${selectPaymentsMade} = 0 then 'open'
  else 'running' end`;

/** A filter of the list, with the time that states depend on and the hash of the address. */
interface CustomerSelection extends Omit<CustomerFilter, 'customer_email' | keyof Page> {
  now: Date;
  timeZone: string;
  emailHash: string | undefined;
}

export const customers = listing({
  noun: 'customer',
  table: 'customers',
  isCounted: true,
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  shown: [
    showCreator('customers'),
    (brandId, after) => sql`select one.id from customers as one
      where one.brand_id = ${brandId} and one.creator_id in (${selectRegrouped(brandId, after)})`,
    // The code as it is spelt now.
    (brandId, after) => sql`select one.id from customers as one
      join links as link on link.id = one.link_id and link.brand_id = one.brand_id
      where one.brand_id = ${brandId} and link.updated_at > ${after}`,
    // Payments made, and the end by a rejected commission.
    (brandId, after) => sql`select customer_id from orders
      where brand_id = ${brandId} and customer_id is not null and greatest(created_at, updated_at) > ${after}`,
    (brandId, after) => sql`select customer_id from orders
      where brand_id = ${brandId} and customer_id is not null and id in (${selectCommissioned(brandId, after)})`,
  ],
  matching: (db, brandId, where: CustomerSelection) =>
    db
      .selectFrom('customers')
      .where((eb) =>
        eb.and(
          omitUndefined({
            'customers.linkId': where.link_id,
            'customers.origin': where.origin,
            'customers.firstOrderId': where.first_order_id,
            'customers.termsId': where.terms_id,
          }),
        ),
      )
      .$if(where.covers !== undefined, (query) =>
        query.where(sql<boolean>`coalesce(customers.terms ->> 'covers', 'order') = ${where.covers ?? ''}`),
      )
      .$if(where.state !== undefined, (query) =>
        query.where(sql<boolean>`${selectState(where)} = ${where.state ?? ''}`),
      )
      .$if(where.by_upgrade !== undefined, (query) =>
        query.where(
          sql<boolean>`exists (select from orders, past_customers where orders.brand_id = ${brandId}
            and orders.id = customers.first_order_id and orders.created_at < past_customers.until)
            = ${where.by_upgrade ?? false}`,
        ),
      )
      .$if(where.emailHash !== undefined, (query) =>
        query.where(
          sql<boolean>`customers.id in (select one.customer_id from customer_keys as one where one.brand_id = ${brandId}
            and one.kind = 'email' and one.key = ${where.emailHash ?? ''})`,
        ),
      )
      .where(matchesGroup('customers.creatorId', brandId, where.group_id))
      .$if(where.subscription_id !== undefined, (query) =>
        query.where(
          sql<boolean>`customers.id in (select one.customer_id from integrations as store join customer_keys as one
            on one.brand_id = store.brand_id and one.kind = 'subscription'
            and one.key = store.id || ' ' || ${where.subscription_id ?? ''}::text
            where store.brand_id = ${brandId})`,
        ),
      )
      .where(matchesCreator('customers.creatorId', brandId, where.creator_email)),
  rows: (db) =>
    db
      .selectFrom('customers')
      .innerJoin('links', 'links.id', 'customers.linkId')
      .innerJoin('creators', 'creators.id', 'customers.creatorId')
      .innerJoin('brands', 'brands.id', 'customers.brandId')
      .selectAll('customers')
      .select('brands.timeZone')
      .select(['links.value as linkValue', 'creators.email as creatorEmail', shownName])
      .select([
        sql<string[]>`array(select one.key from customer_keys as one where one.customer_id = customers.id
          and one.kind = 'subscription' order by one.key)`.as('subscriptionKeys'),
        sql<number>`(select count(*) from orders where ${isOrderOfRow})`.as('orders'),
        selectPaymentsMade.as('paymentsMade'),
        selectFirstPaidAt.as('firstPaidAt'),
        isOriginRejected.as('isOriginRejected'),
        selectGroupId('customers.creatorId').as('groupId'),
        sql<{ currency: string; minor: number }[]>`coalesce((
          select jsonb_agg(jsonb_build_object('currency', currency, 'minor', minor) order by currency) from (
            select commissions.currency, sum(commissions.commission_minor) as minor
            from orders join commissions on commissions.order_id = orders.id
            where ${isOrderOfRow} and commissions.status <> 'rejected' group by commissions.currency) as sums), '[]')`.as(
          'commissions',
        ),
      ]),
});

export type ListedCustomer = Awaited<ReturnType<typeof customers.get>>;

export const toPayments = ({ paymentsMade, firstPaidAt }: ListedCustomer): Payments => ({
  made: paymentsMade,
  firstAt: firstPaidAt,
});

const lockCustomer = (db: Db, brandId: string, id: string) =>
  lockOwn(db.selectFrom('customers').selectAll(), 'customer', brandId, id);

/** Applies a patch to a customer's row. It concerns later orders only. */
export async function patchCustomer(work: Work, id: string, patch: CustomerPatch): Promise<void> {
  const { db, now, brandId } = work;
  const old = await lockCustomer(db, brandId, id);
  const { ended, link_id: linkId = old.linkId, terms, reason } = patch;
  const link = await db
    .selectFrom('links')
    .leftJoin('terms', 'terms.id', 'links.termsId')
    .select([
      'links.id',
      'links.creatorId',
      'links.commissionRatePpm',
      'links.paysRenewals',
      'links.termsId',
      'terms.terms',
    ])
    .select(INHERITED.as('inherited'))
    .where('links.brandId', '=', brandId)
    .where('links.id', '=', linkId)
    .executeTakeFirst();
  if (!link) {
    const message = 'is not a code or link of this brand.';
    throw validationError([{ field: 'link_id', code: 'not_found', message }]);
  }
  const present = terms === undefined ? undefined : getLinkTerms(link);
  const change = omitUndefined({
    linkId: link.id,
    creatorId: link.creatorId,
    endedAt: ended === undefined ? undefined : ended ? (old.endedAt ?? now) : null,
    terms: present && JSON.stringify(present.terms),
    termsId: present?.termsId,
    reason,
  });
  const row = await updateOwn(
    db
      .updateTable('customers')
      .set({ ...change, updatedAt: now })
      .returningAll(),
    brandId,
    id,
  );
  work.audit({ resourceId: id, old, new: row });
}

/** Erases everything that recognizes a customer, on the row and on its orders, for good. Money stays. */
export async function eraseCustomer({ db, now, brandId, audit }: Work, id: string): Promise<void> {
  const old = await lockCustomer(db, brandId, id);
  await db.deleteFrom('customerKeys').where('brandId', '=', brandId).where('customerId', '=', id).execute();
  await db
    .updateTable('orders')
    .set({ customerEmail: null, customerHash: null, customerIdHash: null, updatedAt: now })
    .set({ subscriptionId: null, previousSubscriptionId: null, erasedBy: id })
    .where('brandId', '=', brandId)
    .where('customerId', '=', id)
    .execute();
  const change = { customerEmail: null, endedAt: old.endedAt ?? now, updatedAt: now };
  const row = await updateOwn(db.updateTable('customers').set(change).returningAll(), brandId, id);
  audit({ resourceId: id, old, new: row });
}

/** Counts the customers whom a creator brought, without those who were ended. */
export async function countCustomers(db: Db, brandId: string, creatorId: string): Promise<number> {
  const { count } = await db
    .selectFrom('customers')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('endedAt', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}
