import { isDeepStrictEqual } from 'node:util';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { DeliverableSubmissionsTable, DeliverablesTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { EventName } from '../../kit/outbox/events.ts';
import { validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { findAddressee, notOnRoster } from '../applications/applications.ts';
import { createAsset } from '../assets/assets.ts';
import { campaignProblems } from '../campaigns/campaigns.ts';
import { matchesCreator } from '../creators/creators.ts';
import { showCreator } from '../creators/renamed.ts';
import { mailCreated, mailMove } from './deliverables.mails.ts';
import {
  type DeliverableCreate,
  type DeliverableFilter,
  type DeliverablePatch,
  isLateAt,
  isOwed,
  OWED,
  toDeliverable,
} from './deliverables.shapes.ts';
import { ENDED_WITH_CONTRACT, findMoveError, toAssetRights } from './moves.ts';

export type DeliverableStatus = DeliverablesTable['status'];

export type DeliverableRow = Selectable<DeliverablesTable>;
export type SubmissionRow = Selectable<DeliverableSubmissionsTable>;

const withCreator = (db: Db, brandId: string) =>
  db
    .selectFrom('deliverables')
    .innerJoin('creators', 'creators.id', 'deliverables.creatorId')
    .innerJoin('brands', 'brands.id', 'deliverables.brandId')
    .leftJoin('contracts', 'contracts.id', 'deliverables.contractId')
    .selectAll('deliverables')
    .select('brands.timeZone')
    .select(['creators.email as creatorEmail', 'creators.name as creatorName'])
    .select(['contracts.status as contractStatus', 'contracts.title as contractTitle'])
    .where('deliverables.brandId', '=', brandId);

export type DeliverableFacts = Awaited<ReturnType<typeof getDeliverable>>;

/** `today`, in the brand's zone, decides what is overdue. */
type DeliverableSelection = Omit<DeliverableFilter, keyof Page> & { today: string };

const isOverdue = (today: string) =>
  sql<boolean>`(deliverables.status = any(${[...OWED]}::text[])
    and coalesce(deliverables.due_date < ${today}::date, false))`;

export const deliverables = listing({
  noun: 'deliverable',
  table: 'deliverables',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt', 'submittedAt', 'approvedAt'],
  shown: [
    showCreator('deliverables'),
    // The campaign is that of the contract.
    (brandId, after) => sql`select one.id from deliverables as one
      join contracts as contract on contract.id = one.contract_id and contract.brand_id = one.brand_id
      where one.brand_id = ${brandId} and contract.updated_at > ${after}`,
  ],
  matching: (db, brandId, { campaign_id, contract_id, creator_email, status, overdue, today }: DeliverableSelection) =>
    db
      .selectFrom('deliverables')
      .$if(overdue !== undefined, (query) => query.where(sql<boolean>`${isOverdue(today)} is ${sql.lit(overdue)}`))
      .where((eb) => eb.and(omitUndefined({ status, campaignId: campaign_id, contractId: contract_id })))
      .where(matchesCreator('deliverables.creatorId', brandId, creator_email)),
  rows: withCreator,
  ranks: {
    // What nobody waits for comes last.
    due: {
      at: sql`case when deliverables.status in ('pending', 'in_progress', 'revision_requested')
        then coalesce(deliverables.due_date, 'infinity') else 'infinity' end`,
      of: ({ status, dueDate }) => (isOwed(status) ? dueDate : null) ?? 'infinity',
      isAscending: true,
    },
    waiting: {
      at: sql`case when deliverables.status = 'submitted' then '-infinity' when deliverables.status in ('pending',
        'in_progress', 'revision_requested') then coalesce(deliverables.due_date, 'infinity') else 'infinity' end`,
      of: ({ status, dueDate }) =>
        (status === 'submitted' ? '-infinity' : isOwed(status) ? dueDate : null) ?? 'infinity',
      isAscending: true,
    },
  },
});
export const { get: getDeliverable, find: findDeliverable } = deliverables;

/** Found by id alone, because a visitor with the page's link has no brand. */
export async function findDeliverableOfLink(db: Db, id: string): Promise<DeliverableFacts | undefined> {
  const row = await db.selectFrom('deliverables').select('brandId').where('id', '=', id).executeTakeFirst();
  return row && (await findDeliverable(db, row.brandId, id));
}

/** A contract's deliverables, in the order of its items. */
export async function listContractDeliverables(
  db: Db,
  brandId: string,
  contractId: string,
): Promise<DeliverableFacts[]> {
  return await withCreator(db, brandId)
    .where('deliverables.contractId', '=', contractId)
    .orderBy('deliverables.position')
    .execute();
}

const lockDeliverable = (db: Db, brandId: string, id: string): Promise<DeliverableRow> =>
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

async function insertDeliverables(db: Db, rows: Insertable<DeliverablesTable>[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('deliverables').values(rows).execute();
}

/** Updates the creator and campaign of a draft's deliverables, which follow the contract's. */
export async function updateContractDeliverables(
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

const updateDeliverable = (db: Db, brandId: string, id: string, change: Updateable<DeliverablesTable>) =>
  updateOwn(db.updateTable('deliverables').set(change).returningAll(), brandId, id);

/** A contract's deliverables in one of these states, locked until the transaction ends. */
async function lockContractDeliverables(
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

type AssetInput = Parameters<typeof createAsset>[1];
type DeliverableEvent = Exclude<Extract<EventName, `deliverable.${string}`>, 'deliverable.track_requested'>;

/** Creators' texts are private: the audit log shows that they changed, not what they say. */
const toAuditRow = ({ caption: _caption, declinedReason: _reason, ...row }: DeliverableRow) => row;

function audit(work: Work, old: DeliverableRow | null, row: DeliverableRow): void {
  work.audit({ resourceId: row.id, old: old && toAuditRow(old), new: toAuditRow(row) });
}

/** Audits a move and emits its event. Returns the row for display. */
async function announce(
  work: Work,
  event: DeliverableEvent,
  old: DeliverableRow,
  row: DeliverableRow,
): Promise<DeliverableFacts> {
  audit(work, old, row);
  const facts = await getDeliverable(work.db, work.brandId, row.id);
  work.emit(event, toDeliverable(facts, work.now));
  return facts;
}

/** Like `announce`, with a mail to the other side. */
async function announceByMail(
  work: Work,
  event: DeliverableEvent,
  old: DeliverableRow,
  row: DeliverableRow,
): Promise<DeliverableFacts> {
  const facts = await announce(work, event, old, row);
  await mailMove(work, event, facts);
  return facts;
}

/** Creates a deliverable without a contract. */
export async function createDeliverable(work: Work, input: DeliverableCreate): Promise<DeliverableFacts> {
  const { db, now, brandId } = work;
  const problems = await campaignProblems(work, input.campaign_id);
  const addressee = await findAddressee(db, brandId, input.creator_email);
  if (!addressee) problems.push(notOnRoster(input.creator_email));
  if (!addressee || problems.length > 0) throw validationError(problems);
  const id = newId('dlv', now.getTime());
  await insertDeliverables(db, [
    {
      id,
      brandId,
      contractId: null,
      creatorId: addressee.id,
      status: 'pending',
      createdAt: now,
      campaignId: input.campaign_id ?? null,
      type: input.type,
      platform: input.platform ?? null,
      instructions: input.instructions ?? null,
      dueDate: input.due_date ?? null,
    },
  ]);
  const facts = await getDeliverable(db, brandId, id);
  work.audit({ resourceId: id, old: null, new: facts });
  await mailCreated(work, facts);
  return facts;
}

interface PromisedItem {
  type: string;
  platform: string | null;
  quantity: number;
  dueDate: string | null;
}

/** Creates one for each unit that a contract promises, replacing those that an earlier draft of it created. */
export async function createContractDeliverables(
  { db, now, brandId }: Work,
  { id: contractId, creatorId, campaignId }: { id: string; creatorId: string; campaignId: string | null },
  items: readonly PromisedItem[],
): Promise<void> {
  // The creator has not seen a draft, so its deliverables may disappear.
  await db.deleteFrom('deliverables').where('brandId', '=', brandId).where('contractId', '=', contractId).execute();
  const units = items.flatMap(({ quantity, ...item }) => Array.from({ length: quantity }, () => item));
  await insertDeliverables(
    db,
    units.map((unit, position) => ({
      ...unit,
      id: newId('dlv', now.getTime()),
      brandId,
      contractId,
      creatorId,
      campaignId,
      position,
      status: 'pending',
      createdAt: now,
    })),
  );
}

const MOVE_EVENTS = {
  approved: 'deliverable.approved',
  revision_requested: 'deliverable.revision_requested',
  cancelled: 'deliverable.cancelled',
} as const;

/** Applies the brand's review and other changes. Setting the same status again changes nothing and sends no mail. */
export async function patchDeliverable(work: Work, id: string, patch: DeliverablePatch): Promise<DeliverableFacts> {
  const { db, now, brandId } = work;
  const old = await lockDeliverable(db, brandId, id);
  const { status, feedback, due_date: dueDate, track } = patch;
  const newStatus = status !== undefined && status !== old.status ? status : undefined;
  const refusal = newStatus && findMoveError('brand', old.status, newStatus);
  if (refusal) throw refusal;
  const change = {
    ...omitUndefined({ status: newStatus, dueDate, track }),
    // A review without feedback clears the earlier feedback.
    ...(newStatus === 'approved' || newStatus === 'revision_requested'
      ? { feedback: feedback ?? null }
      : omitUndefined({ feedback })),
    ...(newStatus === 'approved' ? { approvedAt: now } : {}),
  };
  if (isDeepStrictEqual({ ...old, ...change }, old)) return await getDeliverable(db, brandId, id);
  const row = await updateDeliverable(db, brandId, id, { ...change, updatedAt: now });
  if (row.feedback !== old.feedback) {
    // The feedback belongs to the version that the brand reviewed.
    await db
      .updateTable('deliverableSubmissions')
      .set({ feedback: row.feedback })
      .where('brandId', '=', brandId)
      .where('deliverableId', '=', row.id)
      .where('n', '=', row.version)
      .execute();
  }
  if (newStatus) return await announceByMail(work, MOVE_EVENTS[newStatus], old, row);
  audit(work, old, row);
  const facts = await getDeliverable(db, brandId, id);
  // It is already approved, so consumers that track posts need this separate event.
  if (row.track && !old.track && row.status === 'approved') {
    work.emit('deliverable.track_requested', toDeliverable(facts, now));
  }
  return facts;
}

/** Cancels the deliverables of a contract that expired or was voided. The contract's own mail announces it. */
export async function cancelContractDeliverables(work: Work, contractId: string): Promise<void> {
  const { db, now, brandId } = work;
  for (const old of await lockContractDeliverables(db, brandId, contractId, ENDED_WITH_CONTRACT)) {
    const row = await updateDeliverable(db, brandId, old.id, { status: 'cancelled', updatedAt: now });
    await announce(work, 'deliverable.cancelled', old, row);
  }
}

/** The creator has started: pending deliverables are in progress from now on. */
export async function startDeliverables(work: Work, pending: readonly DeliverableRow[]): Promise<void> {
  for (const old of pending) {
    const row = await work.db
      .updateTable('deliverables')
      .set({ status: 'in_progress', updatedAt: work.now })
      .where('brandId', '=', work.brandId)
      .where('id', '=', old.id)
      .where('status', '=', 'pending')
      .returningAll()
      .executeTakeFirst();
    if (row) audit(work, old, row);
  }
}

export interface SubmittedWork {
  contentUrl: string | null;
  caption: string | null;
  /** Received files, which become assets in the brand's library. */
  files: readonly AssetInput[];
}

/** Submitted files get the contract's usage rights; without a contract they get none. */
async function storeFiles(work: Work, row: DeliverableRow, files: readonly AssetInput[]): Promise<string[]> {
  const { campaignId, creatorId, contractId } = row;
  const rights =
    files.length === 0 || contractId === null
      ? undefined
      : await work.db
          .selectFrom('contracts')
          .select(['usageRights', 'terms', 'signedAt'])
          .where('brandId', '=', work.brandId)
          .where('id', '=', contractId)
          .executeTakeFirst();
  const agreed = toAssetRights(rights, rights ? await getTimeZone(work.db, work.brandId) : 'UTC');
  const ids: string[] = [];
  for (const file of files) {
    const { id } = await createAsset(work, file, {
      source: 'deliverable',
      campaignId,
      creatorId,
      ...agreed,
    });
    ids.push(id);
  }
  return ids;
}

/** Adds a version for review. */
export async function submitDeliverable(work: Work, id: string, submission: SubmittedWork): Promise<DeliverableFacts> {
  const { db, now, brandId } = work;
  const old = await lockDeliverable(db, brandId, id);
  const refusal = findMoveError('creator', old.status, 'submitted');
  if (refusal) throw refusal;
  const version = old.version + 1;
  const { contentUrl, caption } = submission;
  const content = { contentUrl, caption, assetIds: await storeFiles(work, old, submission.files) };
  await db
    .insertInto('deliverableSubmissions')
    .values({
      ...content,
      id: newId('sub', now.getTime()),
      brandId,
      deliverableId: id,
      n: version,
      at: now,
      feedback: null,
      isLate: isLateAt(now, old.dueDate, await getTimeZone(db, brandId)),
    })
    .execute();
  const row = await updateDeliverable(db, brandId, id, {
    ...content,
    status: 'submitted',
    version,
    submittedAt: now,
    updatedAt: now,
    feedback: null,
  });
  return await announceByMail(work, 'deliverable.submitted', old, row);
}

/** The creator declines it with a reason. */
export async function declineDeliverable(work: Work, id: string, reason: string): Promise<DeliverableFacts> {
  const { db, now, brandId } = work;
  const old = await lockDeliverable(db, brandId, id);
  const refusal = findMoveError('creator', old.status, 'declined');
  if (refusal) throw refusal;
  const row = await updateDeliverable(db, brandId, id, {
    status: 'declined',
    declinedReason: reason,
    updatedAt: now,
  });
  return await announceByMail(work, 'deliverable.declined', old, row);
}
