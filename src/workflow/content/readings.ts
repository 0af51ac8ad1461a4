import { z } from 'zod';
import { callJson } from '../../kit/engines/http/client.ts';
import type { Config } from '../../kit/values/config.ts';
import { unavailable } from '../../kit/values/errors.ts';

const NAME = 'The content provider';
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;

const count = z
  .number()
  .int()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER)
  .nullish()
  .transform((value) => value ?? null);

const Reading = z.object({
  type: z.string().max(50).nullish(),
  views: count,
  likes: count,
  comments: count,
  shares: count,
  saves: count,
  followers: count,
  caption: z
    .string()
    .nullish()
    .transform((text) => text?.slice(0, 5_000) ?? null),
  posted_at: z.iso
    .datetime({ offset: true })
    .nullish()
    .transform((text) => (text ? new Date(text) : null)),
  paid_partnership: z
    .boolean()
    .nullish()
    .transform((value) => value ?? null),
});
export type ProvidedReading = z.output<typeof Reading>;

/**
 * A post's current state: `GET {CONTENT_PROVIDER_URL}/posts?platform=&url=`. Undefined if the post is gone (404). If
 * the provider does not answer as documented, throws SERVICE_UNAVAILABLE.
 */
export async function readPost(config: Config, base: string, post: { platform: string; url: string }) {
  const url = new URL(`${base.replace(/\/$/, '')}/posts`);
  url.searchParams.set('platform', post.platform);
  url.searchParams.set('url', post.url);
  const headers =
    config.contentProviderToken === undefined ? {} : { authorization: `Bearer ${config.contentProviderToken}` };
  const call = { url, name: NAME, method: 'GET' as const, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
  const { status, body } = await callJson(call);
  if (status === 404) return undefined;
  const reading = status === 200 ? Reading.safeParse(body) : undefined;
  if (!reading?.success)
    throw unavailable(NAME, new Error(`${NAME} answered ${status}: ${reading?.error.message ?? ''}`));
  return reading.data;
}

const YOUTUBE = 'YouTube';
const PARTS = 'snippet,statistics,paidProductPlacementDetails';
/** The maximum number of videos per call. A call costs one of the day's 10,000 units, however many it reads. */
export const VIDEOS_AT_ONCE = 50;

/** YouTube writes counts as text, and omits those that the channel hides. */
const countText = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number)
  .nullish()
  .transform((value) => value ?? null);

const Videos = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      snippet: z.object({ title: z.string(), publishedAt: z.iso.datetime({ offset: true }) }),
      statistics: z.object({ viewCount: countText, likeCount: countText, commentCount: countText }),
      paidProductPlacementDetails: z.object({ hasPaidProductPlacement: z.boolean() }).optional(),
    }),
  ),
});

/** The current state of YouTube videos by id, from one call of `videos.list`. Deleted and private ones are missing. */
export async function readVideos(config: Config, ids: readonly string[]): Promise<Map<string, ProvidedReading>> {
  const url = new URL(`${config.youtubeApiUrl.replace(/\/$/, '')}/videos`);
  url.searchParams.set('part', PARTS);
  url.searchParams.set('id', ids.join(','));
  url.searchParams.set('maxResults', String(VIDEOS_AT_ONCE));
  const headers = { 'x-goog-api-key': config.youtubeApiKey ?? '' };
  const call = { url, name: YOUTUBE, method: 'GET' as const, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
  const { status, body } = await callJson(call);
  const videos = status === 200 ? Videos.safeParse(body) : undefined;
  if (!videos?.success)
    throw unavailable(YOUTUBE, new Error(`${YOUTUBE} answered ${status}: ${videos?.error.message ?? ''}`));
  return new Map(
    videos.data.items.map((video) => [
      video.id,
      {
        views: video.statistics.viewCount,
        likes: video.statistics.likeCount,
        comments: video.statistics.commentCount,
        shares: null,
        saves: null,
        followers: null,
        type: null,
        caption: video.snippet.title.slice(0, 5_000),
        posted_at: new Date(video.snippet.publishedAt),
        paid_partnership: video.paidProductPlacementDetails?.hasPaidProductPlacement ?? null,
      },
    ]),
  );
}
