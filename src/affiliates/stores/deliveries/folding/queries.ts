import { sql } from 'kysely';
import type { Db } from '../../../../kit/engines/postgres/open.ts';
import type { Reason } from '../schema.ts';

/** A brand with due deliveries, by the one that waits longest. */
export interface DueBrand {
  brandId: string;
  dueAt: Date;
}

/** Brands with a due delivery that no worker folds: one index probe a brand with waiting ones, however many it has. */
export async function listDueBrands(db: Db, owner: string, now: Date): Promise<DueBrand[]> {
  const { rows } = await sql<DueBrand>`
    with recursive waiting as (
      (select brand_id, next_attempt_at from store_deliveries where state = 'waiting'
        order by brand_id, next_attempt_at limit 1)
      union all
      select next.brand_id, next.next_attempt_at from waiting cross join lateral (
        select brand_id, next_attempt_at from store_deliveries
        where state = 'waiting' and brand_id > waiting.brand_id order by brand_id, next_attempt_at limit 1) as next)
    select waiting.brand_id, next_attempt_at as due_at from waiting
    left join store_delivery_claims as claim on claim.brand_id = waiting.brand_id
      and claim.owner <> ${owner} and claim.claimed_until > ${now}
    where next_attempt_at <= ${now} and claim.brand_id is null order by next_attempt_at`.execute(db);
  return rows;
}

export interface Claim {
  brandId: string;
  owner: string;
  now: Date;
  until: Date;
}

interface ClaimSize {
  rows: number;
  /** Of their bodies; the first is taken whatever its size. */
  bytes: number;
}

/** A delivery to fold. */
export interface Claimed {
  id: string;
  integrationId: string;
  topic: string | null;
  headers: unknown;
  body: Buffer;
  attempts: number;
  receivedAt: Date;
}

/** Claims a brand for this worker, and takes its oldest due deliveries; none when another worker has it. */
export async function claimDeliveries(db: Db, claim: Claim, size: ClaimSize): Promise<Claimed[]> {
  const { brandId, owner, now, until } = claim;
  const { rows } = await sql<Claimed>`
    with claim as (
      insert into store_delivery_claims as held (brand_id, owner, claimed_until) values (${brandId}, ${owner}, ${until})
      on conflict (brand_id) do update set owner = excluded.owner, claimed_until = excluded.claimed_until
        where held.owner = excluded.owner or held.claimed_until <= ${now}
      returning brand_id)
    select id, integration_id, topic, headers, body, attempts, received_at from (
      select delivery.*, sum(octet_length(body)) over (order by next_attempt_at, id) - octet_length(body) as bytes_before
      from (
        select id, integration_id, topic, headers, body, attempts, received_at, next_attempt_at from store_deliveries
        where brand_id = (select brand_id from claim) and state = 'waiting' and next_attempt_at <= ${now}
        order by next_attempt_at, id limit ${size.rows}) as delivery) as due
    where bytes_before < ${size.bytes} order by next_attempt_at, id`.execute(db);
  return rows;
}

export async function releaseClaim(db: Db, { brandId, owner }: Pick<Claim, 'brandId' | 'owner'>): Promise<void> {
  await db
    .updateTable('storeDeliveryClaims')
    // In no clock's future.
    .set({ claimedUntil: sql<Date>`'-infinity'` })
    .where('brandId', '=', brandId)
    .where('owner', '=', owner)
    .execute();
}

export interface InboxFigures {
  /** Due now, and to be tried again later. */
  waiting: { due: number; later: number };
  oldestDueAt: Date | null;
  /** By state, of those that came after a time. */
  received: { state: string; count: number }[];
}

export async function readInbox(db: Db, now: Date, since: Date): Promise<InboxFigures> {
  const { rows } = await sql<{ due: number; later: number; oldestDueAt: Date | null }>`
    select count(*) filter (where next_attempt_at <= ${now}) as due,
      count(*) filter (where next_attempt_at > ${now}) as later,
      min(next_attempt_at) filter (where next_attempt_at <= ${now}) as oldest_due_at
    from store_deliveries where state = 'waiting'`.execute(db);
  const { oldestDueAt = null, ...waiting } = rows[0] ?? { due: 0, later: 0 };
  const received = await db
    .selectFrom('storeDeliveries')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .where('receivedAt', '>', since)
    .groupBy('state')
    .execute();
  return { waiting, oldestDueAt, received };
}

/** The outcome of a delivery. */
export interface Outcome {
  id: string;
  /** Before this attempt. */
  attemptsBefore: number;
  attempts: number;
  state: 'waiting' | 'done' | 'ignored' | 'failed';
  nextAttemptAt: Date | null;
  reason: Reason | null;
  notes: readonly string[];
  topic: string | null;
  orderId: string | null;
}

/** Writes the outcomes of deliveries, and returns the ids of those that no other worker has folded. */
export async function updateOutcomes(
  db: Db,
  brandId: string,
  outcomes: readonly Outcome[],
  now: Date,
): Promise<Set<string>> {
  const of = <V>(value: (outcome: Outcome) => V) => outcomes.map(value);
  const { rows } = await sql<{ id: string }>`
    update store_deliveries as delivery set
      state = became.state, attempts = became.attempts, tried_at = ${now},
      next_attempt_at = became.next_attempt_at, reason = nullif(became.reason, 'null'), notes = became.notes,
      topic = coalesce(delivery.topic, became.topic), order_id = coalesce(became.order_id, delivery.order_id),
      finished_at = case when became.state = 'waiting' then null else ${now}::timestamptz end
    from unnest(${of(({ id }) => id)}::text[], ${of(({ attemptsBefore }) => attemptsBefore)}::int[],
      ${of(({ attempts }) => attempts)}::int[],
      ${of(({ state }) => state)}::text[], ${of(({ nextAttemptAt }) => nextAttemptAt?.toISOString() ?? null)}::timestamptz[],
      ${of(({ reason }) => JSON.stringify(reason))}::jsonb[], ${of(({ notes }) => JSON.stringify(notes))}::jsonb[],
      ${of(({ topic }) => topic)}::text[], ${of(({ orderId }) => orderId)}::text[])
      as became (id, attempts_before, attempts, state, next_attempt_at, reason, notes, topic, order_id)
    where delivery.brand_id = ${brandId} and delivery.id = became.id and delivery.state = 'waiting'
      and delivery.attempts = became.attempts_before
    returning delivery.id`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** The store answers again: what waits for it is due now. */
export async function updateToTryAnswering(db: Db, brandId: string, integrationId: string, now: Date): Promise<void> {
  await db
    .updateTable('storeDeliveries')
    .set({ nextAttemptAt: now })
    .where('brandId', '=', brandId)
    .where('integrationId', '=', integrationId)
    .where('state', '=', 'waiting')
    .where('nextAttemptAt', '>', now)
    .execute();
}
