import { z } from 'zod';
import { callJson } from '../../engines/http/client.ts';
import type { Config } from '../../values/config.ts';
import { unavailable } from '../../values/errors.ts';

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
