import { strFromU8, unzipSync, type Zippable, zipSync } from 'fflate';
import { writeNumber } from './workbook-numbers.ts';

/**
 * The library that reads workbooks says what numbers are, and not how their cells show them: 10% is 0.1 to it, 00123 is
 * 123, and £5.00 is 5. Such cells are written as text before it reads them. No digit is rounded away: a cell that shows
 * 13% and is 12.5% stays 12.5%.
 */

/** One part of a number format: for numbers above, below, or equal to zero. */
interface Section {
  before: string;
  after: string;
  /** Placeholders of digits with the texts between them, where a cell shows digits in places of their own. */
  places: readonly string[] | null;
  /** Two for each percent sign. */
  power: number;
  decimals: number;
}

/** A format's sections; null for one that shows the number itself. */
type Shown = readonly (Section | null)[] | null;

const PERCENTS: Readonly<Record<string, string>> = { '9': '0%', '10': '0.00%' };
/** A quoted text, a character taken literally, one to be as wide as or to be repeated, brackets, or any other one. */
const TOKEN = /"([^"]*)"|\\(.)|[_*].|\[([^\]]*)\]|General|(.)/gsu;
const PLACEHOLDERS = /^[0#?.,]$/;
const SAYS_MORE = /[\p{L}\p{N}\p{Sc}%#№]/u;

/** The literals and placeholders of a section; undefined for dates, fractions, exponents and conditions. */
function tokenize(section: string): { text: string; isPlace: boolean }[] | undefined {
  const tokens: { text: string; isPlace: boolean }[] = [];
  for (const [whole, quoted, escaped, bracket, other] of section.matchAll(TOKEN)) {
    const literal = quoted ?? escaped;
    if (literal !== undefined) tokens.push({ text: literal, isPlace: false });
    else if (bracket !== undefined) {
      const currency = /^\$([^-]*)/.exec(bracket)?.[1];
      if (currency !== undefined) tokens.push({ text: currency, isPlace: false });
      else if (!/^(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+)$/i.test(bracket)) return undefined;
    } else if (whole === 'General') tokens.push({ text: '#', isPlace: true });
    else if (other !== undefined) {
      if (/[A-Za-z@/\p{L}]/u.test(other)) return undefined;
      tokens.push({ text: other, isPlace: PLACEHOLDERS.test(other) });
    }
  }
  return tokens;
}

/** The texts around a number that say more than its sign; of one that shows thousands as ones, its currency alone. */
function keep(literal: string, isScaled: boolean): string {
  if (isScaled) return /\p{Sc}|^\s*[A-Z]{3}\s*$/u.exec(literal)?.[0] ?? '';
  return SAYS_MORE.test(literal) ? literal : '';
}

function readSection(section: string): Section | null {
  const tokens = tokenize(section);
  const first = tokens?.findIndex(({ isPlace }) => isPlace) ?? -1;
  if (!tokens || first < 0) return null;
  const last = tokens.findLastIndex(({ isPlace }) => isPlace);
  const join = (from: number, to: number) =>
    tokens
      .slice(from, to)
      .map(({ text }) => text)
      .join('');
  const [before, after] = [join(0, first), join(last + 1, tokens.length)];
  const middle = tokens.slice(first, last + 1);
  const pattern = middle.flatMap(({ text, isPlace }) => (isPlace ? [text] : [])).join('');
  const literals = middle
    .flatMap(({ text, isPlace }) => (isPlace ? [] : [text]))
    .join('')
    .trim();
  const unquoted = section.replace(/"[^"]*"|[\\_*]./g, '');
  const percents = unquoted.split('%').length - 1;
  const isWhole = /^[0#?]+$/.test(pattern);
  const isPadded = (pattern.match(/0/g)?.length ?? 0) > 1 || literals !== '';
  if (isWhole && isPadded && percents === 0 && !/\p{Sc}/u.test(before + after))
    return { before, after, places: middle.map(({ text }) => text), power: 0, decimals: 0 };
  // A comma at the end of the digits shows thousands: the number itself is exact, and only its currency is said.
  const isScaled = /,(?:$|\.)/.test(pattern);
  const [prefix, suffix] = [keep(before, isScaled), keep(after, isScaled)];
  if (literals !== '' || (prefix === '' && suffix === '')) return null;
  const decimals = isScaled ? 0 : (/\.([0#?]*)$/.exec(pattern)?.[1]?.match(/0/g)?.length ?? 0);
  return { before: prefix, after: suffix, places: null, power: percents * 2, decimals: percents > 0 ? 0 : decimals };
}

/** A format's sections without the one for text. */
function readFormat(code: string): Shown {
  const sections = code.match(/(?:"[^"]*"|\\.|\[[^\]]*\]|[^;])+|(?<=;|^)(?=;)/gs) ?? [];
  const read = sections.slice(0, 3).map(readSection);
  return read.some((section) => section !== null) ? read : null;
}

/** Digits in places of their own, from the right; those without a place stand before the first. */
function fillPlaces(places: readonly string[], digits: string): string {
  let rest = digits;
  const shown: string[] = [];
  const first = places.findIndex((place) => /^[0#?]$/.test(place));
  for (let at = places.length - 1; at >= 0; at -= 1) {
    const place = places[at] ?? '';
    if (!/^[0#?]$/.test(place)) shown.unshift(place);
    else if (at === first) shown.unshift(rest === '' && place === '0' ? '0' : rest);
    else {
      shown.unshift(rest === '' ? (place === '0' ? '0' : '') : rest.slice(-1));
      rest = rest.slice(0, -1);
    }
  }
  return shown.join('');
}

/** A number as its cell shows it; undefined if that is the number itself. */
function showNumber(text: string, shown: NonNullable<Shown>): string | undefined {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) return undefined;
  const [positive = null, negative = null, zero = null] = shown;
  const section = (value < 0 ? negative : value === 0 ? zero : null) ?? positive;
  if (!section) return undefined;
  const { before, after, places, power, decimals } = section;
  if (places) {
    const digits = writeNumber(text);
    return /^\d+$/.test(digits) ? `${before}${fillPlaces(places, digits === '0' ? '' : digits)}${after}` : undefined;
  }
  const number = writeNumber(text, { power, leastDecimals: decimals });
  if (!/^-?\d+(?:\.\d+)?$/.test(number)) return undefined;
  // A section for negative numbers has its own minus, or brackets.
  const [prefix, suffix] = value > 0 ? [before, after] : [before, after].map((text) => text.replace(/[-−–+()]/g, ''));
  return number.startsWith('-') ? `-${prefix}${number.slice(1)}${suffix}` : `${prefix}${number}${suffix}`;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const unescapeXml = (text: string): string =>
  text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, code?: string, name?: string) => {
    const point = hex === undefined ? Number(code) : Number.parseInt(hex, 16);
    return name === undefined ? String.fromCodePoint(point) : (ENTITIES[name] ?? whole);
  });
/** A sheet is read a byte a letter, so that others are written by their number. */
const escapeXml = (text: string): string =>
  text.replace(/[^ -~]|[&<>]/gu, (letter) => `&#${letter.codePointAt(0) ?? 0};`);

const attribute = (tag: string, name: string): string | undefined =>
  new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`)
    .exec(tag)
    ?.slice(1)
    .find((value) => value !== undefined);

const listTags = (xml: string, name: string): string[] =>
  xml.match(new RegExp(`<(?:\\w+:)?${name}(?=[\\s/>])[^<>]*>`, 'g')) ?? [];

/** The part of the styles between the tags of a list. */
const cutList = (xml: string, name: string): string =>
  new RegExp(`<(?:\\w+:)?${name}[\\s>].*?</(?:\\w+:)?${name}>`, 's').exec(xml)?.[0] ?? '';

/** The formats of a workbook's styles, by the number that a cell has for its style. */
function readStyles(xml: string): Map<string, NonNullable<Shown>> {
  const codes = new Map(
    listTags(xml, 'numFmt').map((tag) => [attribute(tag, 'numFmtId'), unescapeXml(attribute(tag, 'formatCode') ?? '')]),
  );
  const listFormats = (list: string) => listTags(cutList(xml, list), 'xf');
  const base = listFormats('cellStyleXfs').map((tag) => attribute(tag, 'numFmtId'));
  const styles = new Map<string, NonNullable<Shown>>();
  for (const [i, tag] of listFormats('cellXfs').entries()) {
    const id = attribute(tag, 'numFmtId') ?? base[Number(attribute(tag, 'xfId') ?? -1)] ?? '0';
    const shown = readFormat(codes.get(id) ?? PERCENTS[id] ?? '');
    if (shown) styles.set(String(i), shown);
  }
  return styles;
}

const CELL =
  /<((?:\w+:)?)c(\s[^<>]*)>((?:<(?:\w+:)?f\b[^<>]*(?:\/>|>[^<]*<\/(?:\w+:)?f>))?\s*<(?:\w+:)?v[^<>]*>)([^<]*)</g;
const STYLE = /\ss=["'](\d+)["']/;
const TYPE = /\st=["'](\w+)["']/;
const MOST_PARTS = 20_000;

/** A sheet in which numbers whose cells show more than them are texts. */
function showSheet(bytes: Uint8Array, styles: ReadonlyMap<string, NonNullable<Shown>>): Uint8Array {
  const xml = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const chunks: Buffer[] = [];
  let parts: string[] = [];
  let from = 0;
  const flush = () => {
    chunks.push(Buffer.from(parts.join(''), 'latin1'));
    parts = [];
  };
  for (const match of xml.matchAll(CELL)) {
    const [whole, prefix = '', attributes = '', head = '', text = ''] = match;
    const shown = styles.get(STYLE.exec(attributes)?.[1] ?? '');
    const type = TYPE.exec(attributes)?.[1] ?? 'n';
    const cell = shown && type === 'n' ? showNumber(text, shown) : undefined;
    if (cell === undefined) continue;
    const kept = attributes.replace(TYPE, '');
    parts.push(xml.slice(from, match.index), `<${prefix}c t="str"${kept}>${head}${escapeXml(cell)}<`);
    from = match.index + whole.length;
    if (parts.length > MOST_PARTS) flush();
  }
  if (from === 0) return bytes;
  parts.push(xml.slice(from));
  flush();
  return Buffer.concat(chunks);
}

const isStyles = (name: string) => /(?:^|\/)styles\.xml$/i.test(name);
const isSheet = (name: string) => /(?:^|\/)worksheets\/[^/]+\.xml$/i.test(name);
const isRead = (name: string) => /\.(?:xml|rels)$/i.test(name);

/** A sheet of 100,000 rows has some 60 MB. The memory limit of a thread does not count what is unpacked. */
const MOST_UNPACKED_BYTES = 400 * 1024 * 1024;

function assertUnpackable(bytes: Uint8Array): void {
  let sum = 0;
  unzipSync(bytes, {
    filter: ({ originalSize }) => {
      sum += originalSize;
      return false;
    },
  });
  if (sum > MOST_UNPACKED_BYTES) throw new Error(`The workbook unpacks to ${sum} bytes.`);
}

function showAll(bytes: Uint8Array): Uint8Array {
  const [xml] = Object.values(unzipSync(bytes, { filter: ({ name }) => isStyles(name) }));
  const styles = xml ? readStyles(strFromU8(xml)) : new Map<string, NonNullable<Shown>>();
  if (styles.size === 0) return bytes;
  const files = unzipSync(bytes, { filter: ({ name }) => isRead(name) });
  const shown: Zippable = {};
  for (const [name, content] of Object.entries(files))
    shown[name] = isSheet(name) ? showSheet(content, styles) : content;
  return zipSync(shown, { level: 0 });
}

/** A workbook whose cells of percentages, currencies and padded numbers are texts, as they are shown. */
export function showFormats(bytes: Uint8Array): Uint8Array {
  assertUnpackable(bytes);
  return showAll(bytes);
}
