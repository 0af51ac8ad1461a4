import type { Db } from '../../kit/engines/postgres/open.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import { wrongState } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { CreatorRow } from '../../workflow/creators/creators.ts';
import { mailOwners } from './data-requests.mails.ts';
import type { DataRequestRow } from './data-requests.shapes.ts';
import { DUE_MS, dataRequests, SHOWN } from './data-requests.ts';

/** Finds the last wish to be erased of a creator's own page. */
export async function findAsked(db: Db, brandId: string, creatorId: string): Promise<DataRequestRow | undefined> {
  return await db
    .selectFrom('dataRequests')
    .select(SHOWN)
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('kind', '=', 'erasure')
    .where('source', '=', 'page')
    .orderBy('createdAt', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Files a creator's wish to be erased, which waits for the brand. One that waits already stays the only one. */
export async function askForErasure(work: Work, creator: Pick<CreatorRow, 'id' | 'name' | 'email'>): Promise<void> {
  const { db, brandId, now } = work;
  const row = await db
    .insertInto('dataRequests')
    .values({
      id: newId('drq', now.getTime()),
      brandId,
      kind: 'erasure',
      subject: 'creator',
      source: 'page',
      state: 'open',
      creatorId: creator.id,
      dueAt: new Date(now.getTime() + DUE_MS),
      createdAt: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(SHOWN)
    .executeTakeFirst();
  if (!row) return;
  work.audit({ resourceId: row.id, old: null, new: row });
  await mailOwners(work, row, { what: 'erasure', who: creator.name ?? creator.email ?? creator.id });
}

/** Refuses what a creator asked for. The reason is mailed to them. */
export async function refuseRequest(work: Work, id: string, reason: string): Promise<DataRequestRow> {
  const { db, brandId, now } = work;
  const old = await dataRequests.get(db, brandId, id);
  const row = await db
    .updateTable('dataRequests')
    .set({ state: 'refused', refusal: reason, finishedAt: now, selector: null })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('state', '=', 'open')
    .returning(SHOWN)
    .executeTakeFirst();
  if (!row) throw wrongState('request', old.state, 'refused', []);
  work.audit({ resourceId: id, old, new: row });
  const creator = await db
    .selectFrom('creators')
    .select(['id', 'email'])
    .where('brandId', '=', brandId)
    .where('id', '=', row.creatorId)
    .executeTakeFirst();
  if (row.source === 'page' && creator?.email) {
    const params = { creator_id: creator.id, reason };
    const mail = { to: creator.email, creatorId: creator.id, subjectRow: id, params };
    await queueMail(work, { kind: 'data_request_refused', ...mail });
  }
  return row;
}
