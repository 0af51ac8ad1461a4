import { sql } from 'kysely';
import type { Page } from '../../api/page.ts';
import type { Db } from '../../engines/postgres/open.ts';

export interface UsageWindow {
  from: Date;
  /** Exclusive. */
  until: Date;
  keyId: string | undefined;
}

const DAY = sql<string>`to_char(entry.occurred_at at time zone 'UTC', 'YYYY-MM-DD')`;

function entriesOf(db: Db, brandId: string, { from, until, keyId }: UsageWindow) {
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

/** Credits and calls per key and UTC day, newest first: sums of the ledger. */
export async function listUsage(db: Db, brandId: string, window: UsageWindow, page: Page) {
  const groups = entriesOf(db, brandId, window);
  const rows = await groups
    .select(({ fn }) => [
      DAY.as('date'),
      'key.id as keyId',
      'key.name as keyName',
      'key.firstCharacters',
      'key.lastCharacters',
      fn.countAll<number>().filterWhere('entry.kind', '=', 'charge').as('calls'),
      fn
        .coalesce(fn.sum<number>('entry.credits').filterWhere('entry.kind', '=', 'charge'), sql<number>`0`)
        .as('credits'),
      fn
        .coalesce(fn.sum<number>('entry.credits').filterWhere('entry.kind', '=', 'refund'), sql<number>`0`)
        .as('refunded'),
    ])
    .orderBy(DAY, 'desc')
    .orderBy('key.id')
    .offset(page.offset)
    .limit(page.limit)
    .execute();
  const { total } = await db
    .selectFrom(groups.select('key.id').as('groups'))
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows, total };
}

export async function findDataSubscription(db: Db, brandId: string) {
  return await db
    .selectFrom('subscriptions')
    .select(['id', 'plan', 'status', 'anchorAt', 'monthlyCredits'])
    .where('brandId', '=', brandId)
    .where('kind', '=', 'data')
    .executeTakeFirst();
}
