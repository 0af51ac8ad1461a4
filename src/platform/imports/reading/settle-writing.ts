import { BASIC, type Doubt, NO_LINES, type Settling, toLines } from './doubts.ts';
import { findLanguages } from './months.ts';
import { readNumber } from './numbers.ts';
import type { Plan } from './plan.ts';
import type { ColumnProfile, LineList } from './profile.ts';
import { splitScale } from './scale.ts';
import type { DateOrder, DecimalSign } from './shapes.ts';
import { DATE_ORDERS, describeDay } from './times.ts';

const MONEY_FIELDS = [
  ...[
    'amount',
    'subtotal',
    'discount',
    'total',
    'shipping',
    'taxes',
    'fees',
    'refunded',
    'refunded_tax',
    'adjusted_total',
  ],
  ...['sale_amount', 'fee', 'net'],
] as const;
/** Headers of Etsy's British pages, of which nobody knows the order of day and month. */
const BRITISH: ReadonlySet<string> = new Set(['Date Posted', 'Delivery']);
const TIME_FIELDS = ['placed_at', 'paid_at', 'cancelled_at', 'refunded_at'] as const;
/** The decimal sign of each column of money, by its own cells. */
export function settleDecimals({ known, mapping, columns, doubts }: Settling): Record<number, DecimalSign> {
  const decimals: Record<number, DecimalSign> = {};
  const open: { header: string; list: LineList }[] = [];
  for (const field of MONEY_FIELDS) {
    const position = columns[field];
    const profile = position === undefined ? undefined : known.profiles.get(position);
    if (position === undefined || !profile) continue;
    const { signs, open: cells } = profile.money;
    if (signs['.'] !== signs[',']) decimals[position] = signs['.'] ? '.' : ',';
    else decimals[position] = mapping.decimal ?? '.';
    const isOpen = signs['.'] === signs[','] && cells.count > 0 && mapping.decimal === undefined;
    if (isOpen) open.push({ header: known.headers[position] ?? '', list: cells });
  }
  const [first] = open;
  if (first) {
    const sample = `“${first.header}”`;
    doubts.push({
      code: 'decimal_sign',
      field: null,
      message: `Does the mark before three digits in ${sample} separate thousands or decimals?`,
      ...toLines(first.list),
      choices: [
        {
          mapping: { decimal: '.' },
          label: 'A point separates decimals: 1.250 is one and a quarter, 1,250 is a thousand',
        },
        {
          mapping: { decimal: ',' },
          label: 'A comma separates decimals: 1.250 is a thousand, 1,250 is one and a quarter',
        },
      ],
    });
  }
  return decimals;
}

/** The orders of day and month that all cells of a column can be read in. */
function listOrders({ time }: ColumnProfile): DateOrder[] {
  const isStruck = (order: DateOrder) => time.orders[order].count > 0;
  const orders = DATE_ORDERS.filter((order) => !isStruck(order));
  // Beside the name of a month a short year stands last: 01-Aug-26 is no day of 2001.
  const isNamed = time.named === time.ordered && orders.includes('dmy');
  return isNamed ? orders.filter((order) => order !== 'ymd') : orders;
}

function pickDigits({ time }: ColumnProfile): 'serial' | 'seconds' | 'ms' | null {
  if (time.texts > 0 || time.digits.size !== 1) return null;
  if (time.digits.has('serial')) return 'serial';
  return time.digits.has('ms') ? 'ms' : 'seconds';
}

const ORDER_LABELS = { dmy: 'day/month/year', mdy: 'month/day/year', ymd: 'year/month/day' } as const;

function askDates(header: string, profile: ColumnProfile, orders: readonly DateOrder[], now: Date): Doubt {
  const struck = orders.length === 0 ? profile.time.orders.dmy : undefined;
  const shownOrders = orders.length === 0 ? (['dmy', 'mdy'] as const) : orders;
  const unread = (order: DateOrder) => profile.time.orders[order];
  const { example, words } = profile.time;
  const languages = findLanguages([...words]);
  const labels = shownOrders.map((order) => {
    const { count, first } = unread(order);
    const except = count === 0 ? '' : `, which cannot read line ${first.slice(0, 5).join(', ')}`;
    const day = example === null ? undefined : describeDay(example, order, languages, now);
    const shows = day === undefined ? '' : `: ${example} is ${day}`;
    return { mapping: { dates: order }, label: `${ORDER_LABELS[order]}${shows}${except}` };
  });
  return {
    code: 'date_order',
    field: null,
    message: `Does “${header}” put the day or the month first?`,
    ...(struck ? toLines(struck) : NO_LINES),
    choices: labels,
  };
}

/** Texts that a spreadsheet left beside dates that it made show that it read them in another order. */
function askSwapped({ known, mapping, doubts }: Settling, position: number): void {
  if (mapping.constants?.swapped_dates !== undefined) return;
  const header = `“${known.headers[position] ?? ''}”`;
  const choose = (swapped_dates: string, label: string) => ({ mapping: { constants: { swapped_dates } }, label });
  doubts.push({
    code: 'date_order',
    field: 'swapped_dates',
    message: `A spreadsheet made dates of a part of ${header} and left the rest as text. Did it swap their day and month?`,
    ...NO_LINES,
    choices: [choose('yes', 'Yes: April 3 was March 4'), choose('no', 'No: the dates are right')],
  });
}

/** The order that a header such as `Date (DD/MM/YYYY)` or `Datum (TT.MM.JJJJ)` says. */
function readHeaderOrder(header: string): DateOrder | undefined {
  if (/\b(?:dd?|tt?|jj|gg)[-./ ]?mm?[-./ ]?(?:[yja]{4}|[yja]{2}|[rg]{4})\b/i.test(header)) return 'dmy';
  if (/\bmm?[-./ ]?(?:dd?|tt?)[-./ ]?[yja]{2,4}\b/i.test(header)) return 'mdy';
  return /\b[yja]{4}[-./ ]?mm?[-./ ]?(?:dd?|tt?|jj)\b/i.test(header) ? 'ymd' : undefined;
}

export function settleTimes(settling: Settling): Plan['times'] {
  const { known, mapping, columns, doubts } = settling;
  const times: Plan['times'] = {};
  let proven: { order: DateOrder; isSlashed: boolean } | undefined;
  for (const field of TIME_FIELDS) {
    const position = columns[field];
    const profile = position === undefined ? undefined : known.profiles.get(position);
    if (position === undefined || !profile || profile.time.ordered === 0) {
      if (position === undefined) continue;
      const words = profile?.time.words ?? new Set<string>();
      times[position] = {
        order: 'dmy',
        languages: findLanguages([...words]),
        digits: profile ? pickDigits(profile) : null,
        is1904: known.is1904,
      };
      continue;
    }
    const orders = listOrders(profile);
    // With other marks than its tool writes, a spreadsheet has written the dates in an order of its own.
    const isAsWritten = profile.time.slashed === profile.time.ordered;
    const said = mapping.dates ?? (isAsWritten ? known.format?.dates : undefined);
    const isUndecided = known.format?.dates !== undefined && known.headers.some((header) => BRITISH.has(header.trim()));
    const fixedOrder = isUndecided && mapping.dates === undefined ? undefined : said;
    const allowedOrder =
      fixedOrder !== undefined && (orders.includes(fixedOrder) || (orders.length === 0 && mapping.dates !== undefined))
        ? fixedOrder
        : undefined;
    // Dates with other marks than those beside them were written by something else.
    const isAlike = proven !== undefined && proven.isSlashed === isAsWritten && orders.includes(proven.order);
    const carriedOrder = isAlike ? proven?.order : undefined;
    const only = orders.length === 1 ? orders[0] : undefined;
    const named = readHeaderOrder(known.headers[position] ?? '');
    const ofHeader = named !== undefined && orders.includes(named) ? named : undefined;
    const order = only ?? allowedOrder ?? ofHeader ?? carriedOrder;
    if (order === undefined) doubts.push(askDates(known.headers[position] ?? '', profile, orders, known.request.now));
    // Only what the column's own cells, or a caller, say holds for the columns beside it.
    const ownOrder = only ?? allowedOrder ?? ofHeader;
    if (ownOrder !== undefined) proven ??= { order: ownOrder, isSlashed: isAsWritten };
    if (known.halfDates.includes(position)) askSwapped(settling, position);
    times[position] = {
      order: order ?? orders[0] ?? 'dmy',
      languages: findLanguages([...profile.time.words]),
      digits: null,
      isSwapped: known.halfDates.includes(position) && mapping.constants?.swapped_dates === 'yes',
    };
  }
  return times;
}

const UNITS: Readonly<Record<number, string>> = { '-2': 'cents', 3: 'thousands', 6: 'millions' };

/** Columns whose header says cents, thousands or millions, with the power of ten of each. */
export function settleScales({ known, mapping, columns, doubts }: Settling): Record<number, number> {
  const scales = MONEY_FIELDS.flatMap((field) => {
    const at = columns[field];
    const { power } = splitScale(known.headers[at ?? -1] ?? '');
    return at === undefined || power === 0 ? [] : [[at, power] as const];
  });
  const [first] = scales;
  const isSaid = known.request.mapping?.unit !== undefined || mapping.constants?.scaled_amounts === 'no';
  if (!first || isSaid) return {};
  if (mapping.constants?.scaled_amounts === undefined) {
    const [position, power] = first;
    const sample = known.profiles.get(position)?.samples.find((text) => readNumber(text)) ?? '1.5';
    const choose = (scaled_amounts: 'yes' | 'no', label: string) => ({
      mapping: { constants: { scaled_amounts } },
      label,
    });
    const words = UNITS[power] ?? 'another unit';
    doubts.push({
      code: 'unit',
      field: 'scaled_amounts',
      message: `Is ${sample} under “${known.headers[position] ?? ''}” in ${words}?`,
      ...NO_LINES,
      choices: [choose('yes', `Yes, in ${words}`), choose('no', 'No, it is the amount as it stands')],
    });
  }
  return Object.fromEntries(scales);
}

export function settleUnit(
  { known, mapping, columns, doubts }: Settling,
  { decimals, scales }: Pick<Plan, 'decimals' | 'scales'>,
): 'major' | 'minor' {
  const { format, profiles, headers, request } = known;
  if (request.mapping?.unit !== undefined) return request.mapping.unit;
  const positions = BASIC.flatMap((field) => columns[field] ?? []);
  if (positions.some((at) => scales?.[at] !== undefined)) return 'major';
  const basic = positions.flatMap((at) => {
    const money = profiles.get(at)?.money;
    return money ? [{ money, sign: decimals[at] ?? '.' }] : [];
  });
  const isWhole = basic.every(({ money, sign }) => money.fractions === 0 && !money.openMarks.has(sign));
  const nonZero = basic.reduce((sum, { money }) => sum + money.nonZero, 0);
  // Other tools write decimals: a file of whole amounts is not as its tool wrote it, unless a workbook dropped zeros.
  const saysMajor = format?.key === 'rollcall' || (format !== undefined && known.isSheet);
  const someWhole = basic.some(({ money }) => money.whole.count > 0);
  if (!isWhole && someWhole && mapping.unit === 'minor')
    doubts.push({
      code: 'unit',
      field: null,
      message: 'Amounts were in cents in an earlier file, and some have decimals now. Are they in whole units?',
      ...NO_LINES,
      choices: [{ mapping: { unit: 'major' }, label: 'In whole units: 12.50 is 12.50' }],
    });
  if (!isWhole || nonZero === 0 || saysMajor) return 'major';
  if (mapping.unit !== undefined) return mapping.unit;
  const position = BASIC.flatMap((field) => columns[field] ?? [])[0] ?? 0;
  const list = profiles.get(position)?.money.whole ?? { count: 0, first: [] };
  const sample = profiles.get(position)?.samples.find((text) => readNumber(text)) ?? '12550';
  const { digits } = readNumber(sample)?.value ?? { digits: sample };
  doubts.push({
    code: 'unit',
    field: null,
    message: `No amount of “${headers[position] ?? ''}” has decimals. Is ${sample} in whole units, or in cents?`,
    ...toLines(list),
    choices: [
      { mapping: { unit: 'major' }, label: `${sample} is ${digits}.00` },
      { mapping: { unit: 'minor' }, label: `${sample} is ${(Number(digits) / 100).toFixed(2)}, in cents` },
    ],
  });
  return 'major';
}
export function settleRate({ known, mapping, columns, doubts }: Settling): 'percent' | 'fraction' {
  const said = known.request.mapping?.rate ?? known.format?.rate;
  if (said !== undefined) return said;
  const position = columns.rate ?? columns.engagement_rate;
  const profile = position === undefined ? undefined : known.profiles.get(position);
  // Shares are at most 1, whatever an earlier file had.
  if (mapping.rate !== undefined && (mapping.rate === 'percent' || profile?.money.mostTenths)) return mapping.rate;
  if (!profile || profile.money.percents === profile.money.read) return 'percent';
  const header = `“${known.headers[position ?? 0] ?? ''}”`;
  // Rates above 1 alone are percentages; beside smaller ones they leave open what those are.
  if (!profile.money.mostTenths && mapping.rate === 'fraction' && profile.money.shares > 0)
    doubts.push({
      code: 'rate_scale',
      field: 'rate',
      message: `Rates in ${header} were shares in an earlier file, and some are above 1 now. Are they percentages?`,
      ...NO_LINES,
      choices: [{ mapping: { rate: 'percent' }, label: 'Percentages: 10 is 10 %, and 0.5 is 0.5 %' }],
    });
  if (!profile.money.mostTenths) return 'percent';
  const sample = profile.samples.find((text) => !text.includes('%')) ?? '0.1';
  doubts.push({
    code: 'rate_scale',
    field: 'rate',
    message: `Is ${sample} in ${header} a share, or a percentage?`,
    ...NO_LINES,
    choices: [
      { mapping: { rate: 'fraction' }, label: 'A share: 0.1 is 10 %' },
      { mapping: { rate: 'percent' }, label: 'A percentage: 0.1 is 0.1 %' },
    ],
  });
  return 'fraction';
}
