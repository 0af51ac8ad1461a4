import { readAnswer } from './answers.ts';
import { cleanCell, isNoValue } from './cells.ts';
import type { Entry } from './entry.ts';
import { saysCancelled } from './flags.ts';
import {
  type Bench,
  type Failure,
  findAmount,
  findCurrency,
  findId,
  findLeftOut,
  findStatus,
  findText,
  findTime,
  hasExtraCells,
  hasNegativePieces,
  isFailure,
  type Judged,
  makeLine,
  refuseLine,
  type StatusSaid,
  saysNothing,
} from './judge.ts';
import { findHolding, type OrderAmounts, settleMoney, USES } from './money.ts';
import { readCodes, readEmail, readUsedCodes } from './people.ts';
import type { Plan } from './plan.ts';
import type { Goods, Line, OrderRecord } from './shapes.ts';
import { isPartialRefund } from './statuses.ts';
import { readTime, settleTime } from './times.ts';
import { saysTotal } from './totals.ts';

const PART_FIELDS = [
  ['amount', 'amount'],
  ['subtotal', 'subtotal'],
  ['discount', 'discount'],
  ['total', 'total'],
  ['shipping', 'shipping'],
  ['taxes', 'taxes'],
  ['fees', 'fees'],
  ['refunded', 'refunded'],
  ['refunded_tax', 'refundedTax'],
  ['adjusted_total', 'adjustedTotal'],
] as const;
const SINGLE = [
  ...['order_id', 'order_number', 'placed_at', 'paid_at', 'cancelled_at', 'currency', 'status', 'customer_email'],
  ...PART_FIELDS.map(([field]) => field),
] as const;

/** The column that goods are read from, whose sign says the currency. */
export const BASIS: Readonly<Record<Goods, string>> = {
  amount: 'amount',
  subtotal: 'subtotal',
  subtotal_less_discount: 'subtotal',
  total_less_rest: 'total',
  total: 'total',
};

function readParts(entry: Entry, plan: Plan, currency: string): OrderAmounts | Failure {
  const parts: OrderAmounts = {};
  for (const [field, part] of PART_FIELDS) {
    if (plan.columns[field] === undefined && plan.constants[field] === undefined) continue;
    const amount = findAmount(entry, plan, field, currency);
    if (isFailure(amount)) return amount;
    parts[part] = amount;
  }
  return parts;
}

/** The amounts of an order whose lines have a part each. */
function addParts(entry: Entry, plan: Plan, currency: string): OrderAmounts | Failure {
  const sum: OrderAmounts = {};
  for (const i of entry.rows.keys()) {
    const parts = readParts(entry.row(i), plan, currency);
    if (isFailure(parts)) return parts;
    for (const [, part] of PART_FIELDS)
      if (parts[part] !== undefined) sum[part] = (sum[part] ?? 0) + (parts[part] ?? 0);
  }
  return sum;
}

const MONEY_FIELDS: ReadonlySet<string> = new Set(PART_FIELDS.map(([field]) => field));

/** Rows of one order must not say different things where only one can be true. */
function findContradiction(entry: Entry, plan: Plan, isAdded: boolean): string | undefined {
  if (entry.rows.length < 2) return undefined;
  return SINGLE.find((field) => {
    if (isAdded && MONEY_FIELDS.has(field)) return false;
    const position = plan.columns[field];
    if (position === undefined || plan.damaged.includes(position)) return false;
    const texts = entry.texts(position);
    if (texts.length < 2) return false;
    const values = new Set(texts.map((text) => JSON.stringify(entry.number(text)?.value ?? text)));
    return values.size > 1;
  });
}

/** Several rows that differ have an amount; one that stands in the file twice is only repeated. */
function repeatsAmount({ rows }: Entry, { plan, format }: Bench): boolean {
  if (format || rows.length < 2) return false;
  const at = plan.columns[BASIS[plan.goods ?? 'amount']] ?? -1;
  const filled = rows.filter((cells) => (cells[at] ?? '').trim() !== '');
  const [first] = filled;
  return filled.some((cells) => cells.some((cell, i) => cleanCell(cell) !== cleanCell(first?.[i] ?? '')));
}

/** The refund rows of an order, whose goods are negative, apart from its own. */
function splitRefunds(entry: Entry, { plan, format }: Bench): { own: Entry; refunds: Entry[] } {
  const position = plan.columns[BASIS[plan.goods ?? 'amount']];
  if (!format?.hasRefundRows || entry.rows.length < 2 || position === undefined) return { own: entry, refunds: [] };
  const rows = entry.rows.map((_, i) => entry.row(i));
  const isRefund = (row: Entry) => entry.number(row.first(position))?.value.isNegative ?? false;
  const [first, ...others] = rows.filter((row) => !isRefund(row));
  if (!first) return { own: entry, refunds: [] };
  for (const row of others) first.merge(row);
  return { own: first, refunds: rows.filter(isRefund) };
}

function sumRefundRows(refunds: readonly Entry[], plan: Plan, currency: string): number | Failure {
  let sum = 0;
  for (const row of refunds) {
    const amount = findAmount(row, plan, BASIS[plan.goods ?? 'amount'], currency);
    if (isFailure(amount)) return amount;
    sum += Math.abs(amount ?? 0);
  }
  return sum;
}

interface Times {
  placed_at: string;
  paid_at: string | null;
  cancelled_at: string | null;
  refunded_at: string | null;
}

function readTimes(entry: Entry, bench: Bench): Times | Failure {
  const hasPlaced = bench.plan.columns.placed_at !== undefined || bench.plan.constants.placed_at !== undefined;
  const placedTime = findTime(entry, bench, 'placed_at', true);
  const paidTime = findTime(entry, bench, 'paid_at', !hasPlaced);
  const cancelledTime = findTime(entry, bench, 'cancelled_at', false);
  const refundedTime = findTime(entry, bench, 'refunded_at', false);
  for (const time of [placedTime, paidTime, cancelledTime, refundedTime]) if (isFailure(time)) return time;
  const at = placedTime ?? paidTime;
  if (at === null || isFailure(at) || isFailure(paidTime) || isFailure(cancelledTime) || isFailure(refundedTime))
    return { problem: 'time_missing' };
  return { placed_at: at, paid_at: paidTime, cancelled_at: cancelledTime, refunded_at: refundedTime };
}

/** The time at which an order was given back, where only its refunds say so. */
function findRefundTime(entry: Entry, bench: Bench): string | null {
  const { plan } = bench;
  const [row] = splitRefunds(entry, bench).refunds;
  const ofRow = row ? findTime(row, bench, 'placed_at', true) : null;
  if (typeof ofRow === 'string') return ofRow;
  const item = /date:\s*([^|;]+)/.exec(entry.text(plan, 'refunded'))?.[1];
  const cell = item === undefined ? undefined : readTime(item.trim());
  if (!cell) return null;
  const reading = { order: 'ymd', languages: ['en'], digits: null, timeZone: plan.timeZone } as const;
  const instant = settleTime(cell, reading, { clock: null, zone: null }, bench.now);
  return 'atMs' in instant ? new Date(instant.atMs).toISOString() : null;
}

const isTest = (text: string) => /^(?:test.*|on)$/i.test(text) || (text !== '' && readAnswer(text) === 'yes');

function findReason(entry: Entry, bench: Bench, status: StatusSaid | null): string | undefined {
  if (isTest(entry.text(bench.plan, 'test'))) return 'test';
  const reason = findLeftOut(entry, bench);
  if (reason !== undefined) return reason;
  if (status && status.meaning === undefined) return 'status_unknown';
  return status?.meaning === 'left_out' || status?.meaning === 'paused' ? 'status' : undefined;
}

function readItems(entry: Entry, plan: Plan): OrderRecord['items'] {
  if (plan.columns.sku === undefined && plan.columns.title === undefined) return [];
  const cell = (cells: readonly string[], field: string) => {
    const position = plan.columns[field];
    return position === undefined ? '' : (cells[position] ?? '').trim();
  };
  return entry.rows.flatMap((cells) => {
    const item = {
      sku: cell(cells, 'sku'),
      title: cell(cells, 'title'),
      quantity: cell(cells, 'quantity'),
      line_amount: cell(cells, 'line_amount'),
    };
    return item.sku === '' && item.title === '' ? [] : [item];
  });
}

const listAll = (entry: Entry, plan: Plan, field: string, read: (text: string) => string[]): string[] => {
  const position = plan.columns[field];
  return position === undefined
    ? []
    : [
        ...new Set(
          entry
            .texts(position)
            .flatMap(read)
            .filter((code) => !isNoValue(code)),
        ),
      ];
};

export interface OrderMoney {
  currency: string;
  amount: number;
  refunded: number;
  uses: number;
  holding: number | null;
}

/** What an order cost and what was given back, without tax and shipping. */
export function readMoney(
  entry: Entry,
  bench: Bench,
  status: StatusSaid | null,
): OrderMoney | (Failure & Pick<OrderMoney, 'holding' | 'uses'>) {
  const { plan } = bench;
  const basis = BASIS[plan.goods ?? 'amount'];
  const { own, refunds } = splitRefunds(entry, bench);
  const isRepeated = repeatsAmount(own, bench);
  const uses = isRepeated ? USES.repeatsAmount : 0;
  const fail = (failure: Failure, holding: number | null = null) => ({ ...failure, holding, uses });
  const isAdded = isRepeated && plan.repeats === 'lines';
  const contradiction = findContradiction(own, plan, isAdded);
  if (contradiction !== undefined) return fail({ problem: 'contradicting_lines', field: contradiction });
  const currencyChoice = findCurrency(own, bench, [basis, 'total']);
  if (isFailure(currencyChoice)) return fail(currencyChoice);
  const parts = isAdded ? addParts(own, plan, currencyChoice.currency) : readParts(own, plan, currencyChoice.currency);
  if (isFailure(parts)) return fail(parts);
  const holding = findHolding(bench.goods, parts);
  const goods = settleMoney(parts, bench.rules);
  const about = 'problem' in goods && goods.problem === 'negative_amount' ? { field: basis } : {};
  if ('problem' in goods) return fail({ ...goods, ...about }, holding);
  const ofRows = sumRefundRows(refunds, plan, currencyChoice.currency);
  if (isFailure(ofRows)) return fail(ofRows, holding);
  const isOpen = goods.refunded === 0 && ofRows === 0;
  const refundTime = own.text(plan, 'refunded_at');
  const hasTime = isOpen && plan.of === 'orders' && refundTime !== '' && !saysNothing(refundTime);
  const isWhole = isOpen && (status?.meaning === 'refunded' || (hasTime && plan.refundsWhole));
  const ofTime = hasTime && status?.meaning !== 'refunded' ? USES.refundTime : 0;
  const refunded = isWhole ? goods.amount : Math.min(goods.amount, goods.refunded + ofRows);
  return {
    currency: currencyChoice.currency,
    amount: goods.amount,
    refunded,
    uses: uses | goods.uses | currencyChoice.uses | ofTime,
    holding,
  };
}

/** A part was given back, and nothing says how much: only a person can say what the order is. */
const isPartUnsaid = ({ value }: StatusSaid, money: OrderMoney | Failure, { statuses, columns }: Plan): boolean =>
  isPartialRefund(value) &&
  statuses[value] === undefined &&
  columns.adjusted_total === undefined &&
  !isFailure(money) &&
  money.refunded === 0;

/** Reads an order and the identity by which it is known, or the failure by which it is refused. */
function readRecord(
  entry: Entry,
  bench: Bench,
  money: OrderMoney | Failure,
): (Pick<Line, 'known_by'> & { record: OrderRecord }) | Failure | 'totals' {
  const { plan } = bench;
  if (hasExtraCells(entry, plan)) return { problem: 'too_many_cells' };
  const [id, number] = [findId(entry, plan, 'order_id'), findId(entry, plan, 'order_number')];
  if ([id, number].some(saysTotal)) return 'totals';
  if (id === '' && number === '') return { problem: 'no_identity' };
  if (isFailure(money)) return money;
  const basis = plan.columns[BASIS[plan.goods ?? 'amount']];
  if (hasNegativePieces(entry, plan, basis)) return { problem: 'negative_quantity' };
  const times = readTimes(splitRefunds(entry, bench).own, bench);
  if (isFailure(times)) return times;
  const email = entry.text(plan, 'customer_email');
  const record: OrderRecord = {
    order_id: id === '' ? null : id,
    order_number: number === '' ? null : number,
    ...times,
    refunded_at: times.refunded_at ?? findRefundTime(entry, bench),
    currency: money.currency,
    amount: money.amount,
    refunded: money.refunded,
    customer_email: email === '' ? null : (readEmail(findText(entry, bench, 'customer_email')) ?? null),
    codes: listAll(entry, plan, 'codes', readUsedCodes),
    click_ids: listAll(entry, plan, 'click_ids', readCodes),
    items: readItems(entry, plan),
  };
  return { record, known_by: id === '' ? `number:${number.replace(/^#/, '').toLowerCase()}` : `id:${id}` };
}

/** An order of a file. */
export function judgeOrder(entry: Entry, bench: Bench): Judged {
  const { plan } = bench;
  const found = findStatus(entry, plan);
  const money = readMoney(entry, bench, found);
  const said = found && isPartUnsaid(found, money, plan) ? { ...found, meaning: undefined } : found;
  const status = said && { value: said.value, isUndecided: said.meaning === undefined };
  const holding = money.holding;
  const judgedMoney = isFailure(money)
    ? null
    : { currency: money.currency, amount: money.amount, refunded: money.refunded };
  const { uses } = money;
  const toJudged = (line: Judged['line']): Judged => ({
    line,
    uses,
    status,
    money: judgedMoney,
    person: null,
    holding,
  });
  const statusValue = said?.value ?? null;
  const leaveOut = (kind: string) => toJudged(makeLine(entry, 'left_out', kind, { status: statusValue }));
  const reason = findReason(entry, bench, said);
  const isCalledOff = reason === 'status' && statusValue !== null && saysCancelled(statusValue);
  if (reason !== undefined && !isCalledOff) return leaveOut(reason);
  const read = readRecord(entry, bench, money);
  if (reason !== undefined) {
    if (read === 'totals' || isFailure(read)) return leaveOut(reason);
    const cancelledAt = read.record.cancelled_at ?? read.record.placed_at;
    const left = leaveOut(reason);
    return {
      ...left,
      line: { ...left.line, called_off: { kind: 'order', ...read.record, cancelled_at: cancelledAt } },
    };
  }
  if (read === 'totals') return leaveOut(read);
  if (isFailure(read)) return toJudged(refuseLine(entry, plan, read, statusValue));
  const at = plan.columns[BASIS[plan.goods ?? 'amount']] ?? -1;
  const isRepeated =
    !bench.format &&
    (plan.repeats === 'order' || !repeatsAmount(entry, bench)) &&
    entry.rows.filter((cells) => (cells[at] ?? '').trim() !== '').length > 1;
  const { record, known_by } = read;
  const lineFacts = { record: { kind: 'order' as const, ...record }, known_by, status: statusValue };
  return { ...toJudged(makeLine(entry, 'read', null, lineFacts)), repeatsAmount: isRepeated };
}
