/**
 * What docs/terms.md says of one brand, as plainly as it can be said: all orders in a list, and every question answered from all of
 * them. Nothing of src/ decides anything here. Orders come in the order of their times; none has the time of another.
 */

type Kind = 'once' | 'first' | 'renewal' | 'upgrade' | 'resubscribe';

export interface ModelRule {
  when: {
    product?: string;
    kind?: Kind;
    by?: 'code' | 'customer';
    customer?: 'new' | 'returning';
    paymentTo?: number;
    monthOrdersFrom?: number;
  };
  percent?: number;
  flatMinor?: number;
}

export interface ModelTerms extends ModelRule {
  place: string;
  covers: 'order' | 'subscription' | 'customer';
  months: number | null;
  payments: number | null;
  rules: ModelRule[];
  capOrder: number | null;
  capCustomer: number | null;
  capMonth: number | null;
  budgetMonth: number | null;
}

export interface ModelOrder {
  at: number;
  kind: Kind;
  subscription: string | null;
  previous: string | null;
  customerId: string | null;
  email: string | null;
  currency: 'USD' | 'EUR';
  lines: { sku: string; minor: number }[];
  isPaid: boolean;
  isCancelled: boolean;
  refunds: number[];
  decision: Decision | null;
  owner: Row | null;
}

interface Decision {
  creator: string;
  terms: ModelTerms;
  row: Row | null;
  by: 'code' | 'customer';
  payment: number;
  customer: 'new' | 'returning' | null;
  monthOrders: number;
  room: number | null;
}

interface Row {
  creator: string;
  terms: ModelTerms;
  first: ModelOrder;
  since: number;
  isMade: boolean;
}

const DAY = 86_400_000;
const amountOf = ({ lines }: ModelOrder) => lines.reduce((sum, { minor }) => sum + minor, 0);
const monthOf = (at: number) => new Date(at).toISOString().slice(0, 7);

function addMonths(at: number, months: number): number {
  const date = new Date(at);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months + 1, 0)).getUTCDate();
  const day = Math.min(date.getUTCDate(), last);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, day) + (at % DAY);
}

const isPlain = ({ months, payments, rules, capOrder, capCustomer, capMonth, budgetMonth, flatMinor }: ModelTerms) =>
  rules.length === 0 &&
  [months, payments, capOrder, capCustomer, capMonth, budgetMonth, flatMinor ?? null].every((one) => one === null);

const isSameCustomer = (a: ModelOrder, b: ModelOrder) =>
  (a.customerId !== null && a.customerId === b.customerId) || (a.email !== null && a.email === b.email);
const sharesProduct = (a: ModelOrder, b: ModelOrder) =>
  a.lines.some(({ sku }) => b.lines.some((line) => line.sku === sku));

/** Half to even, of a fraction of whole numbers. */
function divide(numerator: bigint, denominator: bigint): number {
  const [whole, rest] = [numerator / denominator, (numerator % denominator) * 2n];
  const isUp = rest > denominator || (rest === denominator && whole % 2n === 1n);
  return Number(isUp ? whole + 1n : whole);
}

/** Divides a sum by weights, what is over to the largest remainders, the earlier first. */
function share(total: number, weights: readonly number[]): number[] {
  const all = weights.reduce((sum, weight) => sum + BigInt(weight), 0n);
  if (all === 0n) return weights.map(() => 0);
  const exact = weights.map((weight) => BigInt(total) * BigInt(weight));
  const shares = exact.map((one) => Number(one / all));
  const order = exact
    .map((one, i) => ({ i, rest: one % all }))
    .sort((a, b) => (a.rest === b.rest ? a.i - b.i : a.rest > b.rest ? -1 : 1));
  let over = total - shares.reduce((sum, one) => sum + one, 0);
  for (const { i } of order) {
    if (over === 0) break;
    shares[i] = (shares[i] ?? 0) + 1;
    over -= 1;
  }
  return shares;
}

export class TermsModel {
  readonly orders: ModelOrder[] = [];
  readonly #rows: Row[] = [];

  #isPayment = (order: ModelOrder) => amountOf(order) > 0 && !(order.isCancelled && !order.isPaid);

  #payments(row: Row, before: number): ModelOrder[] {
    return this.orders.filter(
      (one) =>
        one.at < before &&
        this.#isPayment(one) &&
        (one === row.first || (one.decision?.by === 'customer' && one.decision.row === row)),
    );
  }

  #runs(row: Row, at: number): boolean {
    const { covers, payments, months } = row.terms;
    const paid = this.#payments(row, at);
    if (covers === 'order' && paid.length > 0) return false;
    if (payments !== null && paid.length >= payments) return false;
    const [first] = paid;
    return !(months !== null && first && at >= addMonths(first.at, months));
  }

  #knows = ({ first }: Row, order: ModelOrder) => isSameCustomer(first, order);

  /** Who decides the order beside what it carries: a row, nobody, or null for no answer. */
  #claim(order: ModelOrder): { rule: 'subscription' | 'customer'; row: Row | null } | null {
    const started = this.#rows.filter(({ since }) => since <= order.at);
    const earlier = this.orders.filter(({ at }) => at < order.at);
    const ids = [order.subscription, order.kind === 'resubscribe' ? order.previous : null].filter((id) => id !== null);
    const named = started.filter(({ first }) => first.subscription !== null && ids.includes(first.subscription));
    const [own] = named.toSorted((a, b) => a.since - b.since);
    if (own) return { rule: 'subscription', row: own };
    const telling = earlier.find(({ subscription }) => subscription !== null && ids.includes(subscription));
    if (telling) return { rule: 'subscription', row: telling.owner };
    const known = started.filter((row) => this.#knows(row, order)).toSorted((a, b) => a.since - b.since);
    if (['renewal', 'upgrade', 'resubscribe'].includes(order.kind)) {
      const first = earlier.findLast(
        (one) => one.kind === 'first' && isSameCustomer(one, order) && sharesProduct(one, order),
      );
      if (first) return { rule: 'subscription', row: first.owner };
      const row = known.findLast(({ first: origin }) => sharesProduct(origin, order)) ?? known.at(-1);
      if (row) return { rule: 'subscription', row };
    }
    const able = known.filter(({ terms }) => terms.covers === 'customer');
    const row = able.find((one) => this.#runs(one, order.at)) ?? able[0];
    return row ? { rule: 'customer', row } : null;
  }

  /** Decides the order, which may carry a code: its creator and the terms in effect for it. */
  decide(order: ModelOrder, code: { creator: string; terms: ModelTerms } | null): void {
    const carried = code && !(order.kind === 'renewal' && code.terms.covers === 'order') ? code : null;
    const claim = this.#claim(order);
    const row = claim?.row ?? null;
    const isOverruled =
      row !== null &&
      claim?.rule === 'subscription' &&
      carried?.creator === row.creator &&
      order.kind !== 'resubscribe' &&
      (row.isMade || row.terms.covers !== 'order') &&
      !isPlain(row.terms);
    const isAgain = this.orders.includes(order);
    if (!isAgain) this.orders.push(order);
    if (carried && !isOverruled) this.#win(order, carried);
    else this.#follow(order, row, isAgain);
  }

  /** Lets a row decide the order, if it runs. */
  #follow(order: ModelOrder, row: Row | null, isAgain: boolean): void {
    if (row?.isMade && !isAgain) order.owner = row;
    if (!row || !this.#runs(row, order.at)) return;
    const isNew = !row.isMade;
    if (isNew) this.#rows.push(row);
    row.isMade = true;
    order.owner = row;
    const payment = this.#payments(row, order.at).length + 1;
    this.#fix(order, { creator: row.creator, terms: row.terms, row, by: 'customer', payment });
    if (isNew) this.#decideAgain(row, order.at);
  }

  #win(order: ModelOrder, { creator, terms }: { creator: string; terms: ModelTerms }): void {
    const deal: Row = { creator, terms, first: order, since: order.at, isMade: false };
    const isStart =
      ['once', 'first', 'resubscribe'].includes(order.kind) && (terms.covers !== 'order' || amountOf(order) === 0);
    const existing = this.#rows.find(
      (row) =>
        row.creator === creator &&
        row.terms.covers === 'customer' &&
        row.since <= order.at &&
        this.#knows(row, order) &&
        this.#runs(row, order.at),
    );
    const hasKeys = order.subscription !== null || order.customerId !== null || order.email !== null;
    order.owner = isStart && existing ? existing : deal;
    this.#fix(order, { creator, terms, row: null, by: 'code', payment: 1 });
    if (!isStart || existing || !hasKeys) return;
    deal.isMade = true;
    this.#rows.push(deal);
  }

  /** Orders of a new row's keys that paid nobody since its start. */
  #decideAgain(row: Row, now: number): void {
    for (const order of this.orders) {
      const isOfKeys =
        (row.first.subscription !== null && row.first.subscription === order.subscription) || this.#knows(row, order);
      if (order.decision || order.at <= row.since || now - order.at > 90 * DAY || !isOfKeys) continue;
      this.decide(order, null);
    }
  }

  #fix(order: ModelOrder, deal: Pick<Decision, 'creator' | 'terms' | 'row' | 'by' | 'payment'>): void {
    const earlier = this.orders.filter(({ at }) => at < order.at);
    const isKnown = earlier.some((one) => one.isPaid && isSameCustomer(one, order));
    const month = earlier.filter(
      (one) =>
        one.decision?.creator === deal.creator &&
        one.isPaid &&
        !this.#isGone(one) &&
        monthOf(one.at) === monthOf(order.at),
    );
    const customer =
      order.customerId === null && order.email === null ? null : isKnown ? ('returning' as const) : ('new' as const);
    order.decision = { ...deal, customer, monthOrders: month.length, room: null };
    if (order.isPaid) this.#fixRoom(order);
  }

  /** Nothing is left of it, so that its commission is rejected. */
  #isGone = (order: ModelOrder) =>
    order.isCancelled || (amountOf(order) > 0 && order.refunds.reduce((a, b) => a + b, 0) >= amountOf(order));

  /** Fixes what the limits leave, when the order is first known as paid. */
  #fixRoom(order: ModelOrder): void {
    const { decision } = order;
    if (!decision || order.currency !== 'USD') return;
    const { terms, creator } = decision;
    const others = this.orders.filter((one) => one !== order && one.isPaid && one.currency === 'USD' && one.decision);
    const used = (matches: (one: ModelOrder) => boolean) =>
      others.filter(matches).reduce((sum, one) => sum + this.pay(one), 0);
    const isOwn = (one: ModelOrder) => one.decision?.creator === creator;
    const isInMonth = (one: ModelOrder) => monthOf(one.at) === monthOf(order.at);
    const left = [
      terms.capCustomer === null ? null : terms.capCustomer - used((one) => isOwn(one) && isSameCustomer(one, order)),
      terms.capMonth === null ? null : terms.capMonth - used((one) => isOwn(one) && isInMonth(one)),
      terms.budgetMonth === null
        ? null
        : terms.budgetMonth - used((one) => one.decision?.terms.place === terms.place && isInMonth(one)),
    ].filter((one) => one !== null);
    if (left.length > 0) decision.room = Math.min(this.pay(order), ...left.map((one) => Math.max(0, one)));
  }

  payLater(order: ModelOrder): void {
    order.isPaid = true;
    this.#fixRoom(order);
  }

  #holds({ when }: ModelRule, order: ModelOrder, { by, payment, customer, monthOrders }: Decision): boolean {
    return (
      (when.kind === undefined || when.kind === order.kind) &&
      (when.by === undefined || when.by === by) &&
      (when.customer === undefined || when.customer === customer) &&
      (when.paymentTo === undefined || payment <= when.paymentTo) &&
      (when.monthOrdersFrom === undefined || monthOrders >= when.monthOrdersFrom)
    );
  }

  /** What the order pays now, in minor units. */
  pay(order: ModelOrder): number {
    const { decision, lines, currency } = order;
    if (!decision || order.isCancelled) return 0;
    const { terms } = decision;
    let left = lines.map(({ minor }) => minor);
    for (const refund of order.refunds) {
      const most = Math.min(
        refund,
        left.reduce((sum, one) => sum + one, 0),
      );
      const shares = share(most, left);
      left = left.map((one, i) => one - (shares[i] ?? 0));
    }
    const rules = [...terms.rules.filter((rule) => this.#holds(rule, order, decision)), terms];
    const parts = new Map<ModelRule, { minor: number; left: number }>();
    for (const [i, { sku, minor }] of lines.entries()) {
      const rule =
        rules.find((one) => one === terms || one.when.product === undefined || one.when.product === sku) ?? terms;
      const part = parts.get(rule) ?? { minor: 0, left: 0 };
      parts.set(rule, { minor: part.minor + minor, left: part.left + (left[i] ?? 0) });
    }
    const sum = [...parts].reduce((total, [{ percent, flatMinor }, part]) => {
      if (percent !== undefined) return total + divide(BigInt(part.left) * BigInt(percent), 100n);
      if (currency !== 'USD' || part.minor === 0) return total;
      return total + divide(BigInt(flatMinor ?? 0) * BigInt(part.left), BigInt(part.minor));
    }, 0);
    const cap = currency === 'USD' ? terms.capOrder : null;
    return Math.min(sum, cap ?? sum, decision.room ?? sum);
  }
}
