import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { DeliverableSubmissionsTable, DeliverablesTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { given } from '../../kit/values/patch.ts';
import { isOfCreator } from '../creators/queries.ts';

export type DeliverableStatus = DeliverablesTable['status'];

export type DeliverableRow = Selectable<DeliverablesTable>;
export type SubmissionRow = Selectable<DeliverableSubmissionsTable>;

export interface DeliverableWhere extends ListWindow {
  campaign_id?: string | undefined;
  contract_id?: string | undefined;
  creator_email?: string | undefined;
  status?: DeliverableStatus | undefined;
}

const withCreator = (db: Db, brandId: string) =>
  db
    .selectFrom('deliverables')
    .innerJoin('creators', 'creators.id', 'deliverables.creatorId')
    .leftJoin('contracts', 'contracts.id', 'deliverables.contractId')
    .selectAll('deliverables')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName'])
    .select(['contracts.status as contractStatus', 'contracts.title as contractTitle'])
    .where('deliverables.brandId', '=', brandId);

export type DeliverableFacts = Awaited<ReturnType<typeof getDeliverable>>;

/** The creator has to act. */
const OWED: ReadonlySet<DeliverableStatus> = new Set(['pending', 'in_progress', 'revision_requested']);

export const deliverables = listing({
  noun: 'deliverable',
  table: 'deliverables',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt', 'submittedAt', 'approvedAt'],
  due: {
    at: sql`case when deliverables.status in ('pending', 'in_progress', 'revision_requested')
      then coalesce(deliverables.due_date, 'infinity') else 'infinity' end`,
    of: ({ status, dueDate }) => (OWED.has(status) ? dueDate : null) ?? 'infinity',
  },
  matching: (db, brandId, { campaign_id, contract_id, creator_email, status }: DeliverableWhere) =>
    db
      .selectFrom('deliverables')
      .where((eb) => eb.and(given({ status, campaignId: campaign_id, contractId: contract_id })))
      .where(isOfCreator('deliverables.creatorId', brandId, creator_email)),
  rows: withCreator,
});
export const { get: getDeliverable, find: findDeliverable } = deliverables;

/** Found by id alone, because a visitor with the page's link has no brand. */
export async function findDeliverableOfLink(db: Db, id: string): Promise<DeliverableFacts | undefined> {
  const row = await db.selectFrom('deliverables').select('brandId').where('id', '=', id).executeTakeFirst();
  return row && (await findDeliverable(db, row.brandId, id));
}

/** What its contract says about usage rights; undefined without a contract. */
export async function findRights(db: Db, brandId: string, contractId: string | null) {
  if (contractId === null) return undefined;
  return await db
    .selectFrom('contracts')
    .select(['usageRights', 'terms', 'signedAt'])
    .where('brandId', '=', brandId)
    .where('id', '=', contractId)
    .executeTakeFirst();
}

/** A contract's deliverables, in the order of its items. */
export async function listOfContract(db: Db, brandId: string, contractId: string): Promise<DeliverableFacts[]> {
  return await withCreator(db, brandId)
    .where('deliverables.contractId', '=', contractId)
    .orderBy('deliverables.position')
    .execute();
}

export const lockDeliverable = (db: Db, brandId: string, id: string): Promise<DeliverableRow> =>
  lockOwn(db.selectFrom('deliverables').selectAll(), 'deliverable', brandId, id);

/** Every submitted version of these deliverables, newest first. */
export async function listSubmissions(db: Db, brandId: string, ids: readonly string[]): Promise<SubmissionRow[]> {
  if (ids.length === 0) return [];
  return await db
    .selectFrom('deliverableSubmissions')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('deliverableId', 'in', ids)
    .orderBy('n', 'desc')
    .execute();
}

export async function insertDeliverables(db: Db, rows: Insertable<DeliverablesTable>[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('deliverables').values(rows).execute();
}

/** Deletes the deliverables of a draft contract, which its creator has not seen. */
export async function deleteOfContract(db: Db, brandId: string, contractId: string): Promise<void> {
  await db.deleteFrom('deliverables').where('brandId', '=', brandId).where('contractId', '=', contractId).execute();
}

/** Updates the creator and campaign of a draft's deliverables, which follow the contract's. */
export async function updateOfContract(
  db: Db,
  brandId: string,
  contractId: string,
  change: Pick<Updateable<DeliverablesTable>, 'creatorId' | 'campaignId'>,
): Promise<void> {
  await db
    .updateTable('deliverables')
    .set(change)
    .where('brandId', '=', brandId)
    .where('contractId', '=', contractId)
    .execute();
}

export const updateDeliverable = (db: Db, brandId: string, id: string, change: Updateable<DeliverablesTable>) =>
  updateOwn(db.updateTable('deliverables').set(change).returningAll(), brandId, id);

/** A contract's deliverables in one of these states, locked until the transaction ends. */
export async function lockOfContract(
  db: Db,
  brandId: string,
  contractId: string,
  states: readonly DeliverableStatus[],
): Promise<DeliverableRow[]> {
  return await db
    .selectFrom('deliverables')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('contractId', '=', contractId)
    .where('status', 'in', states)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** Moves pending deliverables to in_progress; undefined if there are none. */
export async function startPending(db: Db, brandId: string, id: string, at: Date): Promise<DeliverableRow | undefined> {
  return await db
    .updateTable('deliverables')
    .set({ status: 'in_progress', updatedAt: at })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .returningAll()
    .executeTakeFirst();
}

export async function insertSubmission(db: Db, row: Insertable<DeliverableSubmissionsTable>): Promise<void> {
  await db.insertInto('deliverableSubmissions').values(row).execute();
}

/** Stores the brand's feedback on the version that it reviewed. */
export async function updateFeedback(
  db: Db,
  brandId: string,
  { id, version }: DeliverableRow,
  feedback: string | null,
): Promise<void> {
  await db
    .updateTable('deliverableSubmissions')
    .set({ feedback })
    .where('brandId', '=', brandId)
    .where('deliverableId', '=', id)
    .where('n', '=', version)
    .execute();
}
