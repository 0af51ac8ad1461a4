import type { Work } from '../../operation/work.ts';
import { auditedAsset } from './actions.ts';
import { rightsEndOf } from './policy.ts';
import { lockAssets, updateAsset } from './queries.ts';

/**
 * Sets the end of rights that count from the first post, once its date is known. An end that was set by hand stays; one
 * that was computed from a later post does not.
 */
export async function endRightsByPosts(work: Work, ids: readonly string[], postedAts: readonly Date[]): Promise<void> {
  const [first] = postedAts.toSorted((a, b) => a.getTime() - b.getTime());
  if (first === undefined || ids.length === 0) return;
  const { db, brandId, now } = work;
  for (const old of await lockAssets(db, brandId, ids)) {
    const { rights, rightsExpiresAt: before } = old;
    if (rights?.starts !== 'posted') continue;
    const endFrom = (postedAt: Date) => rightsEndOf(rights, { signedAt: null, postedAt })?.getTime();
    const end = endFrom(first);
    if (end === undefined || before?.getTime() === end) continue;
    if (before !== null && !postedAts.some((postedAt) => endFrom(postedAt) === before.getTime())) continue;
    const change = { rightsExpiresAt: new Date(end), rightsNoticeDays: null, updatedAt: now };
    const row = await updateAsset(db, brandId, old.id, change);
    if (row) work.audit({ resourceId: row.id, old: auditedAsset(old), new: auditedAsset(row) });
  }
}
