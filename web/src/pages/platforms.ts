import type { Body } from '../call/call.ts';
import { everyOf } from '../kit/every.ts';
import type { Field, Values } from '../kit/form.tsx';
import { words } from '../kit/format.ts';

type Platform = NonNullable<Body<'create_brief'>['platform']>;
export const PLATFORMS = everyOf<Platform>()(['photo_app', 'video_app', 'stream_app']);
const OR_NONE = ['none', ...PLATFORMS] as const;

export const platformField = (name: string, platform: string | null | undefined): Field => ({
  ...{ name, label: 'Platform', kind: 'select', value: platform ?? 'none' },
  options: OR_NONE.map((one) => [one, one === 'none' ? 'Not specified' : words(one)]),
});

export function platformIn(values: Values, name: string): Platform | null {
  const platform = values.choice(name, OR_NONE);
  return platform === 'none' ? null : platform;
}
