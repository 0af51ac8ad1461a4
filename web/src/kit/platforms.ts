import type { Body } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { words } from './format.ts';

type Platform = NonNullable<Body<'create_brief'>['platform']>;
export const PLATFORMS = listChoices('create_brief', 'platform');
const NAMES: Readonly<Record<Platform, string>> = {
  photo_app: 'Instagram',
  video_app: 'TikTok',
  stream_app: 'YouTube',
};
/** The platform's public name. */
export function platformName(platform: string | null | undefined): string {
  const knownPlatform = PLATFORMS.find((one) => one === platform);
  return knownPlatform ? NAMES[knownPlatform] : (platform ?? '–');
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
  ['youtu.be', 'YouTube'],
  ['google.com', 'Google'],
  ['bing.com', 'Bing'],
  ['duckduckgo.com', 'DuckDuckGo'],
  ['facebook.com', 'Facebook'],
  ['messenger.com', 'Messenger'],
  ['whatsapp.com', 'WhatsApp'],
  ['threads.net', 'Threads'],
  ['threads.com', 'Threads'],
  ['t.co', 'X'],
  ['x.com', 'X'],
  ['twitter.com', 'X'],
  ['pinterest.com', 'Pinterest'],
  ['pin.it', 'Pinterest'],
  ['reddit.com', 'Reddit'],
  ['snapchat.com', 'Snapchat'],
  ['linkedin.com', 'LinkedIn'],
  ['lnkd.in', 'LinkedIn'],
  ['twitch.tv', 'Twitch'],
  ['substack.com', 'Substack'],
  ['linktr.ee', 'Linktree'],
  ['beacons.ai', 'Beacons'],
] as const;
/** The site of a host by its name, else the host without `www.`. */
export const siteName = (host: string): string =>
  SITES.find(([end]) => host === end || host.endsWith(`.${end}`))?.[1] ?? host.replace(/^www\./, '');

/** The same, with the host where a site has several, such as "Instagram (l.instagram.com)". */
export function siteTitle(host: string): string {
  const name = siteName(host);
  return host.endsWith(name) ? name : `${name} (${host})`;
}
