import { sql } from 'kysely';
import { monthlyCredits } from '../../kit/access/credits/access.ts';
import { sumEntries } from '../../kit/access/credits/entries.ts';
import { periodAt } from '../../kit/access/credits/period.ts';
import { inBatches } from '../../kit/engines/postgres/batches.ts';
import type { Db, Exports } from '../../kit/engines/postgres/open.ts';
import type { Page } from '../../kit/values/page.ts';

export interface UsageWindow {
  from: Date;
  /** Exclusive. */
  until: Date;
  keyId: string | undefined;
}

const DAY = sql<string>`to_char(entry.occurred_at at time zone 'UTC', 'YYYY-MM-DD')`;

function selectEntries(db: Db, brandId: string, { from, until, keyId }: UsageWindow) {
  return db
    .selectFrom('creditEntries as entry')
    .innerJoin('apiKeys as key', 'key.id', 'entry.keyId')
    .where('key.brandId', '=', brandId)
    .where('entry.kind', 'in', ['charge', 'refund'])
    .where('entry.occurredAt', '>=', from)
    .where('entry.occurredAt', '<', until)
    .$if(keyId !== undefined, (query) => query.where('key.id', '=', keyId ?? ''))
    .groupBy([DAY, 'key.id']);
}

function selectUsageSums(db: Db, brandId: string, window: UsageWindow) {
  return selectEntries(db, brandId, window)
    .select(({ fn }) => [
      DAY.as('date'),
      'key.id as keyId',
      'key.name as keyName',
      sql<string>`key.first_characters || '…' || key.last_characters`.as('key'),
      fn.countAll<number>().filterWhere('entry.kind', '=', 'charge').as('calls'),
      fn
        .coalesce(fn.sum<number>('entry.credits').filterWhere('entry.kind', '=', 'charge'), sql<number>`0`)
        .as('credits'),
      fn
        .coalesce(fn.sum<number>('entry.credits').filterWhere('entry.kind', '=', 'refund'), sql<number>`0`)
        .as('refunded'),
    ])
    .orderBy(DAY, 'desc')
    .orderBy('key.id');
}

/** Lists credits and calls per key and UTC day, newest first. The list kit cannot page sums, so this pages by itself. */
export async function listUsageSums(db: Db, brandId: string, window: UsageWindow, page: Page) {
  const rows = await selectUsageSums(db, brandId, window).offset(page.offset).limit(page.limit).execute();
  const { total } = await db
    .selectFrom(selectEntries(db, brandId, window).select('key.id').as('groups'))
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows, total };
}

type UsageSums = Awaited<ReturnType<typeof listUsageSums>>['rows'][number];

/** Reads all rows in the order of the list. */
export function iterateUsage(exports: Exports, brandId: string, window: UsageWindow) {
  let offset = 0;
  return inBatches<UsageSums>(exports, brandId, async (trx, _last, limit) => {
    const rows = await selectUsageSums(trx, brandId, window).offset(offset).limit(limit).execute();
    offset += rows.length;
    return rows;
  });
}

export async function findDataSubscription(db: Db, brandId: string) {
  return await db
    .selectFrom('subscriptions')
    .select(['id', 'plan', 'status', 'anchorAt', 'monthlyCredits'])
    .where('brandId', '=', brandId)
    .where('kind', '=', 'data')
    .executeTakeFirst();
}

/** The credits of a subscription's current month. */
export async function readMonth(
  db: Db,
  subscription: NonNullable<Awaited<ReturnType<typeof findDataSubscription>>>,
  now: Date,
) {
  const { start, end } = periodAt(subscription.anchorAt, now);
  const sums = await sumEntries(db, subscription.id, start);
  const granted = sums.granted || monthlyCredits(subscription);
  return {
    plan: subscription.plan,
    status: subscription.status,
    period_start: start.toISOString(),
    period_end: end.toISOString(),
    granted,
    charged: sums.charged,
    refunded: sums.refunded,
    remaining: granted - sums.charged + sums.refunded,
  };
}
