import { findNamedLines } from '../../kit/values/named-lines.ts';
import type { Terms } from '../../workflow/terms/terms.shapes.ts';
import type { DecisionFacts, OrderLine, PricedOrder } from './rules.ts';
import { type CompiledRate, compileTerms, createRuleFinder, type DecidingRule, getAmountMinor } from './rules.ts';
import { allocateShares, divideHalfToEven } from './shares.ts';

/** A refund, with the lines that it names in its own order. */
export interface Refund {
  refundId: string;
  amountMinor: number;
  at: Date;
  items?: readonly { lineId: string; amountMinor: number }[];
}

/** The amount that caps on a customer, a month or a budget leave to an order, fixed when it was first known as paid. */
export interface Room {
  minor: number;
  /** The tightest limit. */
  by: 'customer' | 'month' | 'budget';
  limitMinor: number;
}

/** Everything that decides an order's commission. */
export interface PricingInput {
  order: PricedOrder;
  lines: readonly OrderLine[];
  refunds: readonly Refund[];
  /** A cancellation or a lost dispute of a paid order takes back what refunds left. */
  isEnded: boolean;
  terms: Terms;
  /** Null under plain terms, which use none. */
  facts: DecisionFacts | null;
  /** Null while nothing limits the order but its own cap. */
  room: Room | null;
}

/** A line's share of the order and of its commission. */
export interface PricedLine {
  /** Null for what no line accounts for; it comes last. */
  lineId: string | null;
  /** The number of the rule, from 0; null for the base rate. */
  rule: number | null;
  amountMinor: number;
  refundedMinor: number;
  commissionMinor: number;
}

/** The lines of one rule together. */
export interface PricedPart extends Omit<PricedLine, 'lineId'> {
  name: string | null;
}

/** The limit that cut the commission, and by how much. */
export interface Cut {
  by: 'order' | Room['by'];
  limitMinor: number;
  cutMinor: number;
}

export interface Price {
  commissionMinor: number;
  /** Before the order's cap and its room. */
  uncappedMinor: number;
  /** Before caps and refunds, in millionths of the order. */
  effectiveRatePpm: number;
  parts: PricedPart[];
  lines: PricedLine[];
  capped: Cut | null;
}

/** A line on its way to its price, or the rest of the order that no line accounts for. */
interface PricedShare {
  line: OrderLine | null;
  rule: DecidingRule;
  quantity: number;
  amountMinor: number;
  leftMinor: number;
  commissionMinor: number;
}

interface Part {
  rule: DecidingRule;
  shares: PricedShare[];
  uncappedMinor: number;
  commissionMinor: number;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const sumAmounts = (shares: readonly PricedShare[]) => sum(shares.map(({ amountMinor }) => amountMinor));
const sumLeft = (shares: readonly PricedShare[]) => sum(shares.map(({ leftMinor }) => leftMinor));

/** Divides the order among its lines. A flat amount per item counts one item where the store reports no lines at all. */
function divideOrder({ order, lines, terms, facts }: PricingInput): PricedShare[] {
  const findRule = createRuleFinder(compileTerms(terms), order, facts);
  const amounts = lines.map(({ amountMinor }) => amountMinor);
  const lacking = order.amountMinor - sum(amounts);
  const countedAmounts = lacking < 0 ? allocateShares(order.amountMinor, amounts) : amounts;
  const toShare = (line: OrderLine | null, quantity: number, amountMinor: number): PricedShare => ({
    line,
    rule: findRule(line),
    quantity,
    amountMinor,
    leftMinor: amountMinor,
    commissionMinor: 0,
  });
  const shares = lines.map((line, place) => toShare(line, line.quantity, countedAmounts[place] ?? 0));
  if (lines.length > 0 && lacking <= 0) return shares;
  return [...shares, toShare(null, lines.length === 0 ? 1 : 0, lacking)];
}

const compareRefunds = (a: Refund, b: Refund): number =>
  a.at.getTime() - b.at.getTime() || (a.refundId < b.refundId ? -1 : 1);

/** Takes one refund off: first the lines that it names, then the rest of it off all lines in proportion to their left. */
function applyRefund(shares: readonly PricedShare[], { amountMinor, items = [] }: Refund): void {
  let open = Math.min(amountMinor, sumLeft(shares));
  const lines = shares.flatMap(({ line }) => (line ? [line] : []));
  for (const item of items) {
    let namedMinor = Math.min(open, item.amountMinor);
    const named = new Set(findNamedLines(lines, item.lineId));
    for (const share of shares) {
      if (share.line === null || !named.has(share.line)) continue;
      const takenMinor = Math.min(namedMinor, share.leftMinor);
      share.leftMinor -= takenMinor;
      namedMinor -= takenMinor;
      open -= takenMinor;
    }
  }
  const rests = allocateShares(
    open,
    shares.map(({ leftMinor }) => leftMinor),
  );
  for (const [place, share] of shares.entries()) share.leftMinor -= rests[place] ?? 0;
}

/** The commission of one part, rounded once. Nothing is paid for what was sold for 0.00. */
function priceShares(shares: readonly PricedShare[], rate: CompiledRate, currency: string, leftMinor: number): number {
  const amountLeft = BigInt(leftMinor);
  if (rate.type === 'percent') return divideHalfToEven(amountLeft * BigInt(rate.ppm), 1_000_000n);
  const flat = BigInt(rate.amountMinor(currency) ?? 0);
  const amount = BigInt(sumAmounts(shares));
  if (amount === 0n) return 0;
  const items = shares.filter(({ amountMinor }) => amountMinor > 0).map(({ quantity }) => quantity);
  const count = rate.type === 'item' ? BigInt(sum(items)) : 1n;
  return divideHalfToEven(flat * count * amountLeft, amount);
}

/** The lines by the rule that decides them, in the order of their first lines. */
function groupByRule(shares: readonly PricedShare[], currency: string): Part[] {
  return [...Map.groupBy(shares, ({ rule }) => rule.number).values()].flatMap((group) => {
    const rule = group[0]?.rule;
    if (!rule) return [];
    const uncappedMinor = priceShares(group, rule.rate, currency, sumLeft(group));
    return [{ rule, shares: group, uncappedMinor, commissionMinor: uncappedMinor }];
  });
}

/**
 * The percentage that decided all of the order, and otherwise the commission as a share of the order. Refunds and caps do not
 * change it.
 */
function findEffectiveRate(parts: readonly Part[], { order, terms }: PricingInput): number {
  const paidParts = parts.filter(({ shares }) => sumAmounts(shares) > 0);
  const only = paidParts.length > 1 ? undefined : (paidParts[0]?.rule.rate ?? compileTerms(terms).base);
  if (only?.type === 'percent') return only.ppm;
  const full = sum(
    paidParts.map(({ shares, rule }) => priceShares(shares, rule.rate, order.currency, sumAmounts(shares))),
  );
  return order.amountMinor === 0 ? 0 : divideHalfToEven(BigInt(full) * 1_000_000n, BigInt(order.amountMinor));
}

/** The tighter one of the order's own cap and its room; undefined if neither cuts. */
function findCut(uncappedMinor: number, { order, terms, room }: PricingInput): Cut | null {
  const capMinor = getAmountMinor(terms.caps?.order, order.currency) ?? Number.POSITIVE_INFINITY;
  const roomMinor = room?.minor ?? Number.POSITIVE_INFINITY;
  if (uncappedMinor <= Math.min(capMinor, roomMinor)) return null;
  if (!room || capMinor <= roomMinor) return { by: 'order', limitMinor: capMinor, cutMinor: uncappedMinor - capMinor };
  return { by: room.by, limitMinor: room.limitMinor, cutMinor: uncappedMinor - roomMinor };
}

function toLine({ line, rule, amountMinor, leftMinor, commissionMinor }: PricedShare): PricedLine {
  const lineId = line?.lineId ?? null;
  return { lineId, rule: rule.number, amountMinor, refundedMinor: amountMinor - leftMinor, commissionMinor };
}

function toPart({ rule, shares, commissionMinor }: Part): PricedPart {
  const amountMinor = sumAmounts(shares);
  const refundedMinor = amountMinor - sumLeft(shares);
  return { rule: rule.number, name: rule.name, amountMinor, refundedMinor, commissionMinor };
}

/**
 * Prices an order under copied terms. It is a pure function of its arguments: refunds count by their time and id, whatever
 * the order in which they were reported, and lines, parts and caps always add up to the commission.
 */
export function price(input: PricingInput): Price {
  const { currency } = input.order;
  const shares = divideOrder(input);
  for (const refund of input.refunds.toSorted(compareRefunds)) applyRefund(shares, refund);
  if (input.isEnded) for (const share of shares) share.leftMinor = 0;

  const parts = groupByRule(shares, currency);
  const uncappedMinor = sum(parts.map((part) => part.uncappedMinor));
  const capped = findCut(uncappedMinor, input);
  const commissionMinor = uncappedMinor - (capped?.cutMinor ?? 0);
  const partCommissions = allocateShares(
    commissionMinor,
    parts.map((part) => part.uncappedMinor),
  );
  for (const [place, part] of parts.entries()) {
    part.commissionMinor = partCommissions[place] ?? 0;
    const lineCommissions = allocateShares(
      part.commissionMinor,
      part.shares.map(({ leftMinor }) => leftMinor),
    );
    for (const [index, share] of part.shares.entries()) share.commissionMinor = lineCommissions[index] ?? 0;
  }
  return {
    commissionMinor,
    uncappedMinor,
    effectiveRatePpm: findEffectiveRate(parts, input),
    parts: parts.map(toPart).filter(({ amountMinor }) => amountMinor > 0),
    lines: shares.map(toLine),
    capped,
  };
}
