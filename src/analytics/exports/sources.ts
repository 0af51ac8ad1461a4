import { type RawBuilder, sql } from 'kysely';
import type { ColumnType } from '../../kit/engines/parquet.ts';

/** A dataset of rows in PostgreSQL. */
export interface Source {
  from: RawBuilder<unknown>;
  brand: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
  recorded: RawBuilder<unknown>;
  date: RawBuilder<unknown>;
  /**
   * True if an index has a brand's rows in the order of `date`; otherwise all of them are read in that of `recorded`.
   */
  isOrderedByDate: boolean;
  columns: Readonly<Record<string, readonly [ColumnType, RawBuilder<unknown>]>>;
}

const ORDER_KIND = sql`coalesce(orders.kind, case when orders.is_renewal then 'renewal' else 'once' end)`;

export const ORDERS: Source = {
  from: sql`orders join integrations as store on store.id = orders.integration_id
    left join commissions as commission on commission.order_id = orders.id
    left join creators as creator on creator.id = commission.creator_id`,
  brand: sql`orders.brand_id`,
  id: sql`orders.id`,
  recorded: sql`orders.created_at`,
  date: sql`orders.occurred_at`,
  isOrderedByDate: true,
  columns: {
    id: ['text', sql`orders.id`],
    order_id: ['text', sql`orders.order_id`],
    source: ['text', sql`store.provider`],
    integration_id: ['text', sql`orders.integration_id`],
    currency: ['text', sql`orders.currency`],
    amount_minor: ['integer', sql`orders.base_minor`],
    occurred_at: ['time', sql`orders.occurred_at`],
    paid_at: ['time', sql`orders.paid_at`],
    cancelled_at: ['time', sql`orders.cancelled_at`],
    customer_email: ['text', sql`orders.customer_email`],
    is_test: ['boolean', sql`coalesce(orders.is_test, false)`],
    is_renewal: ['boolean', sql`coalesce(orders.kind = 'renewal', orders.is_renewal, false)`],
    rule: ['text', sql`orders.attribution ->> 'rule'`],
    reason: ['text', sql`orders.attribution ->> 'reason'`],
    link_id: ['text', sql`commission.link_id`],
    creator_id: ['text', sql`commission.creator_id`],
    creator_email: ['text', sql`creator.email`],
    commission_id: ['text', sql`commission.id`],
    commission_minor: ['integer', sql`commission.commission_minor`],
    commission_status: ['text', sql`commission.status`],
    recorded_at: ['time', sql`orders.created_at`],
    updated_at: ['time', sql`orders.updated_at`],
    order_number: ['text', sql`orders.order_number`],
    kind: ['text', ORDER_KIND],
    subscription_id: ['text', sql`orders.subscription_id`],
    country: ['text', sql`orders.country`],
    customer_id: ['text', sql`orders.customer_id`],
    terms_id: ['text', sql`commission.terms_id`],
  },
};

export const COMMISSIONS: Source = {
  from: sql`commissions as commission join creators as creator on creator.id = commission.creator_id
    left join orders on orders.id = commission.order_id`,
  brand: sql`commission.brand_id`,
  id: sql`commission.id`,
  recorded: sql`commission.created_at`,
  date: sql`commission.occurred_at`,
  isOrderedByDate: false,
  columns: {
    id: ['text', sql`commission.id`],
    type: ['text', sql`case when commission.order_id is null then 'manual' else 'sale' end`],
    order_id: ['text', sql`orders.order_id`],
    link_id: ['text', sql`commission.link_id`],
    creator_id: ['text', sql`commission.creator_id`],
    creator_email: ['text', sql`creator.email`],
    campaign_id: ['text', sql`commission.campaign_id`],
    source: ['text', sql`commission.source`],
    currency: ['text', sql`commission.currency`],
    amount_minor: ['integer', sql`commission.amount_minor`],
    refunded_minor: ['integer', sql`commission.refunded_minor`],
    commission_minor: ['integer', sql`commission.commission_minor`],
    commission_rate: ['number', sql`commission.commission_rate_ppm / 10000.0::float8`],
    status: ['text', sql`commission.status`],
    status_updated_at: ['time', sql`commission.status_updated_at`],
    discount_code: ['text', sql`commission.discount_code`],
    click_id: ['text', sql`commission.click_id`],
    occurred_at: ['time', sql`commission.occurred_at`],
    hold_ends_at: ['time', sql`commission.hold_ends_at`],
    approved_at: ['time', sql`commission.approved_at`],
    recorded_at: ['time', sql`commission.created_at`],
    order_number: ['text', sql`orders.order_number`],
    kind: ['text', sql`case when commission.order_id is not null then ${ORDER_KIND} end`],
    subscription_id: ['text', sql`orders.subscription_id`],
    customer_id: ['text', sql`orders.customer_id`],
    terms_id: ['text', sql`commission.terms_id`],
  },
};

const selectGroupId = (creatorId: RawBuilder<unknown>) => sql`(select member.group_id from group_memberships as member
  where member.creator_id = ${creatorId} and member.until is null)`;

export const ROSTER: Source = {
  from: sql`roster_entries as entry join creators as creator on creator.id = entry.creator_id`,
  brand: sql`entry.brand_id`,
  id: sql`entry.id`,
  recorded: sql`entry.added_at`,
  date: sql`entry.added_at`,
  isOrderedByDate: true,
  columns: {
    id: ['text', sql`entry.id`],
    creator_id: ['text', sql`entry.creator_id`],
    creator_email: ['text', sql`creator.email`],
    creator_name: ['text', sql`creator.name`],
    status: ['text', sql`entry.status`],
    added_at: ['time', sql`entry.added_at`],
    updated_at: ['time', sql`entry.updated_at`],
    group_id: ['text', selectGroupId(sql`entry.creator_id`)],
  },
};

export const CONTENT: Source = {
  from: sql`(select * from content where deleted_at is null) as post left join creators as creator on creator.id = post.creator_id`,
  brand: sql`post.brand_id`,
  id: sql`post.id`,
  recorded: sql`post.tracked_at`,
  date: sql`coalesce(post.posted_at, post.tracked_at)`,
  isOrderedByDate: false,
  columns: {
    id: ['text', sql`post.id`],
    url: ['text', sql`post.url`],
    platform: ['text', sql`post.platform`],
    type: ['text', sql`post.type`],
    creator_id: ['text', sql`post.creator_id`],
    creator_email: ['text', sql`creator.email`],
    campaign_id: ['text', sql`post.campaign_id`],
    views: ['integer', sql`post.views`],
    likes: ['integer', sql`post.likes`],
    comments: ['integer', sql`post.comments`],
    shares: ['integer', sql`post.shares`],
    saves: ['integer', sql`post.saves`],
    posted_at: ['time', sql`post.posted_at`],
    tracked_at: ['time', sql`post.tracked_at`],
    last_refreshed: ['time', sql`post.last_refreshed`],
  },
};

/** Only the masked address tells who a customer is. */
export const CUSTOMERS: Source = {
  from: sql`customers as customer join creators as creator on creator.id = customer.creator_id`,
  brand: sql`customer.brand_id`,
  id: sql`customer.id`,
  recorded: sql`customer.created_at`,
  date: sql`customer.since`,
  isOrderedByDate: false,
  columns: {
    id: ['text', sql`customer.id`],
    creator_id: ['text', sql`customer.creator_id`],
    creator_email: ['text', sql`creator.email`],
    link_id: ['text', sql`customer.link_id`],
    group_id: ['text', selectGroupId(sql`customer.creator_id`)],
    customer_email: ['text', sql`customer.customer_email`],
    origin: ['text', sql`customer.origin`],
    first_order_id: ['text', sql`customer.first_order_id`],
    since: ['time', sql`customer.since`],
    ended_at: ['time', sql`customer.ended_at`],
    covers: ['text', sql`coalesce(customer.terms ->> 'covers', 'order')`],
    terms_id: ['text', sql`customer.terms_id`],
    reason: ['text', sql`customer.reason`],
    recorded_at: ['time', sql`customer.created_at`],
    updated_at: ['time', sql`customer.updated_at`],
  },
};
