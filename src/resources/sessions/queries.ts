import type { ListWindow, Page } from '../../api/page.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { cutTo, inWindow } from '../../engines/postgres/window.ts';

interface Where extends ListWindow {
  personId: string;
  now: Date;
}

/** One person's sessions that still work. */
export async function listSessions(db: Db, brandId: string, { personId, now, ...where }: Where, page: Page) {
  const matching = () =>
    db
      .selectFrom('apiKeys')
      .where('brandId', '=', brandId)
      .where('personId', '=', personId)
      .where('revokedAt', 'is', null)
      .where('expiresAt', '>', now)
      .where(inWindow('createdAt', where));
  const { total } = await matching()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const query = matching().select(['id', 'name', 'createdAt', 'expiresAt', 'lastUsedAt']);
  const rows = await cutTo(query, { time: 'createdAt', id: 'id', sort: where.sort }, page).execute();
  return { rows, total };
}

/** Ends one session of this person, or of anybody of the brand where `personId` is undefined; false: no such session. */
export async function endSession(db: Db, brandId: string, id: string, personId: string | undefined, at: Date) {
  const row = await db
    .updateTable('apiKeys')
    .set((eb) => ({ revokedAt: eb.fn.coalesce('revokedAt', eb.val(at)) }))
    .where('brandId', '=', brandId)
    .where('kind', '=', 'session')
    .where('id', '=', id)
    .$if(personId !== undefined, (query) => query.where('personId', '=', personId ?? ''))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
