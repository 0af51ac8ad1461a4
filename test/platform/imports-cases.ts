/**
 * Files as other tools write them, drawn at random with an oracle: what the file says in truth, worked out apart from
 * the code that reads it. Each is a format in a country, with something done to it on its way.
 */
import type { DateOrder, Mapping } from '../../src/platform/imports/reading/shapes.ts';
import { below, type Cell, type Locale, makeRandom, pick, type Truth, text } from './imports-draw.ts';
import type { Format } from './imports-format.ts';
import { ORDER_FORMATS } from './imports-order-formats.ts';
import { PEOPLE_FORMATS } from './imports-people-formats.ts';

export const FORMATS: readonly Format[] = [...ORDER_FORMATS, ...PEOPLE_FORMATS];

export const NOW = new Date('2026-11-27T12:00:00Z');

export const DAMAGES = [
  'none',
  'separator',
  'encoding',
  'bom',
  'moved',
  'renamed',
  'added',
  'dates',
  'decimals',
  'cents',
  'ids',
  'totals',
  'preamble',
  'spread',
  'repeated',
  'status',
] as const;
export type Damage = (typeof DAMAGES)[number];
interface Style {
  decimal: '.' | ',';
  group: string;
  dates: DateOrder;
  mark: string;
  times: Format['times'];
  isCents: boolean;
  decimals: number;
}

function writeMoney(
  minor: number,
  { decimal, group, isCents, decimals }: Pick<Style, 'decimal' | 'group' | 'isCents' | 'decimals'>,
): string {
  const digits = String(Math.abs(minor)).padStart(decimals + 1, '0');
  if (isCents) return String(minor);
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals);
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group);
  const fraction = decimals === 0 ? '' : decimal + digits.slice(-decimals);
  return `${minor < 0 ? '-' : ''}${grouped}${fraction}`;
}

function writeTime(date: Date, { dates, mark, times }: Pick<Style, 'dates' | 'mark' | 'times'>): string {
  const iso = date.toISOString();
  const [year, month, day] = [iso.slice(0, 4), iso.slice(5, 7), iso.slice(8, 10)];
  const clock = iso.slice(11, 19);
  if (times === 'offset') return `${iso.slice(0, 10)} ${clock} +0000`;
  if (times === 'iso') return `${iso.slice(0, 10)} ${clock}`;
  if (times === 'mdy') return `${month}/${day}/${year.slice(2)}`;
  if (times === 'named') return date.toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
  const parts = { dmy: [day, month, year], mdy: [month, day, year], ymd: [year, month, day] }[dates];
  return `${parts.join(mark)} ${clock.slice(0, 5)}`;
}

function quote(cell: string, separator: string): string {
  return cell.includes(separator) || /["\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

export interface Case {
  name: string;
  seed: number;
  format: Format;
  locale: Locale;
  damage: Damage;
  bytes: Buffer;
  truth: Truth[];
  /** A person who knows the file answers this. */
  answers: Mapping;
  isPristine: boolean;
}

const WINDOWS_1250 = new Map(
  Array.from(
    { length: 256 },
    (_, byte) => [new TextDecoder('windows-1250').decode(Uint8Array.of(byte)), byte] as const,
  ),
);
const WINDOWS_1252 = new Map(
  Array.from(
    { length: 256 },
    (_, byte) => [new TextDecoder('windows-1252').decode(Uint8Array.of(byte)), byte] as const,
  ),
);

function encode(content: string, encoding: Locale['encoding'] | 'utf-8'): Buffer {
  if (encoding === 'utf-8') return Buffer.from(content);
  if (encoding === 'utf-16le') return Buffer.from(`\ufeff${content}`, 'utf16le');
  const table = encoding === 'windows-1250' ? WINDOWS_1250 : WINDOWS_1252;
  return Buffer.from([...content].map((character) => table.get(character) ?? 0x3f));
}

/** Writes a file as a format in a country would, with one thing done to it. */
export function makeCase(seed: number, format: Format, locale: Locale, damage: Damage): Case {
  const random = makeRandom(seed);
  const made = format.make(random, locale, 1 + below(random, 14));
  let { headers, rows } = made;
  let truth = made.truth;
  const decimals = locale.currency === 'JPY' ? 0 : 2;
  const style: Style = {
    decimal: format.isLocal ? locale.decimal : '.',
    group: format.isLocal ? locale.group : '',
    dates: format.times === 'mdy' ? 'mdy' : locale.dates,
    mark: locale.mark,
    times: format.times,
    isCents: damage === 'cents' && !format.isOwn,
    decimals,
  };
  let separator = format.isLocal ? locale.separator : ',';
  if (damage === 'separator') separator = pick(random, [',', ';', '\t', '|']);
  if (damage === 'decimals') {
    style.decimal = style.decimal === '.' ? ',' : '.';
    style.group = '';
    separator = ';';
  }
  if (damage === 'dates' && format.times !== 'named' && format.key !== 'etsy') style.times = 'locale';
  if (damage === 'moved')
    headers = headers
      .map((header) => ({ header, at: random() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ header }) => header);
  if (damage === 'repeated' && rows[0]) rows = [...rows, rows[0]];
  if (damage === 'spread' && format.of === 'orders' && rows[0]) {
    const keep = new Set([
      headers.find((header) => /^(?:Name|Order|order_id|order_number|Payment ID|id|Bestellnummer)/.test(header)) ?? '',
    ]);
    rows = [
      ...rows,
      Object.fromEntries(
        headers.map((header) => [header, keep.has(header) ? (rows[0]?.[header] ?? text('')) : text('')]),
      ),
    ];
  }
  if (damage === 'status' && format.statusColumn) {
    const column = format.statusColumn;
    rows = rows.map((row, i) => (i === 0 ? { ...row, [column]: text('Wartet auf Abholung') } : row));
    truth = truth.slice(1);
  }
  const cellText = (cell: Cell | undefined, header: string): string => {
    if (!cell) return '';
    if ('money' in cell) return writeMoney(cell.money, style);
    if ('at' in cell) return writeTime(cell.at, style);
    if ('id' in cell) return damage === 'ids' && header === format.idColumn ? '5.82E+12' : cell.id;
    return cell.text;
  };
  const lines = rows.map((row) => headers.map((header) => cellText(row[header], header)));
  let shown = headers;
  if (damage === 'renamed') shown = headers.map((header) => format.renames?.[header] ?? header);
  if (damage === 'added') {
    shown = [...shown, 'Internal remark'];
    for (const line of lines) line.push('x');
  }
  if (damage === 'totals' && format.amountColumn !== '') {
    const sums = headers.map((header) =>
      rows.reduce(
        (sum, row) => sum + ('money' in (row[header] ?? text('')) ? Number(Object.values(row[header] ?? {})[0]) : 0),
        0,
      ),
    );
    const hasMoney = headers.map((header) => 'money' in (rows[0]?.[header] ?? {}));
    lines.push(headers.map((_, i) => (hasMoney[i] ? writeMoney(sums[i] ?? 0, style) : i === 0 ? 'Total' : '')));
  }
  const before = damage === 'preamble' ? [['My shop: orders'], ['Exported on 2026-11-20'], ['']] : [];
  const content = `${[...before, shown, ...lines].map((cells) => cells.map((cell) => quote(cell, separator)).join(separator)).join('\r\n')}\r\n`;
  const bytes = encode(
    damage === 'bom' ? `\ufeff${content}` : content,
    damage === 'encoding' ? locale.encoding : 'utf-8',
  );
  const answers: Mapping = {
    dates: style.dates,
    decimal: style.decimal,
    unit: style.isCents ? 'minor' : 'major',
    tax_in_prices: 'proportional',
    partial_refunds: 'proportional',
    constants: { currency: locale.currency },
    columns: { amount: format.amountColumn },
    statuses: { wartetaufabholung: 'left_out' },
    ...(format.goods === undefined ? {} : { goods: format.goods }),
  };
  const name = `${format.key} ${locale.key} ${damage} #${seed}`;
  return {
    name,
    seed,
    format,
    locale,
    damage,
    bytes,
    truth: truth.flatMap((each) => each ?? []),
    answers,
    isPristine: damage === 'none',
  };
}
