import { z } from 'zod';
import platforms from './platforms.json' with { type: 'json' };

const Platforms = z.array(
  z.object({
    platform: z.enum(['photo_app', 'video_app', 'stream_app']),
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

interface Form {
  platform: 'photo_app' | 'video_app' | 'stream_app';
  path: RegExp;
  query: string | undefined;
  type: string;
  isShort: boolean;
}

const FORMS = new Map<string, Form[]>();
for (const { platform, hosts, posts } of Platforms.parse(platforms)) {
  for (const host of hosts) {
    FORMS.set(
      host,
      posts.map(({ path, query, type, short }) => ({ platform, path: new RegExp(path), query, type, isShort: short })),
    );
  }
}

export const SUPPORTED_HOSTS: readonly string[] = [...FORMS.keys()];

/** A post as it is known however its address is written. */
export interface Post {
  /** https, without `www.` or `m.`, a trailing slash or tracking parameters. */
  url: string;
  /** The platform's family of hosts and the post's id there. */
  key: string;
  platform: Form['platform'];
  type: string;
  /** A short link: it does not say which post it leads to. */
  isShort: boolean;
}

export type AddressProblem = 'not_an_address' | 'unsupported_platform' | 'not_a_post';

/** Names of one host: its links to a post lead to the same one. */
const FAMILY: Readonly<Record<string, string>> = { 'instagr.am': 'instagram.com', 'youtu.be': 'youtube.com' };

const hostOf = (url: URL) =>
  url.hostname
    .toLowerCase()
    .replace(/^(?:www|m|mobile)\./, '')
    .replace(/\.$/, '');

/** Reads a post's address, or says what is wrong with it. */
export function readPostAddress(text: string): Post | AddressProblem {
  const address = text.includes('://') ? text : `https://${text}`;
  if (!URL.canParse(address)) return 'not_an_address';
  const url = new URL(address);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return 'not_an_address';
  const host = hostOf(url);
  const forms = FORMS.get(host);
  if (!forms) return 'unsupported_platform';
  const path = url.pathname.replace(/\/+$/, '') || '/';
  for (const { path: pattern, query, ...form } of forms) {
    const found = pattern.exec(path);
    if (!found) continue;
    const id = query === undefined ? found[1] : url.searchParams.get(query);
    if (!id || !/^[\w-]{1,100}$/.test(id)) continue;
    const kept = query === undefined ? '' : `?${query}=${id}`;
    return { ...form, url: `https://${host}${path}${kept}`, key: `${FAMILY[host] ?? host}:${id}` };
  }
  return 'not_a_post';
}
