import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { PLATFORMS } from '../../kit/values/platforms.ts';
import platforms from './platforms.json' with { type: 'json' };

/** A request within this time of the previous one does nothing. Scheduled readings do not count as requests. */
const COOL_DOWN_MS = HOUR_MS;

/** The time from which a refresh has an effect; null for any time. */
export function refreshAvailableAt(requestedAt: Date | null, now: Date): Date | null {
  if (requestedAt === null) return null;
  const at = new Date(requestedAt.getTime() + COOL_DOWN_MS);
  return at > now ? at : null;
}

/** The next scheduled reading: daily for 30 days, then weekly for 90. Null if there is none. */
export function nextRefreshAt(trackedAt: Date, now: Date): Date | null {
  const age = now.getTime() - trackedAt.getTime();
  if (age < 30 * DAY_MS) return new Date(now.getTime() + DAY_MS);
  if (age < 120 * DAY_MS) return new Date(now.getTime() + 7 * DAY_MS);
  return null;
}

export interface Reading {
  views: number | null;
  likes: number | null;
  comments: number | null;
  shares: number | null;
  saves: number | null;
  followers: number | null;
}

/** Rounded half to even, to two decimals. */
function roundHalfEven(numerator: number, denominator: number): number {
  const scaledNumerator = BigInt(numerator) * 10_000n;
  const divisor = BigInt(denominator);
  const whole = scaledNumerator / divisor;
  const twice = (scaledNumerator % divisor) * 2n;
  const up = twice > divisor || (twice === divisor && whole % 2n === 1n);
  return Number(up ? whole + 1n : whole) / 100;
}

/** In percent: engagements divided by views, or by followers if views are unknown or zero; null if neither is known. */
export function engagementRate({ views, likes, comments, shares, saves, followers }: Reading): number | null {
  const engagements = [likes, comments, shares, saves].filter((count) => count !== null);
  const reach = views || followers || 0;
  if (reach === 0 || engagements.length === 0) return null;
  return roundHalfEven(
    engagements.reduce((sum, count) => sum + count, 0),
    reach,
  );
}

const Platforms = z.array(
  z.object({
    platform: z.enum(PLATFORMS),
    hosts: z.array(z.string()),
    posts: z.array(
      z.object({
        path: z.string(),
        query: z.string().optional(),
        type: z.string(),
        short: z.boolean().default(false),
      }),
    ),
  }),
);

interface PostForm {
  platform: (typeof PLATFORMS)[number];
  path: RegExp;
  query: string | undefined;
  type: string;
  isShort: boolean;
}

const FORMS = new Map<string, PostForm[]>();
for (const { platform, hosts, posts } of Platforms.parse(platforms)) {
  for (const host of hosts) {
    FORMS.set(
      host,
      posts.map(({ path, query, type, short }) => ({ platform, path: new RegExp(path), query, type, isShort: short })),
    );
  }
}

export const SUPPORTED_HOSTS: readonly string[] = [...FORMS.keys()];

/** A post, identified however its URL is written. */
export interface Post {
  /** https, without `www.` or `m.`, a trailing slash or tracking parameters. */
  url: string;
  /** The platform's family of hosts and the post's id there. */
  key: string;
  platform: PostForm['platform'];
  type: string;
  /** A short link, which does not show the post that it leads to. */
  isShort: boolean;
}

export type AddressProblem = 'not_an_address' | 'unsupported_platform' | 'not_a_post';

/** Aliases of a host; its links to a post are equivalent. */
const FAMILY: Readonly<Record<string, string>> = { 'instagr.am': 'instagram.com', 'youtu.be': 'youtube.com' };

/** Parses a post's URL, or returns what is wrong with it. */
export function readPostAddress(text: string): Post | AddressProblem {
  const address = text.includes('://') ? text : `https://${text}`;
  if (!URL.canParse(address)) return 'not_an_address';
  const url = new URL(address);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return 'not_an_address';
  const host = url.hostname
    .toLowerCase()
    .replace(/^(?:www|m|mobile)\./, '')
    .replace(/\.$/, '');
  const forms = FORMS.get(host);
  if (!forms) return 'unsupported_platform';
  const path = url.pathname.replace(/\/+$/, '') || '/';
  for (const { path: pattern, query, ...form } of forms) {
    const match = pattern.exec(path);
    if (!match) continue;
    const id = query === undefined ? match[1] : url.searchParams.get(query);
    if (!id || !/^[\w-]{1,100}$/.test(id)) continue;
    const search = query === undefined ? '' : `?${query}=${id}`;
    return { ...form, url: `https://${host}${path}${search}`, key: `${FAMILY[host] ?? host}:${id}` };
  }
  return 'not_a_post';
}
