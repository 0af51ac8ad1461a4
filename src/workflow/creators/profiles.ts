import { z } from 'zod';
import { DirectoryCreator } from '../../directory/search/creator.shapes.ts';
import type { Clause } from '../../directory/search/query.ts';
import { getJson } from '../../kit/engines/http/client.ts';
import { claimedWork } from '../../kit/operation/claimed-work.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { EventConsumer } from '../../kit/operation/noun.ts';
import { inWork } from '../../kit/operation/work.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { type CreatorRow, type Identity, postponeProfile, selectUnprofiled, updateProfile } from './creators.ts';

const PROVIDER_TIMEOUT_MS = 3_000;
const PROVIDER_MAX_BYTES = 64 * 1024;
/** The directory folds accents, so one handle may match several usernames. */
const NAMESAKES = 10;

/** The platforms whose handles are stored. */
type HandlePlatform = 'photo_app' | 'video_app';

/** The public profile of a handle. */
interface Profile {
  name: string | null;
  pictureUrl: string | null;
  followers: number | null;
  engagementRate: number | null;
}

const { username, full_name, follower_count, engagement_rate, profile_pic_url } = DirectoryCreator.shape;
const card = z.object({ username, full_name, follower_count, engagement_rate, profile_pic_url });
const Hits = z.object({ hits: z.object({ hits: z.array(z.object({ _source: z.object({ card }) })) }) });

/** From the directory, whose usernames are handles of the photo app. */
async function readDirectory({ directory }: Context, handle: string): Promise<Profile | undefined> {
  const { index } = await directory.snapshot();
  const query: Clause = { term: { 'card.username': handle } };
  const { hits } = await directory.counts.ask(index, Hits, { size: NAMESAKES, query });
  const hit = hits.hits.find(({ _source }) => _source.card.username.toLowerCase() === handle.toLowerCase());
  if (!hit) return undefined;
  const { full_name, profile_pic_url, follower_count, engagement_rate } = hit._source.card;
  return {
    name: full_name,
    pictureUrl: profile_pic_url,
    followers: follower_count,
    engagementRate: engagement_rate,
  };
}

const ProvidedProfile = z.object({
  name: z.string().trim().max(200).nullish(),
  picture_url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .nullish(),
  followers: z.number().int().min(0).nullish(),
});

/** `GET {PROFILE_PROVIDER_URL}/profiles/{platform}/{handle}`, if configured. */
async function askProvider(
  { config }: Context,
  platform: HandlePlatform,
  handle: string,
): Promise<Profile | undefined> {
  const { profileProviderUrl: base, profileProviderToken: token } = config;
  if (base === undefined) return undefined;
  const profile = await getJson({
    url: new URL(`${base.replace(/\/$/, '')}/profiles/${platform}/${encodeURIComponent(handle)}`),
    name: 'The profile provider',
    shape: ProvidedProfile,
    token,
    timeoutMs: PROVIDER_TIMEOUT_MS,
    maxBytes: PROVIDER_MAX_BYTES,
  });
  if (!profile) return undefined;
  const { name, picture_url, followers } = profile;
  return { name: name || null, pictureUrl: picture_url ?? null, followers: followers ?? null, engagementRate: null };
}

/** A handle's profile from the first source that knows it. A source that fails counts as not knowing it. */
async function readProfile(context: Context, platform: HandlePlatform, handle: string): Promise<Profile | undefined> {
  const sources = [
    () => (platform === 'photo_app' ? readDirectory(context, handle) : Promise.resolve(undefined)),
    () => askProvider(context, platform, handle),
  ];
  for (const readSource of sources) {
    const profile = await readSource().catch((error: unknown) => {
      context.failures.failed('reading a profile', error, { platform });
      return undefined;
    });
    if (profile) return profile;
  }
  return undefined;
}

/** The values of a creator's public profiles, as columns; unknown values are absent. */
export type ProfileColumns = Partial<
  Pick<CreatorRow, 'name' | 'pfpUrl' | 'igFollowers' | 'ttFollowers' | 'engagementRate' | 'profiledAt'>
>;

/** Makes outside calls, so it must not run within a transaction. A creator is profiled once every handle is known. */
export async function lookUpProfile(
  context: Context,
  { igHandle, ttHandle }: Omit<Identity, 'email'>,
): Promise<ProfileColumns> {
  const [ig, tt] = await Promise.all([
    igHandle === null ? undefined : readProfile(context, 'photo_app', igHandle),
    ttHandle === null ? undefined : readProfile(context, 'video_app', ttHandle),
  ]);
  const isComplete = (igHandle === null || ig !== undefined) && (ttHandle === null || tt !== undefined);
  return omitUndefined({
    name: ig?.name ?? tt?.name ?? undefined,
    pfpUrl: ig?.pictureUrl ?? tt?.pictureUrl ?? undefined,
    igFollowers: ig?.followers ?? undefined,
    ttFollowers: tt?.followers ?? undefined,
    engagementRate: ig?.engagementRate ?? tt?.engagementRate ?? undefined,
    profiledAt: isComplete ? context.clock.now() : undefined,
  });
}

async function profile(context: Context, creator: CreatorRow): Promise<void> {
  const { postgres, clock } = context;
  const columns = await lookUpProfile(context, creator);
  await postponeProfile(postgres.db, creator, clock.now());
  if (Object.keys(columns).length === 0) return;
  const actor = { brandId: creator.brandId, keyId: null, operation: 'profile_creator', requestId: null };
  await inWork(postgres.db, clock, actor, async ({ db, now, audit }) => {
    const row = await updateProfile(db, creator, { ...columns, updatedAt: now });
    if (row) audit({ resourceId: row.id, old: creator, new: row });
  });
}

export const profileCreators = claimedWork({
  name: 'profile-creators',
  everyMs: 5_000,
  asksFor: 'creators whose profile is not known yet',
  places: 10,
  due: selectUnprofiled,
  doing: 'looking up a creator',
  run: profile,
});

/** Looks up creators as soon as they join the roster, not at the next sweep. */
export const profileConsumer: EventConsumer = {
  name: 'profiles',
  open: (context) => async (events) => {
    if (events.some(({ event }) => event === 'roster.creator_added')) await profileCreators.run(context);
  },
};
