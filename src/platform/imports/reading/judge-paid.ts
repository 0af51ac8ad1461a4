import { isNoValue } from './cells.ts';
import type { Entry } from './entry.ts';
import { describeFault } from './faults.ts';
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
} from './judge.ts';
import { hasSeveralEmails, joinNames, readEmail, readEntities, readHandle } from './people.ts';
import type { Plan } from './plan.ts';
import { BrokenFile } from './problems.ts';
import { isBack, type Returns, splitReturned } from './returns.ts';
import type { PaidRecord } from './shapes.ts';

type Who = Pick<PaidRecord, 'email' | 'handle' | 'name' | 'code'>;

const orNull = (text: string): string | null => (text === '' ? null : text);

/** The name of a person: a column of it, else first and last name. */
export function findName(entry: Entry, bench: Bench): string {
  const whole = findText(entry, bench, 'name');
  const name =
    whole === '' ? joinNames(findText(entry, bench, 'first_name'), findText(entry, bench, 'last_name')) : whole;
  if (name === '' || isNoValue(name)) return '';
  return readEntities(name)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 200);
}

function readWho(entry: Entry, bench: Bench): Who | Failure {
  const { plan } = bench;
  const [emailText, handleText] = [entry.said(plan, 'email'), entry.said(plan, 'handle')];
  const email = emailText === '' ? null : readEmail(emailText);
  const handle = handleText === '' ? null : readHandle(handleText);
  const who = { name: orNull(findName(entry, bench)), code: orNull(findId(entry, plan, 'code')) };
  if (email === undefined) return { problem: 'email_unreadable', field: 'email' };
  if (handle === undefined && email === null) return { problem: 'handle_unreadable', field: 'handle' };
  const identity = { email, handle: handle ?? null, ...who };
  return Object.values(identity).every((value) => value === null) ? { problem: 'no_person' } : identity;
}

/** The amount in minor units, with the sign that money sent has. */
function readPaid(entry: Entry, bench: Bench) {
  const currencyChoice = findCurrency(entry, bench, ['amount']);
  if (isFailure(currencyChoice)) return currencyChoice;
  const amount = findAmount(entry, bench.plan, 'amount', currencyChoice.currency);
  if (isFailure(amount)) return amount;
  if (amount === undefined) return { problem: 'amount_missing' };
  return {
    currency: currencyChoice.currency,
    amount: bench.format?.isNegative ? -amount || 0 : amount,
    uses: currencyChoice.uses,
  };
}

/** An amount that only accompanies the record: an unreadable one is dropped. */
function readBeside(entry: Entry, plan: Plan, field: string, currency: string): number | null {
  const amount = plan.columns[field] === undefined ? undefined : findAmount(entry, plan, field, currency);
  return amount === undefined || isFailure(amount) ? null : Math.abs(amount);
}

/** A later file knows the record by its reference, else by who, when and how much, and by the n-th of the same. */
function nameKnown(record: PaidRecord, bench: Bench): string {
  const who = record.email ?? record.handle ?? record.code ?? record.name ?? '';
  const said =
    record.reference === null
      ? [who, record.paid_at.slice(0, 10), String(record.amount), record.currency]
      : [who, record.reference];
  const key = JSON.stringify(said);
  return `${key} ${bench.nextCount(key)}`;
}

function nameReason(entry: Entry, bench: Bench, isUnknown: boolean, isLeftOut: boolean): string | undefined {
  const reason = findLeftOut(entry, bench);
  if (reason !== undefined) return reason;
  if (isUnknown) return 'status_unknown';
  return isLeftOut ? 'status' : undefined;
}

/** Rows of one payment must not say different things of it. */
const findContradiction = (entry: Entry, { columns }: Plan): string | undefined =>
  ['amount', 'currency', 'paid_at', 'status', 'email', 'name'].find((field) => {
    const position = columns[field];
    return position !== undefined && entry.rows.length > 1 && entry.texts(position).length > 1;
  });

/** The part of a payment that came back; a failure if its rows cannot be one payment. */
function sumReturned(own: Entry, returned: readonly Entry[], bench: Bench, currency: string): number | Failure {
  const said = bench.plan.columns.refunded === undefined ? 0 : findAmount(own, bench.plan, 'refunded', currency);
  if (isFailure(said)) return said;
  let sum = Math.abs(said ?? 0);
  for (const row of returned) {
    const ofRow = findCurrency(row, bench, ['amount']);
    if (isFailure(ofRow)) return ofRow;
    if (ofRow.currency !== currency) return { problem: 'contradicting_lines', field: 'currency' };
    const amount = findAmount(row, bench.plan, 'amount', currency);
    if (isFailure(amount)) return amount;
    sum += Math.abs(amount ?? 0);
  }
  return sum;
}

/** Gross, fee and net of a payment must add up: else a spreadsheet has moved one of their columns. */
function isMoved(entry: Entry, { plan }: Bench, { currency, amount }: { currency: string; amount: number }): boolean {
  const net = plan.columns.net === undefined ? null : readBeside(entry, plan, 'net', currency);
  if (net === null || entry.rows.length > 1) return false;
  const fee = readBeside(entry, plan, 'fee', currency) ?? 0;
  const gross = Math.abs(amount);
  return net !== gross + fee && net !== Math.abs(gross - fee);
}

/** Money that came back, of a payment that the file lacks. */
function refuseReturn({ lines, rows }: Entry, { of, type }: Returns, { headers }: Plan): Failure {
  if (of >= 0) return { problem: 'returned_unmatched', field: 'reference' };
  const [line = 0] = lines;
  const value = (rows[0]?.[type] ?? '').slice(0, 100);
  const expected = 'a column “Reference Txn ID”, which names the payment that came back';
  const fault = { field: 'reference', column: headers[type] ?? '', value, expected };
  throw new BrokenFile('returns_unnamed', `Line ${line} is money that came back. ${describeFault(fault)}`, line, fault);
}

/** A commission or a payout of a file. */
export function judgePaid(entry: Entry, bench: Bench): Judged {
  const { plan, format, returns } = bench;
  const { own, returned } = format?.isNegative ? splitReturned(entry, plan) : { own: entry, returned: [] };
  const said = findStatus(own, plan);
  const status = said && { value: said.value, isUndecided: said.meaning === undefined };
  const money = readPaid(own, bench);
  const back = isFailure(money) ? 0 : sumReturned(own, returned, bench, money.currency);
  const left = isFailure(money) || isFailure(back) ? 0 : money.amount - back;
  const judgedMoney = isFailure(money)
    ? null
    : { currency: money.currency, amount: left > 0 ? left : money.amount, refunded: 0 };
  const uses = isFailure(money) ? 0 : money.uses;
  const who = readWho(own, bench);
  const isNamed = !isFailure(who) && who.email === null && who.handle === null && who.code === null;
  const toJudged = (line: Judged['line'], person: string | null = null): Judged => ({
    line,
    uses,
    status,
    money: judgedMoney,
    person,
    holding: null,
  });
  const refuse = (failure: Failure) => toJudged(refuseLine(entry, plan, failure, said?.value ?? null));
  const make = (outcome: 'left_out' | 'repeated', kind: string) =>
    toJudged(makeLine(entry, outcome, kind, { status: said?.value ?? null }));
  const isLeftOut = said !== null && said.meaning !== undefined && said.meaning !== 'paid' && said.meaning !== 'counts';
  const isReceived = format?.isNegative === true && !isFailure(money) && money.amount < 0;
  const reason = nameReason(own, bench, (status?.isUndecided ?? false) && !isReceived, isLeftOut);
  if (reason !== undefined) return make('left_out', reason);
  if (returns && entry.rows.every((cells) => isBack(returns, cells))) return refuse(refuseReturn(entry, returns, plan));
  if (isReceived) return make('left_out', 'not_sent');
  if (hasExtraCells(entry, plan)) return refuse({ problem: 'too_many_cells' });
  const field = findContradiction(own, plan);
  if (field !== undefined) return refuse({ problem: 'contradicting_lines', field });
  if (isFailure(money)) return refuse(money);
  if (isFailure(back)) return refuse(back);
  if (isFailure(who)) return refuse(who);
  if (money.amount < 0) return refuse({ problem: 'negative_amount', field: 'amount' });
  if (!format && hasNegativePieces(own, plan, plan.columns.amount)) return refuse({ problem: 'negative_quantity' });
  if (money.amount === 0) return make('left_out', 'zero');
  if (left <= 0) return make('left_out', 'returned');
  if (isMoved(own, bench, money)) return refuse({ problem: 'amounts_disagree', field: 'net' });
  const paid_at = findTime(own, bench, 'paid_at', true);
  if (isFailure(paid_at)) return refuse(paid_at);
  if (paid_at === null) return refuse({ problem: 'time_missing', field: 'paid_at' });
  const reference = orNull(findId(own, plan, 'reference'));
  if (reference !== null && bench.isRepeated(entry)) return make('repeated', 'repeated');
  const record: PaidRecord = {
    ...who,
    amount: left,
    currency: money.currency,
    paid_at,
    reference,
    order_id: orNull(findId(own, plan, 'order_id')),
    sale_amount: readBeside(own, plan, 'sale_amount', money.currency),
    fee: readBeside(own, plan, 'fee', money.currency),
    method: orNull(own.text(plan, 'method').slice(0, 100)),
  };
  const known_by = nameKnown(record, bench);
  const person = isNamed ? who.name : null;
  const lineFacts = { record: { kind: 'paid' as const, ...record }, known_by, status: said?.value ?? null };
  const hasOtherEmails = hasSeveralEmails(own.said(plan, 'email'));
  return { ...toJudged(makeLine(entry, 'read', null, lineFacts), person), hasOtherEmails };
}
