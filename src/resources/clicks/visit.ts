import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import { base62, randomBase62 } from '../../ids.ts';
import { REPEAT_WINDOW_MS } from './queries.ts';
import type { ClickKind } from './row.ts';

export type Device = 'mobile' | 'tablet' | 'desktop' | 'bot';

const COOKIE = 'rollcall_visitor';
/** When it was given, so that order is by time, then 83 random bits. */
const TIME_CHARACTERS = 8;
const RANDOM_CHARACTERS = 14;
const COOKIE_SENT = new RegExp(`(?:^|; ?)${COOKIE}=([0-9A-Za-z]{${TIME_CHARACTERS + RANDOM_CHARACTERS}})(?:;|$)`);
const COOKIE_SECONDS = 365 * 24 * 3600;

/** Set by the networks in front of us; the first that is there counts. */
const COUNTRY_HEADERS = ['cf-ipcountry', 'x-vercel-ip-country', 'cloudfront-viewer-country', 'x-country-code'];
const COUNTRY = /^[A-Z]{2}$/;
/** Cloudflare's word for "not known". */
const NO_COUNTRY = 'XX';

const TABLET = /iPad|Tablet|PlayBook|Silk|Kindle|Android(?!.*Mobile)/i;
const MOBILE = /Mobi|iPhone|iPod|Android|Opera Mini|IEMobile/i;

const HOST = /^https?:\/\/(?:[^/?#@]*@)?([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\.?(?=[:/?#]|$)/i;

const KNOWN_AGENTS = 10_000;
const MAX_AGENT_LENGTH = 512;
const deviceOfAgent = new LRUCache<string, Device>({ max: KNOWN_AGENTS });

function readAgent(agent: string): Device {
  // No browser sends none.
  if (agent === '' || isbot(agent)) return 'bot';
  if (TABLET.test(agent)) return 'tablet';
  return MOBILE.test(agent) ? 'mobile' : 'desktop';
}

export function deviceOf(userAgent: string | undefined): Device {
  const agent = (userAgent ?? '').slice(0, MAX_AGENT_LENGTH);
  const known = deviceOfAgent.get(agent);
  if (known !== undefined) return known;
  const device = readAgent(agent);
  deviceOfAgent.set(agent, device);
  return device;
}

function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const purpose = headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'];
  return typeof purpose === 'string' && /^(?:prefetch|prerender|preview)/i.test(purpose);
}

export function countryOf(headers: IncomingHttpHeaders): string {
  for (const name of COUNTRY_HEADERS) {
    const country = headers[name];
    if (typeof country === 'string') return COUNTRY.test(country) && country !== NO_COUNTRY ? country : '';
  }
  return '';
}

export const referrerHostOf = (referrer: string | undefined): string =>
  referrer === undefined ? '' : (HOST.exec(referrer)?.[1]?.toLowerCase() ?? '');

const numberOf = (digest: string): string => BigInt(`0x${digest.slice(0, 16)}`).toString();

/** 48 bits: of 100,000 visitors of a link within the window, two are alike with odds of 1 in 50,000. */
const noteOf = (digest: string): string => digest.slice(0, 12);

/** What a request says of the click, none of it a name or an address. */
export interface Visit {
  /** `counted` may still turn out a repeat. */
  kind: Exclude<ClickKind, 'repeat'>;
  /** 64 bits of a keyed hash, as a number's text. */
  visitor: string;
  /** All they may be known as within the window of a repeat, before and after. */
  knownAs: readonly string[];
  /** The cookie to give them. */
  setCookie: string | undefined;
  country: string;
  device: Device;
  referrerHost: string;
}

export interface Asked {
  atMs: number;
  method: string | undefined;
  headers: IncomingHttpHeaders;
  address: string;
  /** Whether who sent it may tell the visitor's country. */
  isTrusted: boolean;
}

function kindOf({ method, headers }: Asked, device: Device): Visit['kind'] {
  if (method === 'HEAD') return 'head';
  if (isPrefetch(headers)) return 'prefetch';
  return device === 'bot' ? 'bot' : 'counted';
}

/** Reads visits. `key` is the installation's for visitors; the cookie is `Secure` where links are https. */
export function openVisits(key: Buffer, isSecure: boolean): (asked: Asked) => Visit {
  const keyText = key.toString('base64url');
  const attributes = `; Max-Age=${COOKIE_SECONDS}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

  // A key before the text is a MAC with this hash; see token.ts.
  const digestOf = (known: string) => hash('sha512-256', keyText + known, 'hex');

  /** The oldest cookie that a first click within the window may have been answered with, clocks a window apart. */
  let youngAtMs = Number.NaN;
  let young = '';
  function isYoung(cookie: string, atMs: number): boolean {
    if (atMs !== youngAtMs) {
      youngAtMs = atMs;
      young = base62(atMs - 2 * REPEAT_WINDOW_MS, TIME_CHARACTERS);
    }
    return cookie > young;
  }

  return (asked) => {
    const { headers, atMs } = asked;
    const cookie = headers.cookie === undefined ? undefined : COOKIE_SENT.exec(headers.cookie)?.[1];
    const agent = headers['user-agent'];
    const device = deviceOf(agent);
    const given = cookie ?? `${base62(atMs, TIME_CHARACTERS)}${randomBase62(RANDOM_CHARACTERS)}`;
    const holder = digestOf(`c${given}`);
    // Their first click came without the cookie, and their next one may come from another address.
    const isSettled = cookie !== undefined && !isYoung(cookie, atMs);
    const stranger = isSettled ? holder : digestOf(`a${asked.address} ${agent ?? ''}`);
    return {
      kind: kindOf(asked, device),
      visitor: numberOf(cookie === undefined ? stranger : holder),
      knownAs: isSettled ? [noteOf(holder)] : [noteOf(holder), noteOf(stranger)],
      setCookie: cookie === undefined ? `${COOKIE}=${given}${attributes}` : undefined,
      country: asked.isTrusted ? countryOf(headers) : '',
      device,
      referrerHost: referrerHostOf(headers.referer),
    };
  };
}
