import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isbot } from 'isbot';
import { base62, randomBase62, timeText } from '../values/ids.ts';
import { REPEAT_WINDOW_MS } from './queries.ts';
import type { ClickKind } from './row.ts';
import { whole } from './text.ts';

export type Device = 'mobile' | 'tablet' | 'desktop' | 'bot';

const COOKIE = 'rollcall_visitor';
/** When it was given, so that order is by time, what its holder was noted as before they had it, and some random bits. */
const TIME_CHARACTERS = 8;
const NOTE_CHARACTERS = 12;
const RANDOM_CHARACTERS = 2;
const COOKIE_CHARACTERS = TIME_CHARACTERS + NOTE_CHARACTERS + RANDOM_CHARACTERS;
const COOKIE_SENT = new RegExp(`(?:^|; ?)${COOKIE}=([0-9A-Za-z]{${COOKIE_CHARACTERS}})(?:;|$)`);
const COOKIE_SECONDS = 365 * 24 * 3600;

/** Set by the networks in front of us; the first that is there counts. */
const COUNTRY_HEADERS = ['cf-ipcountry', 'x-vercel-ip-country', 'cloudfront-viewer-country', 'x-country-code'] as const;
const COUNTRY = /^[A-Z]{2}$/;
type PurposeHeader = 'sec-purpose' | 'purpose' | 'x-purpose' | 'x-moz';

/** All that is read of a request's headers. */
export type VisitHeaders = Pick<IncomingHttpHeaders, 'cookie' | 'user-agent' | 'referer'> & {
  [name in PurposeHeader | (typeof COUNTRY_HEADERS)[number]]?: string | string[] | undefined;
};

/** Cloudflare's word for "not known". */
const NO_COUNTRY = 'XX';

/** Browsers within apps write the system a second time, after what tells a phone. */
const TABLET = /iPad|Tablet|PlayBook|Silk|Kindle|^(?!.*Mobile).*Android/i;
const MOBILE = /Mobi|iPhone|iPod|Android|Opera Mini|IEMobile/i;

const HOST = /^https?:\/\/(?:[^/?#@]*@)?([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\.?(?=[:/?#]|$)/i;

const KNOWN_AGENTS = 10_000;
const MAX_AGENT_LENGTH = 512;
/** Emptied when it is full: what comes often is soon in it again, and an order by use is kept at every click. */
const deviceOfAgent = new Map<string, Device>();

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
  if (deviceOfAgent.size === KNOWN_AGENTS) deviceOfAgent.clear();
  deviceOfAgent.set(whole(agent), device);
  return device;
}

function isPrefetch(headers: VisitHeaders): boolean {
  const purpose = headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'];
  return typeof purpose === 'string' && /^(?:prefetch|prerender|preview)/i.test(purpose);
}

export function countryOf(headers: VisitHeaders): string {
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
const noteOf = (digest: string): string => digest.slice(0, NOTE_CHARACTERS);

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

type Holder = Pick<Visit, 'visitor' | 'knownAs' | 'setCookie'>;

export interface Asked {
  atMs: number;
  method: string | undefined;
  headers: VisitHeaders;
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

  /** Without a cookie: by address and browser. The cookie says so itself, for their next click may come from elsewhere. */
  function strangerOf({ atMs, address }: Asked, agent: string): Holder {
    const digest = digestOf(`a${address} ${agent}`);
    const note = noteOf(digest);
    const cookie = timeText(atMs) + note + randomBase62(RANDOM_CHARACTERS);
    return { visitor: numberOf(digest), knownAs: [note], setCookie: `${COOKIE}=${cookie}${attributes}` };
  }

  function holderOf(cookie: string, atMs: number): Holder {
    const digest = digestOf(`c${cookie}`);
    const before = cookie.slice(TIME_CHARACTERS, TIME_CHARACTERS + NOTE_CHARACTERS);
    const knownAs = isYoung(cookie, atMs) ? [noteOf(digest), before] : [noteOf(digest)];
    return { visitor: numberOf(digest), knownAs, setCookie: undefined };
  }

  return (asked) => {
    const { headers, atMs } = asked;
    const cookie = headers.cookie === undefined ? undefined : COOKIE_SENT.exec(headers.cookie)?.[1];
    const agent = headers['user-agent'] ?? '';
    const device = deviceOf(agent);
    const { visitor, knownAs, setCookie } = cookie === undefined ? strangerOf(asked, agent) : holderOf(cookie, atMs);
    return {
      kind: kindOf(asked, device),
      visitor,
      knownAs,
      setCookie,
      country: asked.isTrusted ? countryOf(headers) : '',
      device,
      referrerHost: referrerHostOf(headers.referer),
    };
  };
}
