import type { PLATFORMS } from './platforms.ts';
import { withoutUnseen } from './text.ts';

export type HandlePlatform = (typeof PLATFORMS)[number];

/** An address at a platform: of a profile, or of something else there, which has no handle. */
interface HandleAddress {
  platform: HandlePlatform | 'other';
  handle: string | null;
}

/** A handle, or the reason why the text is none for this platform. */
type HandleReading =
  | { handle: string }
  | { problem: 'not_a_profile' }
  | { problem: 'other_platform'; platform: HandlePlatform | 'other' };

const HOSTS: ReadonlyMap<string, HandlePlatform | 'other'> = new Map([
  ['instagram.com', 'photo_app'],
  ['instagr.am', 'photo_app'],
  ['ig.me', 'photo_app'],
  ['tiktok.com', 'video_app'],
  ['youtube.com', 'stream_app'],
  ['youtu.be', 'stream_app'],
  ...['facebook.com', 'fb.com', 'threads.net', 'threads.com', 'twitter.com', 'x.com', 'snapchat.com', 'twitch.tv'].map(
    (host): [string, 'other'] => [host, 'other'],
  ),
  ...['pinterest.com', 'linkedin.com'].map((host): [string, 'other'] => [host, 'other']),
]);

/** Subdomains that show the same pages; others, such as `vm.` and `help.`, show no profiles. */
const SAME_PAGES: ReadonlySet<string> = new Set(['', 'www', 'm', 'mobile', 'web']);
const SHORT_HOSTS: ReadonlySet<string> = new Set(['ig.me', 'youtu.be']);

/** Instagram's own pages, whose names no profile can have. */
const RESERVED: ReadonlySet<string> = new Set(
  [
    'p reel reels tv s explore accounts direct about legal developer developers press api graphql oauth emails session',
    'challenge web share stories _u _n download directory archive ads your_activity location locations tags topics',
    'hashtag lite login signup privacy terms ar nametag qr channels audio live igtv popular invites create',
  ]
    .join(' ')
    .split(' '),
);
const HANDLE = /^(?![.-]*$)[\w.-]{1,50}$/;
/** Parts of a path before a handle, as apps and emails write its address. */
const BEFORE_HANDLE: ReadonlySet<string> = new Set(['_u', 'n', 'u']);
/** Parts of a path after a handle that show one post instead of the profile. */
const POSTS: ReadonlySet<string> = new Set(['p', 'reel', 'tv', 'video', 'photo']);

/** A host with a path, a query or nothing behind it. */
const ADDRESS = /^(?:https?:)?(?:\/\/)?((?:[a-z0-9-]+\.)+[a-z]{2,})\.?(?::\d+)?(?:([/?#].*))?$/is;

/** Decoration beside a handle: emoji, and characters that nobody sees. */
const ORNAMENTS =
  /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\p{Default_Ignorable_Code_Point}/gu;
export const withoutOrnaments = (text: string): string => withoutUnseen(text).replace(ORNAMENTS, '');

const ASCII = /^[\x20-\x7e]*$/;
/** Letters, digits and signs in full width or in another style, which a platform shows but takes in no handle. */
const STYLED = /[\p{L}\p{Nd}\uff01-\uff5e]/gu;
/** What people copy along with an address or a handle: quotes, brackets, the comma behind it. */
const WRAPPING = /^[\s<([{"'`*“”„‘’«‹]+|[\s>)\]}"'`*“”„‘’»›,;]+$/g;
/** A link in Markdown, and the address by which the app opens a profile. */
const MARKDOWN = /^\s*\[[^\]]*\]\((\S+?)\)\s*$/;
const APP_ADDRESS = /^instagram:\/\/user\?username=/i;
const toPlainLetters = (text: string): string =>
  ASCII.test(text) ? text : withoutOrnaments(text).replace(STYLED, (letter) => letter.normalize('NFKC'));
const unwrap = (text: string): string =>
  toPlainLetters(text).replace(MARKDOWN, '$1').replace(WRAPPING, '').replace(APP_ADDRESS, 'instagram.com/');

/** Neither platform has a handle that ends with a period: it ends a sentence. */
const withoutPeriod = (name: string): string => name.replace(/\.+$/, '');

function readInstagram(parts: readonly string[]): string | null {
  const [first = '', second = ''] = parts;
  const isInside = second !== '' && (BEFORE_HANDLE.has(first) || (first === 'stories' && second !== 'highlights'));
  const [name = '', next = ''] = isInside ? parts.slice(1) : parts;
  if (!isInside && POSTS.has(next)) return null;
  const handle = withoutPeriod(name.replace(/^@/, ''));
  return HANDLE.test(handle) && !RESERVED.has(handle.toLowerCase()) ? handle : null;
}

/** TikTok's pages of its own have no @. */
function readTikTok([name = '', next = '']: readonly string[]): string | null {
  const handle = withoutPeriod(name.slice(1));
  return name.startsWith('@') && !POSTS.has(next) && HANDLE.test(handle) ? handle : null;
}

function readYouTube([name = '', second = '']: readonly string[]): string | null {
  const handle = name.startsWith('@') ? name.slice(1) : name === 'c' || name === 'user' ? second : '';
  return HANDLE.test(handle) ? handle : null;
}

const READERS = { photo_app: readInstagram, video_app: readTikTok, stream_app: readYouTube, other: () => null };

/** A part of a path that is not encoded correctly stays as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Reads a profile's address as people copy it, with or without scheme, slash and query. Undefined if the text is no
 * address at a platform, such as the handle `ana.com`.
 */
export function parseHandleAddress(text: string): HandleAddress | undefined {
  const [, host = '', path = ''] = ADDRESS.exec(unwrap(text).replace(/^@(?=.*\/)/s, '')) ?? [];
  const labels = host.toLowerCase().split('.');
  const domain = labels.slice(-2).join('.');
  const platform = HOSTS.get(domain);
  if (!platform || (platform === 'other' && path === '')) return undefined;
  const isProfile = SAME_PAGES.has(labels.slice(0, -2).join('.')) && !SHORT_HOSTS.has(domain);
  const parts = path
    .replace(/[?#].*$/s, '')
    .split('/')
    .map((part) => decode(part).trim())
    .filter(Boolean);
  return { platform, handle: isProfile ? READERS[platform](parts) : null };
}

/** The handle that the text means on a platform: itself, without the leading @, or the one in a profile's address. */
export function readHandle(text: string, platform: HandlePlatform): HandleReading {
  const address = parseHandleAddress(text);
  // Several periods say that a handle was cut off.
  if (!address)
    return {
      handle: unwrap(text)
        .replace(/^@+/, '')
        .replace(/\/+$|(?<!\.)\.$/, ''),
    };
  if (address.platform !== platform) return { problem: 'other_platform', platform: address.platform };
  return address.handle === null ? { problem: 'not_a_profile' } : { handle: address.handle };
}
