import { isDeepStrictEqual } from 'node:util';
import type { Work } from '../../kit/operation/work.ts';
import type { EventName } from '../../kit/outbox/events.ts';
import { validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { given } from '../../kit/values/patch.ts';
import { findAddressee, notOnRoster } from '../applications/queries.ts';
import { createAsset } from '../assets/actions.ts';
import { campaignProblems } from '../campaigns/actions.ts';
import { mailCreated, mailMove } from './mails.ts';
import { assetRightsOf, ENDED_WITH_CONTRACT, isLateAt, refusalOf } from './policy.ts';
import {
  type DeliverableFacts,
  type DeliverableRow,
  deleteOfContract,
  findRights,
  getDeliverable,
  insertDeliverables,
  insertSubmission,
  lockDeliverable,
  lockOfContract,
  startPending,
  updateDeliverable,
  updateFeedback,
} from './queries.ts';
import { type DeliverableCreate, type DeliverablePatch, deliverableOf } from './schema.ts';

type StoredFile = Parameters<typeof createAsset>[1];
type DeliverableEvent = Exclude<Extract<EventName, `deliverable.${string}`>, 'deliverable.track_requested'>;

/** Creators' texts are private: the audit log shows that they changed, not what they say. */
const auditedOf = ({ caption: _caption, declinedReason: _reason, ...row }: DeliverableRow) => row;

function audit(work: Work, old: DeliverableRow | null, row: DeliverableRow): void {
  work.audit({ resourceId: row.id, old: old && auditedOf(old), new: auditedOf(row) });
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
  work.emit(event, deliverableOf(facts));
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
      ...{ id, brandId, contractId: null, creatorId: addressee.id, status: 'pending', createdAt: now },
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

interface Promised {
  type: string;
  platform: string | null;
  quantity: number;
  dueDate: string | null;
}

/** Creates one for each unit that a contract promises, replacing those that an earlier draft of it created. */
export async function makeDeliverables(
  { db, now, brandId }: Work,
  { id: contractId, creatorId, campaignId }: { id: string; creatorId: string; campaignId: string | null },
  items: readonly Promised[],
): Promise<void> {
  await deleteOfContract(db, brandId, contractId);
  const units = items.flatMap(({ quantity, ...item }) => Array.from({ length: quantity }, () => item));
  await insertDeliverables(
    db,
    units.map((unit, position) => ({
      ...unit,
      ...{ id: newId('dlv', now.getTime()), brandId, contractId, creatorId, campaignId, position },
      ...{ status: 'pending', createdAt: now },
    })),
  );
}

const EVENT_OF = {
  approved: 'deliverable.approved',
  revision_requested: 'deliverable.revision_requested',
  cancelled: 'deliverable.cancelled',
} as const;

/** Applies the brand's review and other changes. Setting the same status again changes nothing and sends no mail. */
export async function patchDeliverable(work: Work, id: string, patch: DeliverablePatch): Promise<DeliverableFacts> {
  const { db, now, brandId } = work;
  const old = await lockDeliverable(db, brandId, id);
  const { status, feedback, due_date: dueDate, track } = patch;
  const moved = status !== undefined && status !== old.status ? status : undefined;
  const refusal = moved && refusalOf('brand', old.status, moved);
  if (refusal) throw refusal;
  const change = {
    ...given({ status: moved, dueDate, track }),
    // A review without feedback clears the earlier feedback.
    ...(moved === 'approved' || moved === 'revision_requested' ? { feedback: feedback ?? null } : given({ feedback })),
    ...(moved === 'approved' ? { approvedAt: now } : {}),
  };
  if (isDeepStrictEqual({ ...old, ...change }, old)) return await getDeliverable(db, brandId, id);
  const row = await updateDeliverable(db, brandId, id, { ...change, updatedAt: now });
  if (row.feedback !== old.feedback) await updateFeedback(db, brandId, row, row.feedback);
  if (moved) return await announceByMail(work, EVENT_OF[moved], old, row);
  audit(work, old, row);
  const facts = await getDeliverable(db, brandId, id);
  // It is already approved, so consumers that track posts need this separate event.
  if (row.track && !old.track && row.status === 'approved') {
    work.emit('deliverable.track_requested', deliverableOf(facts));
  }
  return facts;
}

/** Cancels the deliverables of a contract that expired or was voided. The contract's own mail announces it. */
export async function cancelOfContract(work: Work, contractId: string): Promise<void> {
  const { db, now, brandId } = work;
  for (const old of await lockOfContract(db, brandId, contractId, ENDED_WITH_CONTRACT)) {
    const row = await updateDeliverable(db, brandId, old.id, { status: 'cancelled', updatedAt: now });
    await announce(work, 'deliverable.cancelled', old, row);
  }
}

/** The creator has started: pending deliverables are in progress from now on. */
export async function startDeliverables(work: Work, pending: readonly DeliverableRow[]): Promise<void> {
  for (const old of pending) {
    const row = await startPending(work.db, work.brandId, old.id, work.now);
    if (row) audit(work, old, row);
  }
}

export interface Handed {
  contentUrl: string | null;
  caption: string | null;
  /** Received files, which become assets in the brand's library. */
  files: readonly StoredFile[];
}

/** Submitted files get the contract's usage rights; without a contract they get none. */
async function keepFiles(work: Work, row: DeliverableRow, files: readonly StoredFile[]): Promise<string[]> {
  const { campaignId, creatorId, contractId } = row;
  const rights = files.length === 0 ? undefined : await findRights(work.db, work.brandId, contractId);
  const ids: string[] = [];
  for (const file of files) {
    const { id } = await createAsset(work, file, {
      source: 'deliverable',
      campaignId,
      creatorId,
      ...assetRightsOf(rights),
    });
    ids.push(id);
  }
  return ids;
}

/** Adds a version for review. */
export async function submitDeliverable(work: Work, id: string, handed: Handed): Promise<DeliverableFacts> {
  const { db, now, brandId } = work;
  const old = await lockDeliverable(db, brandId, id);
  const refusal = refusalOf('creator', old.status, 'submitted');
  if (refusal) throw refusal;
  const version = old.version + 1;
  const { contentUrl, caption } = handed;
  const content = { contentUrl, caption, assetIds: await keepFiles(work, old, handed.files) };
  await insertSubmission(db, {
    ...content,
    ...{ id: newId('sub', now.getTime()), brandId, deliverableId: id, n: version, at: now, feedback: null },
    isLate: isLateAt(now, old.dueDate),
  });
  const row = await updateDeliverable(db, brandId, id, {
    ...content,
    ...{ status: 'submitted', version, submittedAt: now, updatedAt: now, feedback: null },
  });
  return await announceByMail(work, 'deliverable.submitted', old, row);
}

/** The creator declines it with a reason. */
export async function declineDeliverable(work: Work, id: string, reason: string): Promise<DeliverableFacts> {
  const { db, now, brandId } = work;
  const old = await lockDeliverable(db, brandId, id);
  const refusal = refusalOf('creator', old.status, 'declined');
  if (refusal) throw refusal;
  const row = await updateDeliverable(db, brandId, id, {
    ...{ status: 'declined', declinedReason: reason, updatedAt: now },
  });
  return await announceByMail(work, 'deliverable.declined', old, row);
}
