import type { Context } from '../../../kit/operation/context.ts';
import type { Job } from '../../../kit/operation/job.ts';
import type { EventConsumer } from '../../../kit/operation/noun.ts';
import { inWork } from '../../../kit/operation/work.ts';
import { type CreatorRow, claimUnprofiled, updateProfile } from '../queries.ts';
import { lookUpProfile } from './actions.ts';

const AT_ONCE = 10;

async function profile(context: Context, creator: CreatorRow): Promise<boolean> {
  const { postgres, clock } = context;
  const found = await lookUpProfile(context, creator);
  if (Object.keys(found).length === 0) return false;
  const actor = { brandId: creator.brandId, keyId: null, operation: 'profile_creator', requestId: null };
  return await inWork(postgres.db, clock, actor, async ({ db, now, audit }) => {
    const row = await updateProfile(db, creator, { ...found, updatedAt: now });
    if (row) audit({ resourceId: row.id, old: creator, new: row });
    return row?.profiledAt != null;
  });
}

/** One pass over the creators whose profile is due. Returns how many profiles were found. */
export async function profileUnknown(context: Context): Promise<number> {
  let profiled = 0;
  for (;;) {
    const due = await claimUnprofiled(context.postgres.db, context.clock.now(), AT_ONCE);
    const known = await Promise.all(due.map((creator) => profile(context, creator)));
    profiled += known.filter(Boolean).length;
    if (due.length < AT_ONCE) return profiled;
  }
}

export const profileCreators: Job = {
  name: 'profile-creators',
  everyMs: 5_000,
  asksFor: 'creators whose profile is not known yet',
  run: profileUnknown,
};

/** Looks up creators as soon as they join the roster, not at the next sweep. */
export const profileConsumer: EventConsumer = {
  name: 'profiles',
  open: (context) => async (events) => {
    if (events.some(({ event }) => event === 'roster.creator_added')) await profileUnknown(context);
  },
};
