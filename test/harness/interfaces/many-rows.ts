import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../src/kit/engines/postgres/open.ts';
import type { TestApp } from '../app.ts';

/** What is one's own of the copy in this place, by column. */
type Differing = Readonly<Record<string, RawBuilder<unknown>>>;

const place = sql`place::text`;
/** An id of ours, the same for the same table, brand and place. */
const idOf = (prefix: string) => sql`${`${prefix}_`}::text || left(md5(one.brand_id || place), 20)`;
const secondsBefore = (column: string) => sql`one.${sql.ref(column)} - make_interval(secs => place)`;
const NOTHING = sql`null::text`;

interface Copies {
  table: string;
  id: string;
  /** The time that the list is ordered by; each copy is a second older than the one before. */
  time: string;
  differing?: Differing;
}

/** Every list of a brand, by its table; what another refers to comes before it. */
const COPIES: readonly Copies[] = [
  {
    ...{ table: 'creators', id: 'crt', time: 'created_at' },
    differing: {
      email: sql`'creator-' || place || '@many.example'`,
      name: sql`'Creator ' || place`,
      ...{ ig_handle: NOTHING, tt_handle: NOTHING, profiled_at: sql`one.created_at` },
    },
  },
  { table: 'roster_entries', id: 'ros', time: 'added_at', differing: { creator_id: idOf('crt') } },
  { table: 'campaigns', id: 'cmp', time: 'created_at', differing: { title: sql`'Campaign ' || place` } },
  {
    ...{ table: 'applications', id: 'app', time: 'applied_at' },
    differing: { creator_email: sql`'somebody-' || place || '@many.example'` },
  },
  { table: 'orders', id: 'ord', time: 'occurred_at', differing: { order_id: sql`'many-' || place` } },
  { table: 'commissions', id: 'com', time: 'created_at', differing: { order_id: idOf('ord') } },
  {
    // Before the brand's first entry: those after its newest are in no statement.
    ...{ table: 'ledger_entries', id: 'led', time: 'recorded_at' },
    differing: { seq: sql`-place`, commission_id: idOf('com'), order_id: idOf('ord') },
  },
  // All of one payout.
  { table: 'payout_allocations', id: 'pal', time: 'at', differing: { commission_id: idOf('com') } },
  { table: 'payouts', id: 'pay', time: 'created_at', differing: { creator_id: idOf('crt') } },
  { table: 'statements', id: 'stm', time: 'created_at', differing: { creator_id: idOf('crt') } },
  { table: 'disputes', id: 'dsp', time: 'created_at', differing: { line_id: sql`'line ' || place` } },
  { table: 'briefs', id: 'brf', time: 'created_at' },
  { table: 'contracts', id: 'ctr', time: 'created_at' },
  { table: 'deliverables', id: 'dlv', time: 'created_at' },
  { table: 'conversations', id: 'cnv', time: 'last_message_at', differing: { creator_id: idOf('crt') } },
  // All of one conversation, numbered after those it has; only then one in each.
  {
    ...{ table: 'messages', id: 'mst', time: 'sent_at' },
    differing: {
      number: sql`place + (select message_count from conversations where id = one.conversation_id)`,
      body: sql`'Message ' || place || repeat(' and so on', place % 40)`,
    },
  },
  { table: 'messages', id: 'msg', time: 'sent_at', differing: { conversation_id: idOf('cnv'), number: sql`1` } },
  { table: 'shipments', id: 'shp', time: 'created_at' },
  {
    ...{ table: 'content', id: 'cnt', time: 'tracked_at' },
    differing: { canonical_key: sql`'many ' || place`, next_refresh_at: NOTHING },
  },
  { table: 'assets', id: 'ast', time: 'created_at', differing: { storage_key: sql`'many/' || one.brand_id || place` } },
  { table: 'links', id: 'lnk', time: 'created_at', differing: { value: sql`'CODE' || place` } },
  {
    ...{ table: 'webhook_deliveries', id: 'dlv', time: 'created_at' },
    // No worker has anything to do with them.
    differing: { resend: place, state: sql`'delivered'`, next_attempt_at: NOTHING, finished_at: sql`one.created_at` },
  },
  { table: 'plans', id: 'pln', time: 'created_at' },
  {
    ...{ table: 'api_keys', id: 'key', time: 'created_at' },
    differing: { name: sql`'Key ' || place`, hash: sql`sha256((one.brand_id || place)::bytea)` },
  },
  {
    ...{ table: 'people', id: 'per', time: 'created_at' },
    differing: { email: sql`'person-' || place || '@many.example'`, role: sql`'viewer'` },
  },
  { table: 'audit_log', id: 'aud', time: 'at' },
];

/** Of everything that a brand lists so many copies of its oldest: the doors would take a day. */
export async function putManyRows({ context }: TestApp, brandId: string, count: number): Promise<void> {
  await context.postgres.db.transaction().execute(async (db) => {
    // What the copies refer to is among them: a check of each reference takes longer than all the rest.
    await sql`set local session_replication_role = replica`.execute(db);
    for (const copies of COPIES) await copy(db, brandId, copies, count);
    await sql`update conversations set message_count =
      (select count(*) from messages where conversation_id = conversations.id) where brand_id = ${brandId}`.execute(db);
  });
}

async function copy(db: Db, brandId: string, { table, id, time, differing = {} }: Copies, count: number) {
  const columns = Object.entries({ id: idOf(id), [time]: secondsBefore(time), ...differing });
  const fields = sql.join(columns.flatMap(([name, value]) => [sql`${name}::text`, value]));
  await sql`
    insert into ${sql.table(table)}
    select (jsonb_populate_record(one, jsonb_build_object(${fields}))).*
    from ${sql.table(table)} one, generate_series(1, ${count}::int) place
    where one.ctid = (select ctid from ${sql.table(table)} where brand_id = ${brandId}
      order by ${sql.ref(time)} limit 1)`.execute(db);
  // As PostgreSQL itself does soon after.
  await sql`analyze ${sql.table(table)}`.execute(db);
}
