import { whole } from '../values/text.ts';
import type { VisitHeaders } from './visit.ts';

type Name =
  | keyof VisitHeaders
  | 'x-forwarded-for'
  | 'host'
  | 'connection'
  | 'content-length'
  | 'transfer-encoding'
  | 'expect'
  | 'upgrade';

/** All that is read. The same names in the same order for every head: with a shape of its own each would cost 1 µs more. */
type Headers = Record<Name, string | undefined>;
const NONE: Headers = {
  host: undefined,
  connection: undefined,
  'content-length': undefined,
  'transfer-encoding': undefined,
  expect: undefined,
  upgrade: undefined,
  'x-forwarded-for': undefined,
  cookie: undefined,
  'user-agent': undefined,
  referer: undefined,
  'sec-purpose': undefined,
  purpose: undefined,
  'x-purpose': undefined,
  'x-moz': undefined,
  'cf-ipcountry': undefined,
  'x-vercel-ip-country': undefined,
  'cloudfront-viewer-country': undefined,
  'x-country-code': undefined,
};
const isRead = (name: string): name is Name => Object.hasOwn(NONE, name);

export interface Head {
  method: 'GET';
  url: string;
  headers: Headers;
}

/**
 * Lines of a name, a colon, a space at most, and a value that begins and ends with none. There is one way to match them, so
 * that none takes long to fail.
 */
const HEAD =
  /^GET (\/r\/[\w.~-]*(?:\?[\x21-\x7e]*)?) HTTP\/1\.1\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+: ?(?![ \t])(?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?\r\n)+\r\n$/;
const LINE_END = '\r\n';
const SPACE = 32;

/** The rest change what the connection carries. */
const isPlain = (headers: Headers): boolean =>
  headers.host !== undefined &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  headers.expect === undefined &&
  headers.upgrade === undefined &&
  (headers.connection === undefined || headers.connection.toLowerCase() === 'keep-alive');

/** Names by how they are written, empty for those that are not read: text that is new each time is slow to compare. */
const names = new Map<string, Name | ''>();
const MAX_NAMES = 1_000;
const MAX_NAME_LENGTH = 40;

function nameOf(written: string): Name | '' {
  const known = names.get(written);
  if (known !== undefined) return known;
  const lower = whole(written.toLowerCase());
  const name = isRead(lower) ? lower : '';
  if (names.size < MAX_NAMES && written.length <= MAX_NAME_LENGTH) names.set(whole(written), name);
  return name;
}

/**
 * A request for a short link as browsers send it, read as Node would. `text` is all that came, a character per byte.
 * Undefined for anything else, also for what may be right but is rare: what can be read in two ways is left to Node.
 */
export function readHead(text: string): Head | undefined {
  const url = HEAD.exec(text)?.[1];
  if (url === undefined) return undefined;
  const headers = { ...NONE };
  const end = text.length - LINE_END.length;
  let from = text.indexOf(LINE_END) + LINE_END.length;
  while (from < end) {
    const colon = text.indexOf(':', from);
    const lineEnd = text.indexOf(LINE_END, colon);
    const name = nameOf(text.slice(from, colon));
    if (name !== '') {
      if (headers[name] !== undefined) return undefined;
      headers[name] = text.slice(text.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1, lineEnd);
    }
    from = lineEnd + LINE_END.length;
  }
  return isPlain(headers) ? { method: 'GET', url, headers } : undefined;
}
