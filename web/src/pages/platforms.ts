import type { Body } from '../call/call.ts';
import { listEnum } from '../kit/every.ts';
import type { Field, Values } from '../kit/form.tsx';
import { words } from '../kit/format.ts';

type Platform = NonNullable<Body<'create_brief'>['platform']>;
export const PLATFORMS = listEnum<Platform>()(['photo_app', 'video_app', 'stream_app']);
const NAMES: Readonly<Record<Platform, string>> = {
  photo_app: 'Instagram',
  video_app: 'TikTok',
  stream_app: 'YouTube',
};
/** The platform's public name. */
export function platformName(platform: string | null | undefined): string {
  const known = PLATFORMS.find((one) => one === platform);
  return known ? NAMES[known] : (platform ?? '–');
}

/** A post's address without its host, which the platform's name says. */
export const postPath = (url: string) =>
  (URL.canParse(url) ? new URL(url).pathname.replace(/^\/|\/$/g, '') : '') || url;

interface Post {
  url: string;
  type: string | null;
  creator_name: string | null;
  creator_email: string | null;
}

/** A post by its kind and creator; by its address where nobody knows whose it is. */
export function postName({ url, type, creator_name, creator_email }: Post): string {
  const who = creator_name ?? creator_email;
  return who === null ? postPath(url) : `${type === null ? 'Post' : words(type)} by ${who}`;
}

/** Names of the sites that clicks come from, by the end of their host. */
const SITES = [
  ['instagram.com', 'Instagram'],
  ['tiktok.com', 'TikTok'],
  ['youtube.com', 'YouTube'],
  ['google.com', 'Google'],
] as const;
export const siteName = (host: string): string =>
  SITES.find(([end]) => host === end || host.endsWith(`.${end}`))?.[1] ?? host;

const OR_NONE = ['none', ...PLATFORMS] as const;

export const platformField = (name: string, platform: string | null | undefined): Field => ({
  name,
  label: 'Platform',
  kind: 'select',
  value: platform ?? 'none',
  options: OR_NONE.map((one) => [one, one === 'none' ? 'Not specified' : platformName(one)]),
});

export function platformIn(values: Values, name: string): Platform | null {
  const platform = values.choice(name, OR_NONE);
  return platform === 'none' ? null : platform;
}
