import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { BriefRecipientsTable, BriefsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { given } from '../../kit/values/patch.ts';
import { isOfCreator } from '../creators/queries.ts';

export type BriefStatus = BriefsTable['status'];

export type BriefRow = Selectable<BriefsTable>;
export type RecipientRow = Selectable<BriefRecipientsTable>;

export interface BriefWhere extends ListWindow {
  campaign_id?: string | undefined;
  creator_email?: string | undefined;
  status?: BriefStatus | undefined;
}

const withCreator = (db: Db) =>
  db
    .selectFrom('briefs')
    .leftJoin('creators', 'creators.id', 'briefs.creatorId')
    .selectAll('briefs')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName']);

export type BriefFacts = Awaited<ReturnType<typeof getBrief>>;

export const briefs = listing({
  noun: 'brief',
  table: 'briefs',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt', 'sentAt', 'firstViewedAt', 'completedAt'],
  matching: (db, brandId, { campaign_id, creator_email, status }: BriefWhere) =>
    db
      .selectFrom('briefs')
      .where((eb) => eb.and(given({ status, campaignId: campaign_id })))
      .where(({ exists, or, selectFrom }) => {
        const received = selectFrom('briefRecipients as recipient')
          .select('recipient.briefId')
          .whereRef('recipient.briefId', '=', 'briefs.id')
          .where(isOfCreator('recipient.creatorId', brandId, creator_email));
        return or([isOfCreator('briefs.creatorId', brandId, creator_email), exists(received)]);
      }),
  rows: withCreator,
});
export const { get: getBrief } = briefs;

/** A brief for one of its recipients, found by id alone, because a visitor with the page's link has no brand. */
export async function findBriefOfLink(db: Db, id: string, creatorId: string) {
  return await db
    .selectFrom('briefs')
    .innerJoin('briefRecipients as recipient', 'recipient.briefId', 'briefs.id')
    .leftJoin('campaigns', 'campaigns.id', 'briefs.campaignId')
    .selectAll('briefs')
    .select(['campaigns.title as campaignTitle', 'recipient.viewedAt', 'recipient.creatorId as readerId'])
    .where('briefs.id', '=', id)
    // A link mailed to a creator who was later merged into another still opens.
    .where((eb) =>
      eb(
        'recipient.creatorId',
        '=',
        eb.fn.coalesce(
          eb.selectFrom('creatorMerges').select('creatorId').where('goneId', '=', creatorId).limit(1),
          eb.val(creatorId),
        ),
      ),
    )
    .executeTakeFirst();
}
export type BriefOfLink = NonNullable<Awaited<ReturnType<typeof findBriefOfLink>>>;

/** The briefs that were sent to a creator, newest first. */
export async function listReceived(db: Db, brandId: string, creatorId: string, limit: number) {
  return await db
    .selectFrom('briefRecipients as recipient')
    .innerJoin('briefs', 'briefs.id', 'recipient.briefId')
    .select(['briefs.id', 'briefs.title', 'briefs.dueDate', 'briefs.status', 'briefs.linkVersion'])
    .select(['recipient.sentAt', 'recipient.viewedAt', 'recipient.creatorId as holderId'])
    .where('recipient.brandId', '=', brandId)
    .where('recipient.creatorId', '=', creatorId)
    .orderBy('recipient.sentAt', 'desc')
    .orderBy('briefs.id', 'desc')
    .limit(limit)
    .execute();
}

export const lockBrief = (db: Db, brandId: string, id: string): Promise<BriefRow> =>
  lockOwn(db.selectFrom('briefs').selectAll(), 'brief', brandId, id);

export async function insertBrief(db: Db, row: Insertable<BriefsTable>): Promise<BriefRow> {
  return await db.insertInto('briefs').values(row).returningAll().executeTakeFirstOrThrow();
}

export const updateBrief = (db: Db, brandId: string, id: string, change: Updateable<BriefsTable>) =>
  updateOwn(db.updateTable('briefs').set(change).returningAll(), brandId, id);

export async function deleteBrief(db: Db, brandId: string, id: string): Promise<void> {
  await db.deleteFrom('briefs').where('brandId', '=', brandId).where('id', '=', id).execute();
}

/** The recipients, in the order of sending. */
export async function listRecipients(db: Db, brandId: string, briefId: string): Promise<RecipientRow[]> {
  return await db
    .selectFrom('briefRecipients')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('briefId', '=', briefId)
    .orderBy('sentAt')
    .orderBy('email')
    .execute();
}

export async function insertRecipient(db: Db, row: Insertable<BriefRecipientsTable>): Promise<void> {
  await db.insertInto('briefRecipients').values(row).execute();
}

/** Records a recipient's first view; false if it was not the first. */
export const noteView = (
  db: Db,
  brandId: string,
  { briefId, creatorId }: { briefId: string; creatorId: string },
  at: Date,
): Promise<boolean> =>
  isFound(
    db
      .updateTable('briefRecipients')
      .set({ viewedAt: at })
      .where('brandId', '=', brandId)
      .where('briefId', '=', briefId)
      .where('creatorId', '=', creatorId)
      .where('viewedAt', 'is', null)
      .returning('briefId'),
  );

/**
 * The campaign's uncompleted briefs that this creator received and whose recipients all have approved work and owe
 * nothing more. Locked until the transaction ends.
 */
export async function lockFinished(
  db: Db,
  brandId: string,
  { campaignId, creatorId }: { campaignId: string; creatorId: string },
): Promise<BriefRow[]> {
  const { rows } = await sql<{ id: string }>`
    select id from briefs brief
    where brand_id = ${brandId} and campaign_id = ${campaignId} and status in ('sent', 'in_progress')
      and exists (select from brief_recipients where brief_id = brief.id and creator_id = ${creatorId})
      and not exists (
        select from brief_recipients recipient
        where recipient.brief_id = brief.id and coalesce((
          select bool_or(status = 'approved') and bool_and(status in ('approved', 'declined', 'cancelled'))
          from deliverables
          where brand_id = ${brandId} and campaign_id = ${campaignId} and creator_id = recipient.creator_id
        ), false) = false)
    order by id`.execute(db);
  const locked: BriefRow[] = [];
  for (const { id } of rows) locked.push(await lockBrief(db, brandId, id));
  return locked;
}
