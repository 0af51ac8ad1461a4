import { queueMail } from '../../../kit/mail/queue.ts';
import type { Context } from '../../../kit/operation/context.ts';
import type { Job } from '../../../kit/operation/job.ts';
import { inWork } from '../../../kit/operation/work.ts';
import { listEndingRights, noteNotice } from '../queries.ts';
import { noticeDueAt } from './policy.ts';

const AT_ONCE = 100;

type Ending = Awaited<ReturnType<typeof listEndingRights>>[number];

async function reportEnd({ postgres, clock }: Context, { rightsExpiresAt, ...asset }: Ending): Promise<void> {
  const days = rightsExpiresAt && noticeDueAt(rightsExpiresAt, clock.now());
  if (rightsExpiresAt === null || days == null) return;
  const { id, brandId, name, contactEmail, rightsNoticeDays: before } = asset;
  const actor = { brandId, keyId: null, operation: 'mark_ending_rights', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    if (!(await noteNotice(work.db, { id, rightsExpiresAt, before }, days))) return;
    work.audit({ resourceId: id, old: { rightsNoticeDays: before }, new: { rightsNoticeDays: days } });
    if (contactEmail === null) return;
    const ends_on = rightsExpiresAt.toISOString().slice(0, 10);
    const params = { asset_id: id, name, ends_on, has_ended: days === 0 };
    await queueMail(work, {
      kind: 'asset_rights_ending',
      to: contactEmail,
      subjectRow: `${id}:${days}:${ends_on}`,
      params,
    });
  });
}

/**
 * Notifies brands 14 and 3 days before an asset's rights end and when they have ended, in the audit log and by mail.
 */
export async function markExpiringRights(context: Context): Promise<void> {
  for (;;) {
    const due = await listEndingRights(context.postgres.db, context.clock.now(), AT_ONCE);
    for (const asset of due) await reportEnd(context, asset);
    if (due.length < AT_ONCE) return;
  }
}

export const announceEndingRights: Job = {
  name: 'announce-ending-rights',
  everyMs: 10_000,
  asksFor: 'assets whose rights end in 14 days, in 3 days or have ended',
  run: markExpiringRights,
};
