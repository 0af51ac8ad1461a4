import type { Body } from '../call/call.ts';
import { everyOf } from '../kit/every.ts';
import type { Field, Values } from '../kit/form.tsx';

type Platform = NonNullable<Body<'create_brief'>['platform']>;
export const PLATFORMS = everyOf<Platform>()(['photo_app', 'video_app', 'stream_app']);
const NAMES: Readonly<Record<Platform, string>> = {
  photo_app: 'Instagram',
  video_app: 'TikTok',
  stream_app: 'YouTube',
};
/** What people call a platform. */
export function platformName(platform: string | null | undefined): string {
  const known = PLATFORMS.find((one) => one === platform);
  return known ? NAMES[known] : (platform ?? '–');
}

/** A post's address without its host, which the platform's name says. */
export const postName = (url: string) =>
  (URL.canParse(url) ? new URL(url).pathname.replace(/^\/|\/$/g, '') : '') || url;

const OR_NONE = ['none', ...PLATFORMS] as const;

export const platformField = (name: string, platform: string | null | undefined): Field => ({
  ...{ name, label: 'Platform', kind: 'select', value: platform ?? 'none' },
  options: OR_NONE.map((one) => [one, one === 'none' ? 'Not specified' : platformName(one)]),
});

export function platformIn(values: Values, name: string): Platform | null {
  const platform = values.choice(name, OR_NONE);
  return platform === 'none' ? null : platform;
}
