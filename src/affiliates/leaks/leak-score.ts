/** Orders by codes on one UTC day. */
export interface DayOfOrders {
  day: string;
  orders: number;
  /** Without any click of the creator before. */
  clickless: number;
  /** With a known customer, and of these the first orders of their customers. */
  known: number;
  firsts: number;
}

/** Orders of a code in a period, and of its creator's codes before it. */
export interface Evidence {
  days: number;
  now: readonly DayOfOrders[];
  daysBefore: number;
  before: readonly DayOfOrders[];
  /** Counted clicks of the creator in the period that came from coupon sites. */
  couponVisits: number;
}

/** Shares over all codes of the brand before the period, for creators of whom little is known. */
export interface UsualShares {
  clickless: number;
  firsts: number;
}

const SIGNALS = ['without_click', 'more_orders', 'returning_customers', 'burst', 'coupon_sites'] as const;
type Signal = (typeof SIGNALS)[number];

export interface Leak {
  /** 0 to 100. */
  score: number;
  reasons: { signal: Signal; points: number; detail: string }[];
  orders: number;
  clicklessShare: number | null;
  clicklessShareBefore: number | null;
  firstShare: number | null;
  firstShareBefore: number | null;
  busiest: { day: string; orders: number } | null;
}

export const COUPON_HOSTS: readonly string[] = [
  ...['retailmenot.com', 'coupons.com', 'couponfollow.com', 'couponcabin.com', 'dealspotr.com', 'joinhoney.com'],
  ...['slickdeals.net', 'groupon.com', 'wethrift.com', 'knoji.com', 'offers.com', 'promocodes.com', 'goodsearch.com'],
  ...['simplycodes.com', 'capitaloneshopping.com', 'vouchercodes.co.uk', 'myvouchercodes.co.uk', 'hotukdeals.com'],
  ...['mydealz.de', 'gutscheinpony.de', 'gutscheine.de', 'gutscheinsammler.de', 'sparwelt.de', 'dealabs.com'],
  ...['igraal.com', 'poulpeo.com', 'pepper.com', 'pepper.pl', 'chollometro.com', 'cuponation.com', 'ozbargain.com.au'],
];

/** A code with fewer orders without a click gets no score. */
const LEAST_CLICKLESS = 5;
/** Number of orders at which a creator's own share outweighs the brand's. */
const WEIGHT_OF_USUAL = 10;
/** Variation of a creator's sales beyond chance, from one month to the next and from day to day. */
const VARIES = { byMonth: 0.5, byDay: 0.8 };

type OrderCounts = Omit<DayOfOrders, 'day'>;

export const sumDays = (days: readonly DayOfOrders[]): OrderCounts =>
  days.reduce(
    (sum, one) => ({
      orders: sum.orders + one.orders,
      clickless: sum.clickless + one.clickless,
      known: sum.known + one.known,
      firsts: sum.firsts + one.firsts,
    }),
    { orders: 0, clickless: 0, known: 0, firsts: 0 },
  );

/** Rises from 0 at `from` to 1 at `to`. */
const ramp = (value: number, from: number, to: number) => Math.min(1, Math.max(0, (value - from) / (to - from)));

/** The share before the period: the creator's own, drawn towards the brand's while there are few orders. */
const usualShare = (part: number, whole: number, usual: number) =>
  (part + usual * WEIGHT_OF_USUAL) / (whole + WEIGHT_OF_USUAL);

/** Difference between a share and the usual one, in standard errors. */
function deviation(part: number, whole: number, usual: number, wholeBefore: number): number {
  if (whole === 0) return 0;
  const boundedShare = Math.min(0.97, Math.max(0.03, usual));
  const error = Math.sqrt(boundedShare * (1 - boundedShare) * (1 / whole + 1 / (wholeBefore + WEIGHT_OF_USUAL)));
  return (part / whole - usual) / error;
}

/** Excess of a count over the expected one, in standard errors; the expectation itself varies by the share `varies`. */
const excess = (count: number, expected: number, varies: number) =>
  (count - expected) / Math.sqrt(expected + (varies * expected) ** 2 + 1);

const percent = (share: number) => `${Math.round(share * 100)}%`;
const toShare = (part: number, whole: number) => (whole === 0 ? null : part / whole);

/** Scores how probable it is that a code is public, compared with its creator's codes before the period. */
export function scoreLeak({ days, now, daysBefore, before, couponVisits }: Evidence, usual: UsualShares): Leak {
  const [sums, past] = [sumDays(now), sumDays(before)];
  const clickless = usualShare(past.clickless, past.orders, usual.clickless);
  const firsts = usualShare(past.firsts, past.known, usual.firsts);
  const busiest = now.reduce<DayOfOrders | null>(
    (most, one) => (most && most.clickless >= one.clickless ? most : one),
    null,
  );
  // A creator who sells more through clicks also sells more without them.
  const perClicked = clickless / Math.max(0.03, 1 - clickless);
  const ratePerDay = past.clickless / Math.max(1, daysBefore);
  const expectedOrders = Math.max(ratePerDay * days, (sums.orders - sums.clickless) * perClicked * 0.8);
  const peakBefore = before.reduce((most, one) => Math.max(most, one.clickless), 0);
  const expectedOfDay = busiest
    ? Math.max(ratePerDay, peakBefore, (busiest.orders - busiest.clickless) * perClicked * 0.8)
    : 0;
  // A new creator's sales cannot be more than usual.
  const isKnown = 0.4 + 0.6 * ramp(past.orders, 0, WEIGHT_OF_USUAL);
  const strengths: Record<Signal, number> = {
    without_click: ramp(deviation(sums.clickless, sums.orders, clickless, past.orders), 2, 5),
    more_orders: isKnown * ramp(excess(sums.clickless, expectedOrders, VARIES.byMonth), 1.5, 3),
    returning_customers: ramp(-deviation(sums.firsts, sums.known, firsts, past.known), 2, 5),
    burst: busiest ? isKnown * ramp(excess(busiest.clickless, expectedOfDay, VARIES.byDay), 1.5, 4) : 0,
    coupon_sites: ramp(couponVisits, 2, 12),
  };
  const details: Record<Signal, string> = {
    without_click: `${percent(sums.clickless / Math.max(1, sums.orders))} of its orders had no click of the creator before; ${percent(clickless)} was usual.`,
    more_orders: `${sums.clickless} orders without a click in ${days} days; about ${Math.round(expectedOrders)} were to be expected.`,
    returning_customers: `${percent(sums.firsts / Math.max(1, sums.known))} of its customers were new; ${percent(firsts)} was usual.`,
    burst: busiest ? `${busiest.clickless} orders without a click on ${busiest.day}.` : '',
    coupon_sites: `${couponVisits} visits to the creator's links came from coupon sites.`,
  };
  // A creator without clicks, such as a podcaster, is judged by customers: missing clicks prove nothing there.
  const clickEvidence = ramp(1 - clickless, 0.05, 0.25);
  const weights: Record<Signal, number> = {
    without_click: 40 * clickEvidence,
    more_orders: 30 + 5 * (1 - clickEvidence),
    returning_customers: 25 + 25 * (1 - clickEvidence),
    burst: 15,
    coupon_sites: 30,
  };
  const isMeasured = sums.clickless >= LEAST_CLICKLESS;
  const reasons = SIGNALS.map((signal) => ({
    signal,
    points: isMeasured ? Math.round(weights[signal] * strengths[signal]) : 0,
    detail: details[signal],
  })).filter(({ points }) => points > 0);
  return {
    score: Math.min(
      100,
      reasons.reduce((sum, { points }) => sum + points, 0),
    ),
    reasons,
    orders: sums.orders,
    clicklessShare: toShare(sums.clickless, sums.orders),
    clicklessShareBefore: toShare(past.clickless, past.orders),
    firstShare: toShare(sums.firsts, sums.known),
    firstShareBefore: toShare(past.firsts, past.known),
    busiest: busiest && { day: busiest.day, orders: busiest.clickless },
  };
}
