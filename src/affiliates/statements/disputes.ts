import { type Selectable, sql } from 'kysely';
import type { DisputesTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { findContactEmail } from '../../platform/brands/brands.ts';
import { getDisplayName, matchesCreator } from '../../workflow/creators/creators.ts';
import { showCreator } from '../../workflow/creators/renamed.ts';
import type { DisputeFilter, DisputePatch } from './disputes.api.ts';
import { getStatement } from './statements.ts';

/** Columns that must not appear in the audit log. */
const secrets = ['message', 'answer'];

const nameLine = ({
  lineId,
  orderNumber,
  storeOrderId,
}: Pick<DisputeView, 'lineId' | 'orderNumber' | 'storeOrderId'>): string =>
  storeOrderId === null ? (lineId ?? 'the whole statement') : `order ${orderNumber ?? storeOrderId}`;

interface NewQuestion {
  creatorId: string;
  statementId: string | null;
  payoutId: string | null;
  lineId: string | null;
  message: string;
}

/** Stores a creator's question about a line. Returns false if one about the same line is already open. */
export async function openDispute(work: Work, question: NewQuestion): Promise<boolean> {
  const { db, now, brandId } = work;
  const row = await db
    .insertInto('disputes')
    .values({ ...question, id: newId('dsp', now.getTime()), brandId, status: 'open', createdAt: now })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) return false;
  work.audit({ resourceId: row.id, old: null, new: row, secrets });
  const to = await findContactEmail(db, brandId);
  if (to === null) return true;
  const facts = await getDispute(db, brandId, row.id);
  const creator = getDisplayName(facts);
  const params = { dispute_id: row.id, creator, line: nameLine(facts), message: row.message };
  await queueMail(work, { kind: 'dispute_opened', to, subjectRow: row.id, params });
  return true;
}

/** Mails an answer, which makes the question `answered`. Repeating the same answer changes nothing. */
export async function patchDispute(work: Work, id: string, { status, answer }: DisputePatch): Promise<DisputeRow> {
  const { db, now, brandId } = work;
  const old = await lockOwn(db.selectFrom('disputes').selectAll(), 'dispute', brandId, id);
  const isNew = answer !== undefined && answer !== old.answer;
  const next = status ?? (isNew ? 'answered' : undefined);
  if (next === 'answered' && (answer ?? old.answer) === null) {
    const facts = { current_status: old.status, allowed: ['closed'] };
    throw new ApiError('INVALID_STATE_TRANSITION', 'The question has no answer yet; send one as `answer`.', { facts });
  }
  const change = { ...omitUndefined({ status: next }), ...(isNew ? { answer, answeredAt: now } : {}) };
  if (Object.keys(change).length === 0) return old;
  const row = await updateOwn(
    db
      .updateTable('disputes')
      .set({ ...change, updatedAt: now })
      .returningAll(),
    brandId,
    id,
  );
  work.audit({ resourceId: id, old, new: row, secrets });
  if (!isNew) return row;
  const { creatorId, creatorEmail: to, statementId, payoutId, ...facts } = await getDispute(db, brandId, id);
  if (to === null) return row;
  // The statement of a payout has no versions of its link.
  const link_version = statementId === null ? 0 : (await getStatement(db, brandId, statementId)).linkVersion;
  const params = { row_id: statementId ?? payoutId ?? '', link_version, line: nameLine(facts), answer };
  const subjectRow = `${id}:${now.getTime()}`;
  await queueMail(work, { kind: 'dispute_answered', to, subjectRow, creatorId, params });
  return row;
}

export type DisputeRow = Selectable<DisputesTable>;

export type DisputeView = Awaited<ReturnType<typeof getDispute>>;

export const disputes = listing({
  noun: 'dispute',
  table: 'disputes',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt', 'answeredAt'],
  shown: [showCreator('disputes')],
  matching: (db, brandId, { status, creator_email, line_id }: Omit<DisputeFilter, keyof Page>) =>
    db
      .selectFrom('disputes')
      .where((eb) => eb.and(omitUndefined({ status, lineId: line_id })))
      .where(matchesCreator('disputes.creatorId', brandId, creator_email)),
  rows: (db) =>
    db
      .selectFrom('disputes')
      .innerJoin('creators', 'creators.id', 'disputes.creatorId')
      .leftJoin('commissions', (join) =>
        join.onRef('commissions.id', '=', 'disputes.lineId').onRef('commissions.brandId', '=', 'disputes.brandId'),
      )
      .leftJoin('orders', 'orders.id', 'commissions.orderId')
      .selectAll('disputes')
      .select([
        'creators.email as creatorEmail',
        'creators.name as creatorName',
        'orders.orderId as storeOrderId',
        'orders.orderNumber',
      ]),
  // Ids are in the order of creation, and break the ties.
  ranks: { waiting: { at: sql`(disputes.status = 'open')::int`, of: ({ status }) => Number(status === 'open') } },
});
export const { get: getDispute } = disputes;

/** Lists all questions on a statement or on a payout's statement, oldest first. */
export async function listQuestions(db: Db, brandId: string, on: { statementId: string } | { payoutId: string }) {
  const query = db.selectFrom('disputes').selectAll().where('brandId', '=', brandId).orderBy('createdAt').orderBy('id');
  return 'payoutId' in on
    ? await query.where('payoutId', '=', on.payoutId).execute()
    : await query.where('statementId', '=', on.statementId).execute();
}
