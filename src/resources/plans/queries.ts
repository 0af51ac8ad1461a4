import type { ListWindow, Page } from '../../api/page.ts';
import type { PlanRow } from '../../api/plans/queries.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { inOrder, inWindow } from '../../engines/postgres/window.ts';
import { notFound } from '../../values/errors.ts';

export interface PlanWhere extends ListWindow {
  status?: 'open' | 'applied' | 'expired' | undefined;
}

function matching(db: Db, brandId: string, { status, ...window }: PlanWhere, now: Date) {
  return db
    .selectFrom('plans')
    .where('brandId', '=', brandId)
    .where(inWindow('createdAt', window))
    .$if(status === 'applied', (query) => query.where('appliedAt', 'is not', null))
    .$if(status === 'open', (query) => query.where('appliedAt', 'is', null).where('expiresAt', '>', now))
    .$if(status === 'expired', (query) => query.where('appliedAt', 'is', null).where('expiresAt', '<=', now));
}

export async function listPlans(db: Db, brandId: string, where: PlanWhere, page: Page, now: Date) {
  const { total } = await matching(db, brandId, where, now)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await inOrder(matching(db, brandId, where, now).selectAll(), {
    time: 'createdAt',
    id: 'id',
    sort: where.sort,
  })
    .offset(page.offset)
    .limit(page.limit)
    .execute();
  return { rows, total };
}

export async function getPlan(db: Db, brandId: string, id: string): Promise<PlanRow> {
  const row = await db
    .selectFrom('plans')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw notFound('plan');
  return row;
}

/** Takes an open plan for this transaction; undefined: it is applied already, or has ended. */
export async function takePlan(
  db: Db,
  brandId: string,
  { id, now, keyId }: { id: string; now: Date; keyId: string },
): Promise<PlanRow | undefined> {
  return await db
    .updateTable('plans')
    .set({ appliedAt: now, appliedBy: keyId })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('appliedAt', 'is', null)
    .where('expiresAt', '>', now)
    .returningAll()
    .executeTakeFirst();
}

/** Plans are kept for a month, for whoever wants to know what was planned. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

export async function deleteOldPlans(db: Db, now: Date): Promise<void> {
  await db
    .deleteFrom('plans')
    .where('expiresAt', '<', new Date(now.getTime() - KEPT_MS))
    .execute();
}
