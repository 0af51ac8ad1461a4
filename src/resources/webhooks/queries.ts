import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { ListWindow, Page } from '../../api/page.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import type { WebhookSubscriptionsTable } from '../../engines/postgres/webhook-tables.ts';
import { type Cut, cutTo, inWindow } from '../../engines/postgres/window.ts';
import { notFound } from '../../values/errors.ts';

export type SubscriptionRow = Selectable<WebhookSubscriptionsTable>;
export type ListedSubscription = Awaited<ReturnType<typeof getListed>>;

/** Counted no further than it is shown. */
const COUNTED = 10_001;

const standing = (db: Db, brandId: string) =>
  db
    .selectFrom('webhookSubscriptions as webhook')
    .where('webhook.brandId', '=', brandId)
    .where('webhook.deletedAt', 'is', null);

const withPending = (db: Db, brandId: string) =>
  standing(db, brandId)
    .selectAll('webhook')
    .select((eb) =>
      eb
        .selectFrom(
          eb
            .selectFrom('webhookDeliveries as delivery')
            .select(sql`1`.as('one'))
            .whereRef('delivery.subscriptionId', '=', 'webhook.id')
            .where('delivery.state', '=', 'pending')
            .limit(COUNTED)
            .as('waiting'),
        )
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('pending'),
    );

async function selectWebhooks(db: Db, brandId: string, { sort, ...window }: ListWindow, cut: Cut) {
  const query = withPending(db, brandId).where(inWindow('webhook.createdAt', window));
  return await cutTo(query, { time: 'webhook.createdAt', id: 'webhook.id', sort }, cut).execute();
}

export async function listSubscriptions(db: Db, brandId: string, where: ListWindow, page: Page) {
  const { total } = await standing(db, brandId)
    .where(inWindow('webhook.createdAt', where))
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectWebhooks(db, brandId, where, page), total };
}

export function eachSubscription(exports: Exports, brandId: string, where: ListWindow) {
  return inBatches<ListedSubscription>(exports, brandId, (trx, last, limit) =>
    selectWebhooks(trx, brandId, where, { limit, after: last && { at: last.createdAt, id: last.id } }),
  );
}

export async function getListed(db: Db, brandId: string, id: string) {
  const row = await withPending(db, brandId).where('webhook.id', '=', id).executeTakeFirst();
  if (!row) throw notFound('webhook');
  return row;
}

/** Those that count towards the brand's ten: of both variants, the inactive too. */
export async function countSubscriptions(db: Db, brandId: string): Promise<number> {
  const { count } = await standing(db, brandId)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertSubscription(db: Db, row: Insertable<WebhookSubscriptionsTable>): Promise<SubscriptionRow> {
  return await db.insertInto('webhookSubscriptions').values(row).returningAll().executeTakeFirstOrThrow();
}

/** The row, locked until the transaction ends. */
export async function lockSubscription(db: Db, brandId: string, id: string): Promise<SubscriptionRow> {
  const row = await standing(db, brandId)
    .selectAll('webhook')
    .where('webhook.id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound('webhook');
  return row;
}

export async function updateSubscription(
  db: Db,
  brandId: string,
  id: string,
  change: Updateable<WebhookSubscriptionsTable>,
): Promise<SubscriptionRow> {
  return await db
    .updateTable('webhookSubscriptions')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The brand's newest event: what comes after it is new. */
export async function findHead(db: Db, brandId: string): Promise<number> {
  const row = await db.selectFrom('outboxHeads').select('seq').where('brandId', '=', brandId).executeTakeFirst();
  return row?.seq ?? 0;
}

/** Nothing that waits is sent any more. */
export async function cancelPending(db: Db, brandId: string, subscriptionId: string, now: Date): Promise<void> {
  await db
    .updateTable('webhookDeliveries')
    .set({ state: 'cancelled', finishedAt: now, nextAttemptAt: null, claimedUntil: null })
    .where('brandId', '=', brandId)
    .where('subscriptionId', '=', subscriptionId)
    .where('state', '=', 'pending')
    .execute();
}
