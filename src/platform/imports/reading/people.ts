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

const FULL_WIDTH = /[\uff01-\uff5e]/g;

/** Quotes, stars and commas that stand around an address and are none of it. */
const AROUND = /^[\s'"“”„‟‘’‚‹›«»`´*]+|[\s'"“”„‟‘’‚‹›«»`´*,;]+$/g;

/** Every address of a cell, in lower case; those that are none are left out. */
function listEmails(written: string): string[] {
  const plain = written.replace(FULL_WIDTH, (sign) => sign.normalize('NFKC'));
  const text = plain.includes('<') ? plain : plain.replace(AROUND, '');
  if (!text.includes('@') || text.length > 1_000) return [];
  const bare = text.replace(/mailto:/gi, '').replace(/[;\r\n]+/g, ',');
  const direct = ADDRESS.test(bare.trim()) ? [{ address: bare.trim() }] : addressparser(bare, { flatten: true });
  return direct.flatMap(({ address }) => (address === '' ? [] : (cleanAddress(address) ?? [])));
}

/** The first address of a cell such as `Ana <m1@creators.example>` or `mailto:m1@creators.example`, in lower case. */
export const readEmail = (text: string): string | undefined => (PLAIN.test(text) ? text : listEmails(text)[0]);

/** True if a cell has another address than the one that is read. */
export const hasSeveralEmails = (text: string): boolean => !PLAIN.test(text) && new Set(listEmails(text)).size > 1;

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

/** Words in place of a handle. A sign before them makes each the handle that it may be. */
const NO_HANDLES = new Set(
  `unknown unbekannt inconnu desconocido sconosciuto onbekend undefined no non nein nee nope none noneyet notyet nothing no_handle nohandle
   noinstagram notiktok noaccount noig dont_have donthave doesnthave private privat privateaccount pending same sameasabove sameasig
   sameasinstagram ditto idem deleted x xx xxx xxxx 0 00 na nil null empty blank missing tbd tba tbc todo soon comingsoon later
   notavailable unavailable notapplicable false true yes ja oui si instagram insta ig tiktok username handle`.split(
    /\s+/,
  ),
);

/** `unknown`, `no`, `pending` or `same` in place of a handle. */
export const isNoHandle = (text: string): boolean =>
  text.length < 24 && NO_HANDLES.has(text.toLowerCase().replace(/[\s'’".()!-]+/g, ''));

/** The strings and numbers of a list in JSON such as `["vip","skin care"]`; undefined for any other text. */
function readJsonList(text: string): string[] | undefined {
  if (!text.startsWith('[') || !text.endsWith(']')) return undefined;
  try {
    const items: unknown = JSON.parse(text);
    if (!Array.isArray(items)) return undefined;
    return items.flatMap((item) => (typeof item === 'string' || typeof item === 'number' ? [String(item).trim()] : []));
  } catch {
    return undefined;
  }
}

/** Lists as programs write them: `['vip', 'skin care']` and `{vip,"skin care"}`. */
const WRITTEN_LIST = /^\[(.*)\]$|^\{(.*)\}$/s;

/** Several codes, tags or ids of a cell. */
export function readList(text: string): string[] {
  const jsonItems = readJsonList(text.trim());
  const [, inBrackets, inBraces] = jsonItems ? [] : (WRITTEN_LIST.exec(text.trim()) ?? []);
  const written = inBrackets ?? inBraces;
  const parts =
    jsonItems ??
    (written ?? text).split(/[,;|\r\n]+/).map((part) => {
      const item = part
        .trim()
        .replace(/^"(.*)"$/, '$1')
        .trim();
      return written === undefined ? item : item.replace(/^'(.*)'$/, '$1').trim();
    });
  return [...new Set(parts.filter((part) => part !== ''))];
}

/** A code has what it takes off, or another one, beside it, how often it was used, or is an address. */
const MORE_THAN_CODE =
  /[%()]|:\/\/|@[^\s@]+\.|\?\w+=|^(?:use|codes?|coupon|gutschein)(?::\s*|\s+)\S|\s(?:[-–—/&+]|and|or|und|oder|et|ou|y|o|e)\s|\s[×x*]\s?\d+$|^\d+\s?[×x*]\s/i;

/** True of a text that is more than a code, which no store would know by that name. */
export const isMoreThanCode = (code: string): boolean => MORE_THAN_CODE.test(code);

/** The amount that a code took off, or how often, as exports of orders write it after the code: `ana10 (-10%)`, `ANA10 × 2`. */
const TAKEN_OFF =
  /^(\S+)(?:\s*\(\s*[-–−]?\s*\p{Sc}?\s?\d[\d.,]*\s*(?:%|\p{Sc}|[A-Z]{3})?\s*(?:off)?\s*\)|\s+[×x*]\s?\d+)$/iu;

/** Codes with their parts, as plugins of WooCommerce write them: `code:ANA10|amount:5.00;code:BEN5|amount:2.00`. */
const NAMED_CODE = /(?:^|[;,|\s])code:\s*([^|;,\r\n]+)/gi;

/** The codes of an order, without what is written of their use. */
export function readUsedCodes(text: string): string[] {
  const named = [...text.matchAll(NAMED_CODE)].map(([, code = '']) => code.trim()).filter((code) => code !== '');
  const codes = named.length > 0 ? named.flatMap(readCodes) : readCodes(text);
  return [...new Set(codes.map((code) => TAKEN_OFF.exec(code)?.[1] ?? code))];
}

const NO_CODES = new Set(
  'yes no notyet tobecreated tocreate requested seenotes seenote asrequested willfollow folgt beantragt offen pending same ditto open ausstehend'.split(
    ' ',
  ),
);
/** A word in place of a code. In capitals it may be one, but for a yes and a no. */
const isNoCode = (code: string): boolean => {
  const word = code.toLowerCase().replace(/[\s'’".()!-]+/g, '');
  return /^(?:yes|no)$/.test(word) || (code !== code.toUpperCase() && (NO_CODES.has(word) || isNoHandle(code)));
};

/** The codes of a person, without words that stand in place of one. */
export const readOwnCodes = (text: string): string[] => readCodes(text).filter((code) => !isNoCode(code));

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
  euro: '€',
  pound: '£',
  yen: '¥',
  dollar: '$',
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
