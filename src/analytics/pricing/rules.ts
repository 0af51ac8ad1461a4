import { foldCase } from '../../kit/values/fold.ts';
import { toMinor, toPpm } from '../../kit/values/money.ts';
import { isDay } from '../../kit/values/time.ts';
import { timeIn } from '../../kit/values/time-zone.ts';
import type {
  AmountsByCurrency,
  OrderKind,
  RateTerms,
  RuleCondition,
  Terms,
} from '../../workflow/terms/terms.shapes.ts';

/** A line of an order as rules read it. Null is what nobody reported, and no condition on it holds. */
export interface OrderLine {
  lineId: string;
  sku: string | null;
  /** Refunds may name the line by it. */
  title?: string | null;
  productId: string | null;
  variantId: string | null;
  categories: readonly string[] | null;
  onSale: boolean | null;
  quantity: number;
  /** After discounts, without tax, before any refund. */
  amountMinor: number;
}

/** A creator's earlier paid orders, net of refunds, in the currency of the order that is priced. */
export interface Volume {
  orders: number;
  revenueMinor: number;
}

/** Facts that are fixed when an order is decided. Null is what nobody reported, and no condition on it holds. */
export interface DecisionFacts {
  customer: 'new' | 'returning' | null;
  country: string | null;
  kind: OrderKind | null;
  by: 'code' | 'click' | 'customer' | null;
  payment: number | null;
  volume: { month: Volume; ever: Volume } | null;
  /** The brand's time zone, of which days are that conditions name; UTC for orders of before. */
  timeZone?: string | undefined;
}

export interface PricedOrder {
  currency: string;
  /** Before any refund. */
  amountMinor: number;
  placedAt: Date;
}

export type CompiledRate =
  | { type: 'percent'; ppm: number }
  | { type: 'order' | 'item'; amountMinor: (currency: string) => number | undefined };

/** Conditions on an order, and on a line; undefined if the rule has none on lines. */
interface CompiledRule {
  number: number;
  name: string;
  rate: CompiledRate;
  holdsForOrder: (order: PricedOrder, facts: DecisionFacts | null) => boolean;
  holdsForLine: ((line: FoldedLine) => boolean) | undefined;
}

export interface CompiledTerms {
  base: CompiledRate;
  rules: readonly CompiledRule[];
}

interface FoldedLine {
  ids: readonly string[];
  categories: readonly string[];
  onSale: boolean | null;
  quantity: number;
}

const foldAll = (texts: readonly (string | null)[]) => texts.flatMap((text) => (text === null ? [] : [foldCase(text)]));

/** The amount of a currency in minor units; undefined if the currency is not named. */
export function getAmountMinor(amounts: AmountsByCurrency | undefined, currency: string): number | undefined {
  if (amounts === undefined || !Object.hasOwn(amounts, currency)) return undefined;
  return toMinor(amounts[currency] ?? 0, currency);
}

function compileRate({ percent, flat, per = 'order' }: RateTerms): CompiledRate {
  if (percent !== undefined) return { type: 'percent', ppm: toPpm(percent) ?? 0 };
  return { type: per, amountMinor: (currency) => getAmountMinor(flat, currency) };
}

function compileLineConditions(when: RuleCondition): CompiledRule['holdsForLine'] {
  const { on_sale: onSale, quantity_from: quantityFrom } = when;
  const products = when.product && new Set(foldAll(when.product));
  const categories = when.category && new Set(foldAll(when.category));
  if (!products && !categories && onSale === undefined && quantityFrom === undefined) return undefined;
  return (line) =>
    (!products || line.ids.some((id) => products.has(id))) &&
    (!categories || line.categories.some((category) => categories.has(category))) &&
    (onSale === undefined || line.onSale === onSale) &&
    (quantityFrom === undefined || line.quantity >= quantityFrom);
}

const isWithin = (value: number | null, { from, to }: NonNullable<RuleCondition['payment']>): boolean =>
  value !== null && value >= (from ?? value) && value <= (to ?? value);

/** The first moment of a day of the brand, or the moment that is named. */
const toMoment = (boundary: string, timeZone = 'UTC'): Date =>
  isDay(boundary) ? timeIn(timeZone, boundary) : new Date(boundary);

function isPlacedWithin(at: Date, { from, to }: NonNullable<RuleCondition['placed']>, timeZone?: string): boolean {
  return (from === undefined || at >= toMoment(from, timeZone)) && (to === undefined || at < toMoment(to, timeZone));
}

function reachesVolume(
  { per, orders_from, revenue_from }: NonNullable<RuleCondition['volume']>,
  { currency }: PricedOrder,
  volume: DecisionFacts['volume'],
): boolean {
  if (!volume) return false;
  if (orders_from !== undefined) return volume[per].orders >= orders_from;
  const least = getAmountMinor(revenue_from, currency);
  return least !== undefined && volume[per].revenueMinor >= least;
}

function compileOrderConditions(when: RuleCondition): CompiledRule['holdsForOrder'] {
  const { payment, placed, volume, amount_from: amounts } = when;
  const countries = when.country && new Set(foldAll(when.country));
  return (order, facts) => {
    const least = getAmountMinor(amounts, order.currency);
    const country = facts?.country ?? null;
    return (
      (when.customer === undefined || when.customer === facts?.customer) &&
      (!countries || (country !== null && countries.has(foldCase(country)))) &&
      (!when.kind || when.kind.some((kind) => kind === facts?.kind)) &&
      (when.by === undefined || when.by === facts?.by) &&
      (!payment || isWithin(facts?.payment ?? null, payment)) &&
      (!amounts || (least !== undefined && order.amountMinor >= least)) &&
      (!placed || isPlacedWithin(order.placedAt, placed, facts?.timeZone)) &&
      (!volume || reachesVolume(volume, order, facts?.volume ?? null))
    );
  };
}

const compiledTerms = new WeakMap<Terms, CompiledTerms>();

/** Folds the lists of all rules once for each object of terms: a deal of 50 rules has up to 10,000 values. */
export function compileTerms(terms: Terms): CompiledTerms {
  const cachedTerms = compiledTerms.get(terms);
  if (cachedTerms) return cachedTerms;
  const rules = terms.rules.map(({ name, when, rate }, number) => ({
    number,
    name,
    rate: compileRate(rate),
    holdsForOrder: compileOrderConditions(when),
    holdsForLine: compileLineConditions(when),
  }));
  const result = { base: compileRate(terms.rate), rules };
  compiledTerms.set(terms, result);
  return result;
}

/** The rule that decides a line; `number` and `name` are null for the base rate. */
export interface DecidingRule {
  number: number | null;
  name: string | null;
  rate: CompiledRate;
}

/**
 * Returns the function that finds the first rule that holds for a line of the order. Null stands for the part of the order
 * that no line accounts for, which meets no condition on lines.
 */
export function createRuleFinder(
  { base, rules }: CompiledTerms,
  order: PricedOrder,
  facts: DecisionFacts | null,
): (line: OrderLine | null) => DecidingRule {
  const applicable = rules.filter(({ holdsForOrder }) => holdsForOrder(order, facts));
  const baseRule = { number: null, name: null, rate: base };
  return (line) => {
    if (applicable.length === 0) return baseRule;
    const foldedLine = line && {
      ids: foldAll([line.sku, line.productId, line.variantId]),
      categories: foldAll(line.categories ?? []),
      onSale: line.onSale,
      quantity: line.quantity,
    };
    const holds = ({ holdsForLine }: CompiledRule) =>
      !holdsForLine || (foldedLine !== null && holdsForLine(foldedLine));
    return applicable.find(holds) ?? baseRule;
  };
}
