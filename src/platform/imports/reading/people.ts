import { domainToASCII } from 'node:url';
import addressparser from 'nodemailer/lib/addressparser';
import {
  parseHandleAddress,
  readHandle as readHandleOn,
  withoutOrnaments,
} from '../../../kit/values/handle-address.ts';
import { isPlaceholder } from './cells.ts';

/** Addresses as PostgreSQL and mail servers hold them: no blanks, a domain with a dot. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[^\s@]{1,253}$/;
const PLAIN = /^[a-z0-9._%+-]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}$/;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/;

function cleanAddress(address: string): string | undefined {
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1).replace(/\.+$/, ''));
  const clean = `${address.slice(0, at)}@${domain}`.toLowerCase();
  return ADDRESS.test(clean) && DOMAIN.test(domain) ? clean : undefined;
}

/** The first address of a cell such as `Ana <m1@creators.example>` or `mailto:m1@creators.example`, in lower case. */
export function readEmail(text: string): string | undefined {
  if (PLAIN.test(text)) return text;
  if (!text.includes('@') || text.length > 1_000) return undefined;
  const bare = text.replace(/mailto:/gi, '').replace(/[;\r\n]+/g, ',');
  const direct = ADDRESS.test(bare.trim()) ? [{ address: bare.trim() }] : addressparser(bare, { flatten: true });
  for (const { address } of direct) {
    const clean = address === '' ? undefined : cleanAddress(address);
    if (clean !== undefined) return clean;
  }
  return undefined;
}

const HANDLE = /^[a-z0-9_.]{1,30}$/;
/** An address of any host with a path. */
const ADDRESS_WITH_PATH = /^(?:https?:\/\/)?[^\s/@]+\.[a-z]{2,}\/\S/i;

const PLATFORMS = { photo_app: 'instagram', video_app: 'tiktok', stream_app: 'other', other: 'other' } as const;

/** The platform of a profile's address; undefined for a handle without one. */
export function readPlatform(text: string): 'instagram' | 'tiktok' | 'other' | undefined {
  const plainText = withoutOrnaments(text).trim();
  const address = parseHandleAddress(plainText);
  if (address) return PLATFORMS[address.platform];
  return ADDRESS_WITH_PATH.test(plainText) ? 'other' : undefined;
}

/** `mia.one` of `@Mia.One` or of a profile's address; undefined for what cannot be a handle on Instagram or TikTok. */
export function readHandle(text: string): string | undefined {
  const plainText = withoutOrnaments(text).trim();
  const platform = parseHandleAddress(plainText)?.platform === 'video_app' ? 'video_app' : 'photo_app';
  const reading = readHandleOn(plainText, platform);
  const handle = 'handle' in reading ? reading.handle.toLowerCase() : '';
  return HANDLE.test(handle) && !handle.endsWith('.') ? handle : undefined;
}

/** Several codes, tags or ids of a cell. */
export function readList(text: string): string[] {
  const parts = text.split(/[,;|\r\n]+/).map((part) =>
    part
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .trim(),
  );
  return [...new Set(parts.filter((part) => part !== ''))];
}

/** Several codes of a cell, each as long as a code may be. */
export const readCodes = (text: string): string[] =>
  readList(text).flatMap((code) => (isPlaceholder(code) ? [] : [code.slice(0, 200)]));

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  szlig: 'ß',
};
/** The marks of letters such as `&ouml;`. */
const ENTITY_MARKS: Readonly<Record<string, string>> = {
  grave: '\u0300',
  acute: '\u0301',
  circ: '\u0302',
  tilde: '\u0303',
  uml: '\u0308',
  ring: '\u030a',
  caron: '\u030c',
  cedil: '\u0327',
};

/** A name as its page shows it: `J&ouml;rg &amp; Co` is Jörg & Co. */
export function readEntities(text: string): string {
  if (!text.includes('&')) return text;
  const read = (whole: string, name: string): string => {
    if (name.startsWith('#')) {
      const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
      return code > 31 && code < 0x110000 ? String.fromCodePoint(code) : whole;
    }
    const [, letter = '', mark = ''] = /^([a-z])([a-z]+)$/i.exec(name) ?? [];
    const accent = ENTITY_MARKS[mark];
    return ENTITIES[name] ?? (accent === undefined ? whole : (letter + accent).normalize('NFC'));
  };
  return text.replace(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/gi, read);
}

export function joinNames(first: string, last: string): string {
  return [first, last].filter((part) => part !== '').join(' ');
}
