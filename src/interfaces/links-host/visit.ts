import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';
import { base62, randomBase62, timeText } from '../../kit/values/ids.ts';
import {
  type ClickKind,
  type Device,
  detectAgent,
  type FetchHeaders,
  isEmbedded,
  isPrefetch,
  type PurposeHeaders,
} from '../../kit/values/visitor.ts';
import { REPEAT_WINDOW_MS } from './waiting-clicks.ts';

const COOKIE = 'rollcall_visitor';
/** An id begins with its time, so that ids sort by time; the fingerprint of its visitor before they had it and some random bits follow. */
const TIME_CHARACTERS = 8;
const FINGERPRINT_CHARACTERS = 12;
const RANDOM_CHARACTERS = 2;
const COOKIE_CHARACTERS = TIME_CHARACTERS + FINGERPRINT_CHARACTERS + RANDOM_CHARACTERS;
const COOKIE_VALUE = new RegExp(`^[0-9A-Za-z]{${COOKIE_CHARACTERS}}$`);
const HEX = /^[0-9a-f]+$/;
const COOKIE_SECONDS = 365 * 24 * 3600;

function readCookie(header: string | undefined): string | undefined {
  const value = header === undefined ? undefined : parseCookie(header)[COOKIE];
  return value !== undefined && COOKIE_VALUE.test(value) ? value : undefined;
}

/** Set by the networks in front of us; the first that is there counts. */
const COUNTRY_HEADERS = ['cf-ipcountry', 'x-vercel-ip-country', 'cloudfront-viewer-country', 'x-country-code'] as const;
const COUNTRY = /^[A-Z]{2}$/;
/** The request headers that are read. */
export type VisitHeaders = Pick<IncomingHttpHeaders, 'cookie' | 'user-agent' | 'referer'> &
  PurposeHeaders &
  FetchHeaders & {
    [name in (typeof COUNTRY_HEADERS)[number]]?: string | string[] | undefined;
  };

/** Cloudflare's word for "not known". */
const NO_COUNTRY = 'XX';

const HOST = /^https?:\/\/(?:[^/?#@]*@)?([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\.?(?=[:/?#]|$)/i;

export function readCountry(headers: VisitHeaders): string {
  for (const name of COUNTRY_HEADERS) {
    const country = headers[name];
    if (typeof country === 'string') return COUNTRY.test(country) && country !== NO_COUNTRY ? country : '';
  }
  return '';
}

export const readReferrerHost = (referrer: string | undefined): string =>
  referrer === undefined ? '' : (HOST.exec(referrer)?.[1]?.toLowerCase() ?? '');

const toNumber = (hex: string): string => Number.parseInt(hex, 16).toString();

/** 48 bits: of 100,000 visitors of a link within the window, two are alike with odds of 1 in 50,000. */
const toFingerprint = (digest: string): string => digest.slice(0, FINGERPRINT_CHARACTERS);

/** Facts of the click, without any name or address. */
export interface Visit {
  /** `counted` may still turn out a repeat. */
  kind: Exclude<ClickKind, 'repeat'>;
  /** 48 bits of a keyed hash, as a number's text: the same before and after the visitor has the cookie. */
  visitor: string;
  /** All they may be known as within the window of a repeat, before and after. */
  knownAs: readonly string[];
  /** The cookie to set. */
  setCookie: string | undefined;
  country: string;
  device: Device;
  /** The rule that decided if it is a program. */
  rule: string;
  referrerHost: string;
}

type Visitor = Pick<Visit, 'visitor' | 'knownAs' | 'setCookie'>;

export interface VisitRequest {
  atMs: number;
  method: string | undefined;
  headers: VisitHeaders;
  address: string;
  /** True if who sent it may tell the visitor's country. */
  isTrusted: boolean;
}

function classifyVisit({ method, headers }: VisitRequest, device: Device): Visit['kind'] {
  if (method === 'HEAD') return 'head';
  if (isPrefetch(headers)) return 'prefetch';
  if (isEmbedded(headers)) return 'embedded';
  return device === 'bot' ? 'bot' : 'counted';
}

/** Reads visits. `key` is the installation's for visitors; the cookie is `Secure` where links are https. */
export function openVisits(key: Buffer, isSecure: boolean): (request: VisitRequest) => Visit {
  const keyText = key.toString('base64url');
  const attributes = { path: '/', maxAge: COOKIE_SECONDS, httpOnly: true, sameSite: 'lax', secure: isSecure } as const;

  // A key before the text is a MAC with this hash; see token.ts.
  const hashVisitor = (known: string) => hash('sha512-256', keyText + known, 'hex');

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
  function toAnonymousVisitor({ atMs, address }: VisitRequest, agent: string): Visitor {
    const digest = hashVisitor(`a${address} ${agent}`);
    const fingerprint = toFingerprint(digest);
    const value = timeText(atMs) + fingerprint + randomBase62(RANDOM_CHARACTERS);
    const setCookie = stringifySetCookie({ name: COOKIE, value, ...attributes });
    return { visitor: toNumber(fingerprint), knownAs: [fingerprint], setCookie };
  }

  function toKnownVisitor(cookie: string, atMs: number): Visitor {
    const digest = hashVisitor(`c${cookie}`);
    const before = cookie.slice(TIME_CHARACTERS, TIME_CHARACTERS + FINGERPRINT_CHARACTERS);
    // Only we write fingerprints, but anyone can send a cookie.
    const visitor = toNumber(HEX.test(before) ? before : toFingerprint(digest));
    const knownAs = isYoung(cookie, atMs) ? [toFingerprint(digest), before] : [toFingerprint(digest)];
    return { visitor, knownAs, setCookie: undefined };
  }

  return (request) => {
    const { headers, atMs } = request;
    const cookie = readCookie(headers.cookie);
    const agent = headers['user-agent'] ?? '';
    const { device, rule } = detectAgent(agent);
    const { visitor, knownAs, setCookie } =
      cookie === undefined ? toAnonymousVisitor(request, agent) : toKnownVisitor(cookie, atMs);
    return {
      kind: classifyVisit(request, device),
      visitor,
      knownAs,
      setCookie,
      country: request.isTrusted ? readCountry(headers) : '',
      device,
      rule,
      referrerHost: readReferrerHost(headers.referer),
    };
  };
}
