import { queueMail } from '../../../kit/mail/queue.ts';
import type { Work } from '../../../kit/operation/work.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { newId } from '../../../kit/values/ids.ts';
import { given } from '../../../kit/values/patch.ts';
import { findContactEmail } from '../../../platform/brands/queries.ts';
import { displayNameOf } from '../../../workflow/creators/policy.ts';
import {
  type DisputeFacts,
  type DisputeRow,
  findLinkVersion,
  getDispute,
  insertDispute,
  lockDispute,
  updateDispute,
} from './queries.ts';
import type { DisputePatch } from './schema.ts';

/** Texts that must not appear in the audit log. */
const secrets = ['message', 'answer'];

const nameOf = ({ lineId, storeOrderId }: Pick<DisputeFacts, 'lineId' | 'storeOrderId'>): string => {
  if (storeOrderId !== null) return `order ${storeOrderId}`;
  return lineId ?? 'the whole statement';
};

export interface NewQuestion {
  creatorId: string;
  statementId: string | null;
  payoutId: string | null;
  lineId: string | null;
  message: string;
}

/** Stores a creator's question about a line. False if one about the same line is already open. */
export async function openDispute(work: Work, question: NewQuestion): Promise<boolean> {
  const { db, now, brandId } = work;
  const row = await insertDispute(db, {
    ...{ ...question, id: newId('dsp', now.getTime()), brandId, status: 'open', createdAt: now },
  });
  if (!row) return false;
  work.audit({ resourceId: row.id, old: null, new: row, secrets });
  const to = await findContactEmail(db, brandId);
  if (to === null) return true;
  const facts = await getDispute(db, brandId, row.id);
  const creator = displayNameOf(facts);
  const params = { dispute_id: row.id, creator, line: nameOf(facts), message: row.message };
  await queueMail(work, { kind: 'dispute_opened', to, subjectRow: row.id, params });
  return true;
}

async function mailAnswer(work: Work, facts: DisputeFacts, answer: string): Promise<void> {
  const { id, creatorId, creatorEmail: to, statementId, payoutId } = facts;
  if (to === null) return;
  const link_version = await findLinkVersion(work.db, work.brandId, statementId);
  const params = { row_id: statementId ?? payoutId ?? '', link_version, line: nameOf(facts), answer };
  const subjectRow = `${id}:${work.now.getTime()}`;
  await queueMail(work, { kind: 'dispute_answered', to, subjectRow, creatorId, params });
}

/** An answer is mailed and makes the question `answered`. Repeating the same answer changes nothing. */
export async function patchDispute(work: Work, id: string, { status, answer }: DisputePatch): Promise<DisputeRow> {
  const { db, now, brandId } = work;
  const old = await lockDispute(db, brandId, id);
  const isNew = answer !== undefined && answer !== old.answer;
  const next = status ?? (isNew ? 'answered' : undefined);
  if (next === 'answered' && (answer ?? old.answer) === null) {
    const facts = { current_status: old.status, allowed: ['closed'] };
    throw new ApiError('INVALID_STATE_TRANSITION', 'The question has no answer yet; send one as `answer`.', { facts });
  }
  const answered = isNew ? { answer, answeredAt: now } : {};
  const change = { ...given({ status: next }), ...answered };
  if (Object.keys(change).length === 0) return old;
  const row = await updateDispute(db, brandId, id, { ...change, updatedAt: now });
  work.audit({ resourceId: id, old, new: row, secrets });
  if (isNew) await mailAnswer(work, await getDispute(db, brandId, id), answer);
  return row;
}
