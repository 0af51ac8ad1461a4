import { timingSafeEqual } from 'node:crypto';
import type { Config } from '../values/config.ts';
import { base62, readBase62 } from '../values/ids.ts';
import { keyedHash, type Secrets } from '../values/secrets.ts';

/** The pages that open by a link without a login: their name in the URL, and the character that encodes it in a token. */
const KINDS = {
  brief: 'b',
  sign: 'c',
  work: 'w',
  talk: 't',
  parcel: 'p',
  statement: 's',
  files: 'f',
  unsubscribe: 'u',
  enter: 'e',
  confirm: 'a',
  forget: 'o',
  me: 'm',
  payment: 'y',
} as const;

export type PageKind = keyof typeof KINDS;

/** The target of a link and its expiry. It is not stored. */
export interface PageLink {
  kind: PageKind;
  /** The row that the page shows, such as `ctr_…`. */
  rowId: string;
  /** The row's `link_version`. Incrementing it revokes all earlier links. */
  version: number;
  expiresAt: Date;
  /** The recipient of the link, if there are several, such as the creator that a brief was sent to. */
  holderId?: string | undefined;
}

export interface PageLinks {
  /** The token at the end of the page's URL. */
  signToken(link: PageLink): string;
  /** The page's URL on the links host. */
  urlOf(link: PageLink): string;
  /** The URL of a page of the web app on the links host, which redirects to it. */
  appUrlOf(page: string): string;
  /** Returns the target of a token; undefined if it is forged, expired or for another page. */
  read(kind: PageKind, token: string, now: Date): PageLink | undefined;
}

const ID = /^([a-z]{3})_([0-9A-Za-z]{20})$/;
const PACKED_ID = '[a-z]{3}[0-9A-Za-z]{20}';
const VERSION_CHARACTERS = 4;
const SECONDS_CHARACTERS = 6;
const MAC_BYTES = 16;
/** 62 ** 22 is more than 2 ** 128. */
const MAC_CHARACTERS = 22;

const TOKEN = new RegExp(
  `^(?<kind>[a-z])(?<version>[0-9A-Za-z]{${VERSION_CHARACTERS}})(?<seconds>[0-9A-Za-z]{${SECONDS_CHARACTERS}})` +
    `(?<row>${PACKED_ID})(?<holder>${PACKED_ID})?(?<mac>[0-9A-Za-z]{${MAC_CHARACTERS}})$`,
);

function packed(id: string): string {
  const [, prefix, rest] = ID.exec(id) ?? [];
  if (prefix === undefined || rest === undefined)
    throw new Error(`${JSON.stringify(id)} does not have the form of our ids.`);
  return prefix + rest;
}

const unpackId = (text: string) => `${text.slice(0, 3)}_${text.slice(3)}`;

/** Bytes as base62 text of a fixed width, most significant first. */
function toText(bytes: Buffer, width: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  while (text.length < width) {
    text = base62(Number(rest % 62n), 1) + text;
    rest /= 62n;
  }
  return text;
}

/** Versions increase by one; no row has its links revoked 14 million times. */
const MAX_VERSION = 62 ** VERSION_CHARACTERS - 1;
const MAX_SECONDS = 62 ** SECONDS_CHARACTERS - 1;

function fitting(value: number, most: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new Error(`${value} does not fit into a page's token.`);
}

/** Makes and reads links to pages without a login. A link contains what it opens, under the installation's MAC. */
export function openPageLinks({ linksUrl }: Pick<Config, 'linksUrl'>, secrets: Secrets): PageLinks {
  const key = secrets.key('page');
  const previous = secrets.previousKey('page');
  const computeMac = (body: string, by = key) => toText(keyedHash(by, body).subarray(0, MAC_BYTES), MAC_CHARACTERS);

  function signToken({ kind, rowId, version, expiresAt, holderId }: PageLink): string {
    // The latest expiry that fits is thousands of years away.
    const seconds = fitting(Math.min(Math.floor(expiresAt.getTime() / 1_000), MAX_SECONDS), MAX_SECONDS);
    const body =
      KINDS[kind] +
      base62(fitting(version, MAX_VERSION), VERSION_CHARACTERS) +
      base62(seconds, SECONDS_CHARACTERS) +
      packed(rowId) +
      (holderId === undefined ? '' : packed(holderId));
    return body + computeMac(body);
  }

  function read(kind: PageKind, token: string, now: Date): PageLink | undefined {
    const parts = TOKEN.exec(token)?.groups;
    if (!parts) return undefined;
    const { version = '', seconds = '', row = '', holder, mac = '' } = parts;
    const body = token.slice(0, -MAC_CHARACTERS);
    const isBy = (by: Buffer) => timingSafeEqual(Buffer.from(mac), Buffer.from(computeMac(body, by)));
    if (!(isBy(key) || (previous && isBy(previous))) || parts.kind !== KINDS[kind]) return undefined;
    const expiresAt = new Date(readBase62(seconds) * 1_000);
    if (expiresAt <= now) return undefined;
    const holderId = holder === undefined ? undefined : unpackId(holder);
    return { kind, rowId: unpackId(row), version: readBase62(version), expiresAt, holderId };
  }

  return {
    signToken,
    read,
    urlOf: (link) => `${linksUrl}/${link.kind}/${signToken(link)}`,
    appUrlOf: (page) => `${linksUrl}/app/${page}`,
  };
}
