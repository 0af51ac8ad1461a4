import type { Assignment } from './columns.ts';
import { isCurrency, readSign } from './currencies.ts';
import { foldWords } from './fold.ts';
import type { Format } from './formats.ts';
import { listGoods } from './judge.ts';
import { isOrders, isPaid } from './kinds.ts';
import { USES } from './money.ts';
import { findLanguages } from './months.ts';
import type { Plan } from './plan.ts';
import type { ColumnProfile, LineList } from './profile.ts';
import type { DateOrder, DecimalSign, Goods, Mapping, Request } from './shapes.ts';
import { foldStatus, readStatus } from './statuses.ts';
import { DATE_ORDERS } from './times.ts';

export interface Choice {
  mapping: Mapping;
  label: string;
}

/** Something that the file does not say. `uses` names the rule that only some records need. */
export interface Doubt {
  code: string;
  field: string | null;
  message: string;
  lines: number;
  firstLines: number[];
  choices: Choice[];
  uses?: number;
}

export interface Known {
  request: Request;
  headers: string[];
  format: Format | undefined;
  profiles: ReadonlyMap<number, ColumnProfile>;
  totalsLines: number[];
  /** The meanings of the amount that are left, once the whole file has been tried. */
  goodsChoices?: Choice[];
  /** Identities have proved them. */
  isGoodsProved?: boolean;
}

const NO_LINES = { lines: 0, firstLines: [] };
const toLines = (list: LineList) => ({ lines: list.count, firstLines: list.first });

/** A mapping over another: what it says, replaces; maps are merged. */
export function mergeMappings(base: Mapping, over: Mapping): Mapping {
  const merged: Mapping = { ...base, ...over };
  if (base.columns || over.columns) merged.columns = { ...base.columns, ...over.columns };
  if (base.constants || over.constants) merged.constants = { ...base.constants, ...over.constants };
  if (base.symbols || over.symbols) merged.symbols = { ...base.symbols, ...over.symbols };
  if (base.statuses || over.statuses) merged.statuses = { ...base.statuses, ...over.statuses };
  if (base.people || over.people) merged.people = { ...base.people, ...over.people };
  return merged;
}

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
  ...['sale_amount', 'fee'],
] as const;
/** Fields whose amounts decide what is written. */
const BASIC = ['amount', 'subtotal', 'total'] as const;
const TIME_FIELDS = ['placed_at', 'paid_at', 'cancelled_at', 'refunded_at'] as const;

/** The column of each field; of several that it may be, the first, which is asked about. */
function pickColumns(assignment: Assignment): Record<string, number> {
  const columns: Record<string, number> = {};
  for (const [field, { positions }] of assignment) {
    const [position] = positions;
    if (position !== undefined) columns[field] = position;
  }
  return columns;
}

function askColumns(assignment: Assignment, { headers }: Known): Doubt[] {
  return [...assignment.values()].flatMap(({ field, positions, confidence }) => {
    if (confidence !== 'asked') return [];
    const names = positions.map((position) => headers[position] ?? '');
    const choices = names.map((name) => ({ mapping: { columns: { [field]: name } }, label: `“${name}” is ${field}` }));
    const message = `Which column is ${field}: ${names.map((name) => `“${name}”`).join(' or ')}?`;
    return [{ code: 'column_meaning', field, message, ...NO_LINES, choices }];
  });
}

interface Settling {
  known: Known;
  mapping: Mapping;
  columns: Readonly<Record<string, number>>;
  doubts: Doubt[];
}

/** The decimal sign of each column of money, by its own cells. */
function settleDecimals({ known, mapping, columns, doubts }: Settling): Record<number, DecimalSign> {
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
  return DATE_ORDERS.filter((order) => !isStruck(order));
}

function pickDigits({ time }: ColumnProfile): 'serial' | 'seconds' | 'ms' | null {
  if (time.texts > 0 || time.digits.size !== 1) return null;
  if (time.digits.has('serial')) return 'serial';
  return time.digits.has('ms') ? 'ms' : 'seconds';
}

const ORDER_LABELS = { dmy: 'day/month/year', mdy: 'month/day/year', ymd: 'year/month/day' } as const;

function askDates(header: string, profile: ColumnProfile, orders: readonly DateOrder[]): Doubt {
  const struck = orders.length === 0 ? profile.time.orders.dmy : undefined;
  const shown = orders.length === 0 ? (['dmy', 'mdy'] as const) : orders;
  const unread = (order: DateOrder) => profile.time.orders[order];
  const labels = shown.map((order) => {
    const { count, first } = unread(order);
    const except = count === 0 ? '' : `, which cannot read line ${first.slice(0, 5).join(', ')}`;
    return { mapping: { dates: order }, label: `${ORDER_LABELS[order]}${except}` };
  });
  return {
    code: 'date_order',
    field: null,
    message: `In which order does “${header}” write day and month?`,
    ...(struck ? toLines(struck) : NO_LINES),
    choices: labels,
  };
}

function settleTimes(settling: Settling): Plan['times'] {
  const { known, mapping, columns, doubts } = settling;
  const times: Plan['times'] = {};
  let proven: DateOrder | undefined;
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
      };
      continue;
    }
    const orders = listOrders(profile);
    const said = mapping.dates ?? known.format?.dates;
    const isAsked = known.format?.dates !== undefined && known.headers[position]?.trim() === 'Date Posted';
    const fixed = isAsked && mapping.dates === undefined ? undefined : said;
    const allowed =
      fixed !== undefined && (orders.includes(fixed) || (orders.length === 0 && mapping.dates !== undefined))
        ? fixed
        : undefined;
    const carried = proven !== undefined && orders.includes(proven) ? proven : undefined;
    const only = orders.length === 1 ? orders[0] : undefined;
    const order = only ?? allowed ?? carried;
    if (order === undefined) doubts.push(askDates(known.headers[position] ?? '', profile, orders));
    // Only what the column's own cells, or a caller, say holds for the columns beside it.
    proven ??= only ?? allowed;
    times[position] = {
      order: order ?? orders[0] ?? 'dmy',
      languages: findLanguages([...profile.time.words]),
      digits: null,
    };
  }
  return times;
}

function settleUnit({ known, mapping, columns, doubts }: Settling, decimals: Plan['decimals']): 'major' | 'minor' {
  if (mapping.unit !== undefined) return mapping.unit;
  const { format, profiles, headers } = known;
  const positions = BASIC.flatMap((field) => columns[field] ?? []);
  const basic = positions.flatMap((at) => {
    const money = profiles.get(at)?.money;
    return money ? [{ money, sign: decimals[at] ?? '.' }] : [];
  });
  const isWhole = basic.every(({ money, sign }) => money.fractions === 0 && !money.openMarks.has(sign));
  const nonZero = basic.reduce((sum, { money }) => sum + money.nonZero, 0);
  // Other tools write decimals: a file of whole amounts is not as its tool wrote it.
  const saysMajor = format?.key === 'rollcall';
  if (!isWhole || nonZero === 0 || saysMajor) return 'major';
  const position = BASIC.flatMap((field) => columns[field] ?? [])[0] ?? 0;
  const list = profiles.get(position)?.money.whole ?? { count: 0, first: [] };
  const sample = profiles.get(position)?.samples[0] ?? '12550';
  doubts.push({
    code: 'unit',
    field: null,
    message: `No amount of “${headers[position] ?? ''}” has decimals. Is ${sample} in whole units, or in cents?`,
    ...toLines(list),
    choices: [
      { mapping: { unit: 'major' }, label: `${sample} is ${sample}.00` },
      { mapping: { unit: 'minor' }, label: `${sample} is in cents` },
    ],
  });
  return 'major';
}

function listCurrencies({ request }: Known, from: readonly string[]): string[] {
  const stores = request.brand.stores.map(({ currency }) => currency);
  const all = [request.brand.currency, ...stores, ...from].filter(isCurrency);
  return [...new Set(all)].slice(0, 5);
}

const CURRENCIES = ['USD', 'EUR', 'GBP', 'CAD', 'AUD'] as const;

/** The currency of amounts that say none: said, or a connected store's, or asked if any record needs it. */
function settleCurrency({ known, mapping, doubts }: Settling): string | null {
  const said = mapping.constants?.currency;
  if (said !== undefined) return said.toUpperCase();
  const { request, format } = known;
  const isStore = format?.platform !== undefined || request.of === 'reconciliation';
  const stores = request.brand.stores.filter(
    ({ platform }) => format?.platform === undefined || platform === format.platform,
  );
  const currencies = new Set(stores.map(({ currency }) => currency));
  const [only] = currencies;
  if (isStore && currencies.size === 1 && only !== undefined) return only;
  const choices = listCurrencies(known, CURRENCIES).map((currency) => ({
    mapping: { constants: { currency } },
    label: currency,
  }));
  doubts.push({
    code: 'currency_missing',
    field: 'currency',
    message: 'Which currency are the amounts in?',
    ...NO_LINES,
    choices,
    uses: USES.currency,
  });
  return choices[0]?.label ?? null;
}

function settleSymbols({ known, mapping, columns, doubts }: Settling): Record<string, string> {
  const symbols: Record<string, string> = { ...mapping.symbols };
  const hasCurrencies = columns.currency !== undefined && (known.profiles.get(columns.currency)?.filled ?? 0) > 0;
  for (const field of hasCurrencies ? [] : BASIC) {
    const position = columns[field];
    for (const [symbol, list] of position === undefined ? [] : (known.profiles.get(position)?.money.symbols ?? [])) {
      const meaning = readSign(symbol);
      if (!meaning || 'currency' in meaning || symbols[meaning.sign] !== undefined) continue;
      const { sign, options } = meaning;
      const brand = known.request.brand.currency;
      const ordered = options.includes(brand) ? [brand, ...options.filter((option) => option !== brand)] : options;
      const choices = ordered
        .slice(0, 5)
        .map((currency) => ({ mapping: { symbols: { [sign]: currency } }, label: `${sign} is ${currency}` }));
      doubts.push({
        code: 'currency_sign',
        field: 'currency',
        message: `Which currency does ${sign} mean?`,
        ...toLines(list),
        choices,
      });
      symbols[sign] = ordered[0] ?? brand;
    }
  }
  return symbols;
}

function settleRate({ known, mapping, columns, doubts }: Settling): 'percent' | 'fraction' {
  if (mapping.rate !== undefined) return mapping.rate;
  const said = known.format?.rate;
  if (said !== undefined) return said;
  const position = columns.rate ?? columns.engagement_rate;
  const profile = position === undefined ? undefined : known.profiles.get(position);
  if (!profile || profile.filled === 0 || profile.money.percents > 0 || !profile.money.mostTenths) return 'percent';
  const sample = profile.samples[0] ?? '0.1';
  doubts.push({
    code: 'rate_scale',
    field: 'rate',
    message: `Is ${sample} in “${known.headers[position ?? 0] ?? ''}” a share, or a percentage?`,
    ...NO_LINES,
    choices: [
      { mapping: { rate: 'fraction' }, label: 'A share: 0.1 is 10 %' },
      { mapping: { rate: 'percent' }, label: 'A percentage: 0.1 is 0.1 %' },
    ],
  });
  return 'fraction';
}

const GOODS_LABELS: Readonly<Record<Goods, string>> = {
  amount: 'the amount as it stands',
  subtotal: 'the subtotal',
  subtotal_less_discount: 'the subtotal less the discount',
  total_less_rest: 'the total less shipping, taxes and fees',
  total: 'the total as it stands',
};

function askGoods(choices: Choice[]): Doubt {
  const message = 'Which amount are the goods, without tax and shipping?';
  return { code: 'amount_meaning', field: 'amount', message, ...NO_LINES, choices };
}

/** Only a total tells the place of tax; without one it is asked. */
function askTax(doubts: Doubt[]): void {
  doubts.push({
    ...askGoods([
      { mapping: { tax: 'on_top' }, label: 'The goods are without tax' },
      { mapping: { tax: 'included' }, label: 'The tax is in the goods' },
    ]),
    message: 'Are the goods with or without the tax beside them?',
    field: 'taxes',
    uses: USES.tax,
  });
}

function settleGoods({ known, mapping, columns, doubts }: Settling): Goods | null {
  const { format } = known;
  const candidates = listGoods({ columns });
  const has = (field: string) => columns[field] !== undefined;
  const settled =
    mapping.goods ?? (format?.goods !== undefined && candidates.includes(format.goods) ? format.goods : undefined);
  const needsTax = has('taxes') && mapping.tax === undefined;
  if (settled !== undefined) {
    const isRest = settled === 'total_less_rest' && format?.goods !== settled && has('shipping');
    if (needsTax && (isRest || (!has('total') && settled !== 'total' && format?.goods !== settled))) askTax(doubts);
    return settled;
  }
  const [first] = candidates;
  if (first === undefined) return null;
  const withIdentity = candidates.filter((goods) => goods !== 'total' && goods !== 'total_less_rest');
  const isAlone =
    candidates.length === 1 && (first === 'subtotal' || (first === 'amount' && !has('taxes') && !has('shipping')));
  if (isAlone && needsTax) askTax(doubts);
  if (isAlone) return first;
  // A total without columns for both shipping and taxes may have either in it.
  const isTold = has('shipping') && has('taxes') && !format?.asksGoods;
  if (candidates.length === 1 && first === 'total_less_rest' && isTold) {
    if (needsTax) askTax(doubts);
    return first;
  }
  const shown = has('total') && withIdentity.length > 0 ? withIdentity : candidates;
  const choices = known.goodsChoices ?? shown.map(chooseGoods);
  const isProved = known.isGoodsProved && choices.length === 1;
  if (!isProved) doubts.push(askGoods(choices));
  if (!has('total') && needsTax) askTax(doubts);
  return choices[0]?.mapping.goods ?? first;
}

export const chooseGoods = (goods: Goods): Choice => ({
  mapping: { goods },
  label: `Goods are ${GOODS_LABELS[goods]}`,
});

const TAXES = { on_top: 'the tax is not in them', included: 'the tax is in them' } as const;

/** All meanings, for a file in which no identity holds: then nothing shows where the tax is, either. */
export function listAllGoods({ columns }: Pick<Plan, 'columns'>): Choice[] {
  const places = columns.taxes === undefined ? (['on_top'] as const) : (['on_top', 'included'] as const);
  return listGoods({ columns }).flatMap((goods) =>
    places.map((tax) => {
      const label = `Goods are ${GOODS_LABELS[goods]}`;
      return { mapping: { goods, tax }, label: places.length === 1 ? label : `${label}; ${TAXES[tax]}` };
    }),
  );
}

function askShares({ mapping, columns, doubts }: Settling): void {
  const has = (field: string) => columns[field] !== undefined;
  if (mapping.tax_in_prices === undefined && has('taxes') && (has('shipping') || has('fees')))
    doubts.push({
      code: 'tax_in_prices',
      field: 'taxes',
      message: 'Prices include tax, and shipping was paid. Whose tax is it?',
      ...NO_LINES,
      choices: [
        { mapping: { tax_in_prices: 'proportional' }, label: 'Goods and shipping share the tax by their amounts' },
        { mapping: { tax_in_prices: 'goods_only' }, label: 'All of the tax is of the goods' },
      ],
      uses: USES.taxInPrices,
    });
  if (mapping.partial_refunds === undefined && (has('refunded') || has('adjusted_total')))
    doubts.push({
      code: 'partial_refunds',
      field: 'refunded',
      message: 'A part of some orders was refunded, with tax or shipping in it. How much of it is goods?',
      ...NO_LINES,
      choices: [
        { mapping: { partial_refunds: 'proportional' }, label: 'The share that goods have of the order' },
        { mapping: { partial_refunds: 'goods_first' }, label: 'All of it, up to the goods' },
      ],
      uses: USES.partialRefunds,
    });
  if (has('adjusted_total') && mapping.constants?.adjusted_total_zero === undefined)
    doubts.push({
      code: 'partial_refunds',
      field: 'adjusted_total',
      message: 'The adjusted total of some orders is 0.00. Were they given back whole, or not adjusted?',
      ...NO_LINES,
      choices: [
        { mapping: { constants: { adjusted_total_zero: 'unadjusted' } }, label: 'They were not adjusted' },
        { mapping: { constants: { adjusted_total_zero: 'refunded' } }, label: 'They were given back whole' },
      ],
      uses: USES.adjusted,
    });
}

function askProof({ known, mapping, doubts }: Settling): void {
  if (!known.format?.asksProof || mapping.constants?.paid_at !== undefined) return;
  const day = known.request.now.toISOString().slice(0, 10);
  doubts.push({
    code: 'proof',
    field: 'paid_at',
    message: 'This file is a list of what to pay, not a proof that it was paid. Were these payments made, and when?',
    ...NO_LINES,
    choices: [{ mapping: { constants: { paid_at: day } }, label: `They were paid on ${day}` }],
  });
}

function listDamaged({ known, columns }: Settling): number[] {
  return ['order_id', 'order_number', 'reference', 'external_id', 'pk'].flatMap((field) => {
    const position = columns[field];
    const id = position === undefined ? undefined : known.profiles.get(position)?.id;
    const isDamaged = id !== undefined && (id.scientific > 0 || (id.long > 0 && id.long === id.rounded));
    return isDamaged && position !== undefined ? [position] : [];
  });
}

function readStatuses({ known, mapping, columns }: Settling): Pick<Plan, 'statuses' | 'hasStatuses'> {
  const statuses: Plan['statuses'] = {};
  for (const [value, meaning] of Object.entries(mapping.statuses ?? {})) statuses[foldStatus(value)] = meaning;
  const position = columns.status;
  const values = position === undefined ? undefined : known.profiles.get(position)?.values;
  for (const value of values?.keys() ?? []) {
    const meaning = statuses[value] ?? readStatus(known.request.of, value);
    if (meaning !== undefined) statuses[value] = meaning;
  }
  return { statuses, hasStatuses: (values?.size ?? 0) > 0 };
}

export interface Resolved {
  plan: Plan;
  doubts: Doubt[];
}

const saysUtc = (header: string) => foldWords(header).some((word) => word === 'utc' || word === 'gmt');

/** The plan under a mapping, and what is still in doubt. Doubts are planned by their first choice. */
export function resolvePlan(known: Known, assignment: Assignment, mapping: Mapping): Resolved {
  const columns = pickColumns(assignment);
  const doubts: Doubt[] = askColumns(assignment, known);
  const settling: Settling = { known, mapping, columns, doubts };
  const { request, format, headers } = known;
  const { of } = request;
  const hasMoney = isOrders(of) || isPaid(of);
  const decimals = settleDecimals(settling);
  const times = settleTimes(settling);
  const unit = hasMoney ? settleUnit(settling, decimals) : 'major';
  const symbols = hasMoney ? settleSymbols(settling) : {};
  const currency = hasMoney ? settleCurrency(settling) : null;
  const goods = isOrders(of) ? settleGoods(settling) : null;
  if (isOrders(of)) askShares(settling);
  if (isPaid(of)) askProof(settling);
  const plan: Plan = {
    of,
    format: format?.key ?? null,
    headers,
    columns,
    constants: mapping.constants ?? {},
    decimals,
    times,
    utc: format?.isUtc
      ? Object.values(columns)
      : headers.flatMap((header, position) => (saysUtc(header) ? [position] : [])),
    timeZone: mapping.time_zone ?? request.brand.timeZone,
    unit,
    goods,
    tax: mapping.tax ?? null,
    taxInPrices: mapping.tax_in_prices ?? 'proportional',
    partialRefunds: mapping.partial_refunds ?? 'proportional',
    adjustedZero: mapping.constants?.adjusted_total_zero === 'refunded' ? 'refunded' : 'unadjusted',
    rate: settleRate(settling),
    currency,
    symbols,
    ...readStatuses(settling),
    damaged: listDamaged(settling),
    totalsLines: known.totalsLines,
    people: mapping.people ?? {},
  };
  return { plan, doubts };
}
