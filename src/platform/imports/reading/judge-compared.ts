import { readAnswer } from './answers.ts';
import type { Entry } from './entry.ts';
import {
  type Bench,
  findId,
  findLeftOut,
  findStatus,
  hasExtraCells,
  isFailure,
  type Judged,
  makeLine,
  refuseLine,
  type StatusSaid,
  saysNothing,
} from './judge.ts';
import { type OrderMoney, readMoney } from './judge-order.ts';
import { USES } from './money.ts';
import type { ComparedRecord } from './shapes.ts';

/** What the goods cost: a range where nothing says how much of the tax in prices is of shipping. */
function readGoods(entry: Entry, bench: Bench, said: StatusSaid | null, money: OrderMoney): ComparedRecord['goods'] {
  const { currency, amount, refunded, uses } = money;
  if ((uses & USES.taxInPrices) === 0) return { currency, least: amount, most: amount, refunded };
  const rules = { ...bench.rules, taxInPrices: 'goods_only' } as const;
  const least = readMoney(entry, { ...bench, rules }, said);
  // Shops round each line's tax.
  return { currency, least: isFailure(least) ? 0 : Math.min(least.amount, amount), most: amount + 1, refunded };
}

/** An order of a store's file to be compared with ours: it is one whatever its status, and also if it is unreadable. */
export function judgeCompared(entry: Entry, bench: Bench): Judged {
  const { plan } = bench;
  const said = findStatus(entry, plan);
  const status = said && { value: said.value, isUndecided: said.meaning === undefined };
  const money = readMoney(entry, bench, said);
  const judgedMoney = isFailure(money)
    ? null
    : { currency: money.currency, amount: money.amount, refunded: money.refunded };
  const uses = isFailure(money) ? 0 : money.uses;
  const toJudged = (line: Judged['line']): Judged => ({
    line,
    uses,
    status,
    money: judgedMoney,
    person: null,
    holding: money.holding,
  });
  const reason = findLeftOut(entry, bench) ?? (status?.isUndecided ? 'status_unknown' : undefined);
  if (reason !== undefined) return toJudged(makeLine(entry, 'left_out', reason, { status: said?.value ?? null }));
  const [id, number] = [findId(entry, plan, 'order_id'), findId(entry, plan, 'order_number')];
  const cancelledAt = entry.text(plan, 'cancelled_at');
  const goods = isFailure(money) ? null : readGoods(entry, bench, said, money);
  const isWhole = !isFailure(money) && money.amount > 0 && money.refunded >= money.amount;
  const record: ComparedRecord = {
    order_id: id === '' ? null : id,
    order_number: number === '' ? null : number,
    goods,
    is_refunded: said?.meaning === 'refunded' || isWhole,
    is_cancelled:
      said?.meaning === 'left_out' ||
      (cancelledAt !== '' && !saysNothing(cancelledAt) && readAnswer(cancelledAt) !== 'no'),
  };
  const known_by = id === '' ? `number:${number.replace(/^#/, '').toLowerCase()}` : `id:${id}`;
  const lineFacts = { known_by, status: said?.value ?? null };
  const failure = hasExtraCells(entry, plan) ? { problem: 'too_many_cells' } : isFailure(money) ? money : undefined;
  if (id === '' && number === '')
    return toJudged(refuseLine(entry, plan, { problem: 'no_identity' }, lineFacts.status));
  if (!failure)
    return toJudged(makeLine(entry, 'read', null, { ...lineFacts, record: { kind: 'compared', ...record } }));
  const line = refuseLine(entry, plan, failure, lineFacts.status);
  return toJudged({ ...line, known_by, record: { kind: 'compared', ...record, goods: null } });
}
