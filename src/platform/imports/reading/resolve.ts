import type { Assignment } from './columns.ts';
import { BASIC, type Choice, type Doubt, type Known, NO_LINES, type Settling } from './doubts.ts';
import { foldWords } from './fold.ts';
import { isOrders, isPaid } from './kinds.ts';
import type { Plan } from './plan.ts';
import type { ColumnProfile } from './profile.ts';
import {
  askProof,
  askRefundTimes,
  askRepeats,
  askShares,
  findHeaderSign,
  settleCurrency,
  settleGoods,
  settleSymbols,
} from './settle-money.ts';
import { settleDecimals, settleRate, settleTimes, settleUnit } from './settle-writing.ts';
import type { Mapping } from './shapes.ts';
import { foldStatus, readStatus } from './statuses.ts';

/** The column of each field; of several that it may be, the first, which becomes a question. */
function pickColumns(assignment: Assignment): Record<string, number> {
  const columns: Record<string, number> = {};
  for (const [field, { positions }] of assignment) {
    const [position] = positions;
    if (position !== undefined) columns[field] = position;
  }
  return columns;
}

const TIMES: Readonly<Record<string, string>> = {
  placed_at: 'time of the order',
  paid_at: 'time of payment',
  cancelled_at: 'time of cancellation',
  refunded_at: 'time of the refund',
};

function askColumns(assignment: Assignment, { headers }: Known): Doubt[] {
  return [...assignment.values()].flatMap(({ field, positions, confidence, isOptional }) => {
    if (confidence !== 'asked') return [];
    const names = positions.map((position) => headers[position] ?? '');
    const noun = TIMES[field] ?? field.replaceAll('_', ' ');
    const choices: Choice[] = names.map((name) => {
      const mapping = { columns: { [field]: name } };
      return { mapping, label: `“${name}” is the ${noun}` };
    });
    if (isOptional) choices.push({ mapping: { columns: { [field]: null } }, label: `No column is the ${noun}` });
    const message = `Which column is the ${noun}: ${names.map((name) => `“${name}”`).join(' or ')}?`;
    return [{ code: 'column_meaning', field, message, ...NO_LINES, choices }];
  });
}
/** The columns of ids of which something is true. */
const listIds = ({ known, columns }: Settling, isIt: (profile: ColumnProfile) => boolean): number[] =>
  ['order_id', 'order_number', 'reference', 'external_id', 'pk'].flatMap((field) => {
    const position = columns[field];
    const profile = position === undefined ? undefined : known.profiles.get(position);
    return position !== undefined && profile && isIt(profile) ? [position] : [];
  });

const isDamaged = ({ id }: ColumnProfile) => id.scientific > 0 || (id.long > 0 && id.long === id.rounded);
/** A spreadsheet or a program took all ids of a column for numbers. */
const isNumbered = ({ id, filled }: ColumnProfile) => id.numbered > 0 && id.numbered === filled;

function readStatuses({ known, mapping, columns }: Settling): Pick<Plan, 'statuses' | 'hasStatuses'> {
  const statuses: Plan['statuses'] = {};
  for (const [value, meaning] of Object.entries(mapping.statuses ?? {})) statuses[foldStatus(value)] = meaning;
  const position = columns.status;
  const values = position === undefined ? undefined : known.profiles.get(position)?.values;
  for (const value of values?.keys() ?? []) {
    const meaning = statuses[value] ?? readStatus(known.request.of, value);
    if (meaning !== undefined) statuses[value] = meaning;
  }
  for (const { status } of known.flags) {
    const meaning = statuses[status] ?? readStatus(known.request.of, status);
    if (meaning !== undefined) statuses[status] = meaning;
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
  const currency = hasMoney ? settleCurrency(settling, symbols) : null;
  const headerSign = hasMoney ? findHeaderSign(settling) : undefined;
  const goods = isOrders(of) ? settleGoods(settling) : null;
  if (of === 'orders') {
    askShares(settling);
    askRepeats(settling, goods);
    askRefundTimes(settling);
  }
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
    repeats: mapping.constants?.repeated_amounts === 'lines' ? 'lines' : 'order',
    refundsWhole: mapping.constants?.refunds_without_amount !== 'none',
    rate: settleRate(settling),
    currency,
    ...(headerSign && 'currency' in headerSign && !format && { headerCurrency: headerSign.currency }),
    symbols,
    hasSymbols: BASIC.some((field) => (known.profiles.get(columns[field] ?? -1)?.money.symbols.size ?? 0) > 0),
    ...readStatuses(settling),
    flags: known.flags,
    damaged: listIds(settling, isDamaged),
    numbered: listIds(settling, isNumbered),
    totalsLines: known.totalsLines,
    people: mapping.people ?? {},
  };
  return { plan, doubts };
}
