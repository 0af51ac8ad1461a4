import { timeZoneName } from '../../../kit/values/time-zone.ts';
import type { Assignment } from './columns.ts';
import { findPair } from './currency-pairs.ts';
import { BASIC, type Choice, type Doubt, type Known, NO_LINES, type Settling } from './doubts.ts';
import { foldWords } from './fold.ts';
import { BASIS } from './judge-order.ts';
import { isOrders, isPaid } from './kinds.ts';
import type { Plan } from './plan.ts';
import type { ColumnProfile } from './profile.ts';
import {
  askNetRefunds,
  askProof,
  askRefundTimes,
  askRepeats,
  askShares,
  findHeaderSign,
  settleCurrency,
  settleGoods,
  settleRepeats,
  settleSymbols,
} from './settle-money.ts';
import { settleDecimals, settleRate, settleScales, settleTimes, settleUnit } from './settle-writing.ts';
import type { DecimalSign, Mapping } from './shapes.ts';
import { foldStatus, isPartialRefund, readStatus } from './statuses.ts';
import { readZone } from './zones.ts';

/** The column of each field; of several that it may be, the first, which becomes a question. */
function pickColumns(assignment: Assignment): Record<string, number> {
  const columns: Record<string, number> = {};
  for (const [field, { positions }] of assignment) {
    const [position] = positions;
    if (position !== undefined) columns[field] = position;
  }
  return columns;
}

const NOUNS: Readonly<Record<string, string>> = {
  fees: 'fee that is a part of the total',
  destination_url: 'page that their links lead to',
  rate: 'rate of commission',
  payment_email: 'address that money is sent to',
  refunded: 'amount refunded',
  placed_at: 'time of the order',
  paid_at: 'time of payment',
  cancelled_at: 'time of cancellation',
  refunded_at: 'time of the refund',
};

function askColumns(assignment: Assignment, { headers, request }: Known): Doubt[] {
  return [...assignment.values()].flatMap(({ field, positions, confidence, isOptional }) => {
    if (confidence !== 'asked') return [];
    const names = positions.map((position) => headers[position] ?? '');
    const isReturn = field === 'refunded' && isPaid(request.of);
    const noun = isReturn ? 'amount that came back' : (NOUNS[field] ?? field.replaceAll('_', ' '));
    const choices: Choice[] = names.map((name) => {
      const mapping = { columns: { [field]: name } };
      return { mapping, label: `“${name}” is the ${noun}` };
    });
    if (isOptional) choices.push({ mapping: { columns: { [field]: null } }, label: `No column is the ${noun}` });
    const message = `Which column is the ${noun}: ${names.map((name) => `“${name}”`).join(' or ')}?`;
    return [{ code: 'column_meaning', field, message, ...NO_LINES, choices }];
  });
}

/** Takes the one of several columns of currencies that belongs to the amount that is read. */
function pairCurrency(
  columns: Record<string, number>,
  known: Known,
  assignment: Assignment,
  mapping: Mapping,
): boolean {
  const assigned = assignment.get('currency');
  if (!assigned || assigned.positions.length < 2) return false;
  const goods = isOrders(known.request.of) ? settleGoods({ known, mapping, columns, doubts: [] }) : 'amount';
  const position = findPair(assigned, columns[BASIS[goods ?? 'amount']], known.headers);
  if (position !== undefined) columns.currency = position;
  return position !== undefined;
}

/** The columns of ids of which something is true. */
const listIds = ({ known, columns }: Settling, isIt: (profile: ColumnProfile) => boolean): number[] =>
  ['order_id', 'order_number', 'reference', 'external_id', 'pk'].flatMap((field) => {
    const position = columns[field];
    const profile = position === undefined ? undefined : known.profiles.get(position);
    return position !== undefined && profile && isIt(profile) ? [position] : [];
  });

const isDamaged = ({ id }: ColumnProfile) =>
  id.scientific > 0 || (id.long > 0 && id.long === id.rounded) || (id.dated > 0 && id.dashed > 0);
/** A spreadsheet or a program took the ids of a column for numbers. Points group them only where commas separate decimals. */
function isNumbered({ id }: ColumnProfile, signs: readonly DecimalSign[]): boolean {
  const isPointed = id.pointed > 0 && signs.length > 0 && signs.every((sign) => sign === ',');
  const marked = id.numbered + (isPointed ? id.pointed : 0);
  return marked > 0 && marked + id.short === id.numeric;
}

function readStatuses({ known, mapping, columns }: Settling): Pick<Plan, 'statuses' | 'hasStatuses'> {
  const statuses: Plan['statuses'] = {};
  for (const [value, meaning] of Object.entries(mapping.statuses ?? {})) statuses[foldStatus(value)] = meaning;
  const position = columns.status;
  const values = position === undefined ? undefined : known.profiles.get(position)?.values;
  for (const value of [...(values?.keys() ?? []), ...known.flags.map(({ status }) => status)]) {
    const isOpen = known.request.of === 'orders' && isPartialRefund(value);
    const meaning = statuses[value] ?? (isOpen ? undefined : readStatus(known.request.of, value));
    if (meaning !== undefined) statuses[value] = meaning;
  }
  return { statuses, hasStatuses: (values?.size ?? 0) > 0 };
}

export interface Resolved {
  plan: Plan;
  doubts: Doubt[];
}

const saysUtc = (header: string) => foldWords(header).some((word) => word === 'utc' || word === 'gmt');

/** The zones that headers name, as in `Date (PST)` or `Created at EDT`. */
function findHeaderZones(headers: readonly string[]): Record<number, string> {
  const zones: Record<number, string> = {};
  for (const [position, header] of headers.entries()) {
    if (saysUtc(header) && !/[+-]\s?\d/.test(header)) continue;
    const bracket = /[([]\s*([^()[\]]{2,40}?)\s*(?:time)?\s*[)\]]\s*$/i.exec(header)?.[1];
    const last = header === header.toUpperCase() ? undefined : /\s([A-Z]{3,4})$/.exec(header)?.[1];
    const zone = [bracket, last].find((text) => text !== undefined && readZone(text) !== undefined);
    if (zone !== undefined) zones[position] = zone;
  }
  return zones;
}

/** The plan under a mapping, and what is still in doubt. Doubts are planned by their first choice. */
export function resolvePlan(known: Known, assignment: Assignment, mapping: Mapping): Resolved {
  const columns = pickColumns(assignment);
  const isPaired = pairCurrency(columns, known, assignment, mapping);
  const doubts = askColumns(assignment, known).filter(({ field }) => !isPaired || field !== 'currency');
  const settling: Settling = { known, mapping, columns, doubts };
  const { request, format, headers } = known;
  const { of } = request;
  const hasMoney = isOrders(of) || isPaid(of);
  const decimals = settleDecimals(settling);
  const times = settleTimes(settling);
  const scales = hasMoney ? settleScales(settling) : {};
  const unit = hasMoney ? settleUnit(settling, { decimals, scales }) : 'major';
  const symbols = hasMoney ? settleSymbols(settling) : {};
  const currency = hasMoney ? settleCurrency(settling, symbols) : null;
  const headerSign = hasMoney ? findHeaderSign(settling) : undefined;
  const goods = isOrders(of) ? settleGoods(settling) : null;
  if (of === 'orders') {
    askShares(settling);
    askRepeats(settling, goods);
    askRefundTimes(settling);
    askNetRefunds(settling);
  }
  if (isPaid(of)) askProof(settling);
  const zones = findHeaderZones(headers);
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
      : headers.flatMap((header, position) => (saysUtc(header) && zones[position] === undefined ? [position] : [])),
    zones,
    timeZone: timeZoneName(mapping.time_zone ?? '') ? (mapping.time_zone ?? '') : request.brand.timeZone,
    unit,
    scales,
    goods,
    tax: mapping.tax ?? null,
    taxInPrices: mapping.tax_in_prices ?? 'proportional',
    partialRefunds: mapping.partial_refunds ?? 'proportional',
    adjustedZero: mapping.constants?.adjusted_total_zero === 'refunded' ? 'refunded' : 'unadjusted',
    repeats: settleRepeats(settling),
    refundsWhole: mapping.constants?.refunds_without_amount !== 'none',
    netOfRefunds: mapping.constants?.net_of_refunds === 'yes',
    rate: settleRate(settling),
    currency,
    ...(headerSign && 'currency' in headerSign && !format && { headerCurrency: headerSign.currency }),
    symbols,
    hasSymbols: BASIC.some((field) => (known.profiles.get(columns[field] ?? -1)?.money.symbols.size ?? 0) > 0),
    ...readStatuses(settling),
    flags: known.flags,
    damaged: listIds(settling, isDamaged),
    numbered: listIds(settling, (profile) => isNumbered(profile, Object.values(decimals))),
    totalsLines: known.totalsLines,
    ...(known.descriptionLine !== null && { descriptionLine: known.descriptionLine }),
    ...(known.footer !== undefined && { footer: known.footer }),
    people: mapping.people ?? {},
  };
  return { plan, doubts };
}
