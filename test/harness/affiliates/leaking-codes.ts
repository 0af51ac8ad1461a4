import type { DayOfOrders, Evidence, UsualShares } from '../../../src/affiliates/leaks/leak-score.ts';
import { scoreLeak } from '../../../src/affiliates/leaks/leak-score.ts';

const DAYS = 30;
const DAYS_BEFORE = 56;

/** Numbers from a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;

const poisson = (random: Random, mean: number): number => {
  if (mean > 30) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
  }
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > limit; product *= random()) count += 1;
  return count;
};

const binomial = (random: Random, count: number, share: number): number => {
  let found = 0;
  for (let i = 0; i < count; i += 1) if (random() < share) found += 1;
  return found;
};

const between = (random: Random, least: number, most: number) => least + (most - least) * random();

/** A creator's honest sales by a code: orders a day, shares of orders without a click and of new customers. */
interface Creator {
  rate: number;
  clickless: number;
  firsts: number;
  /** How much the period sells, of what the weeks before did. */
  growth: number;
  /** Days on which the creator posts, and how much more is sold then. */
  posts: number;
  boost: number;
  isNew: boolean;
  couponVisits: number;
}

/** Creators as brands have them: most are reached by links, some by a podcast; they post, grow, pause and begin. */
function drawCreator(random: Random): Creator {
  const isSpoken = random() < 0.12;
  return {
    rate: Math.exp(between(random, Math.log(0.1), Math.log(6))),
    clickless: isSpoken ? between(random, 0.9, 1) : between(random, 0.15, 0.6),
    firsts: between(random, 0.4, 0.8),
    growth: Math.exp(between(random, Math.log(0.5), Math.log(1.8))),
    posts: Math.floor(between(random, 0, 4)),
    boost: between(random, 2, 8),
    isNew: random() < 0.1,
    couponVisits: random() < 0.1 ? Math.floor(between(random, 1, 3)) : 0,
  };
}

/** What a public code sells besides: orders on a day of the period, by the creator's own rate. */
export interface Pattern {
  name: string;
  extra: (day: number, rate: number) => number;
  clickless?: number;
  firsts?: number;
  couponVisits?: number;
  /** Of the creator to whom it happens. */
  creator?: Partial<Creator>;
}

const least = (rate: number) => Math.max(rate, 1);

/** Twenty ways in which a code becomes public. */
export const PATTERNS: readonly Pattern[] = [
  { name: 'a coupon site, as much again', extra: (_, rate) => least(rate) },
  { name: 'a coupon site, twice as much', extra: (_, rate) => 2 * least(rate) },
  { name: 'a coupon site, five times as much', extra: (_, rate) => 5 * least(rate) },
  { name: 'a coupon site for the last two weeks', extra: (day, rate) => (day < 16 ? 0 : 3 * least(rate)) },
  { name: 'a coupon site for the last week', extra: (day, rate) => (day < 23 ? 0 : 5 * least(rate)) },
  { name: 'a slow spread', extra: (day, rate) => (4 * least(rate) * day) / DAYS },
  { name: 'a deal forum for a day', extra: (day, rate) => (day === 20 ? 25 + 10 * rate : 0), firsts: 0.5 },
  {
    name: 'a deal forum for three days',
    extra: (day, rate) => (day >= 12 && day < 15 ? 12 + 4 * rate : 0),
    firsts: 0.5,
  },
  { name: 'weekends only', extra: (day, rate) => (day % 7 < 2 ? 4 * least(rate) : 0) },
  { name: 'a browser extension', extra: (_, rate) => 2 * least(rate), firsts: 0.05 },
  { name: 'a small extension', extra: (_, rate) => 1.2 * least(rate), firsts: 0.05, couponVisits: 6 },
  { name: 'a site that also links', extra: (_, rate) => 2 * least(rate), clickless: 0.7, couponVisits: 15 },
  {
    name: 'a podcast’s code on a coupon site',
    extra: (_, rate) => 3 * least(rate),
    firsts: 0.1,
    creator: { clickless: 0.97 },
  },
  {
    name: 'a podcast’s code on a forum',
    extra: (day, rate) => (day === 9 ? 40 + 15 * rate : 0),
    firsts: 0.2,
    creator: { clickless: 0.97 },
  },
  { name: 'a new creator’s code', extra: (_, rate) => 4 * least(rate), creator: { isNew: true } },
  { name: 'a leak while sales grow', extra: (_, rate) => 3 * least(rate), creator: { growth: 1.8 } },
  { name: 'a weekly newsletter', extra: (day, rate) => (day % 7 === 3 ? 12 * least(rate) : 0) },
  { name: 'a leak to new customers', extra: (_, rate) => 3 * least(rate), firsts: 0.6 },
  { name: 'a leak while the creator pauses', extra: (_, rate) => 2 * least(rate), creator: { growth: 0.3 } },
  { name: 'a leak of a hardly used code', extra: () => 1, creator: { rate: 0.1 } },
];

function drawDays(random: Random, count: number, creator: Creator, share: number, pattern?: Pattern): DayOfOrders[] {
  const posts = new Set(
    Array.from({ length: Math.round((creator.posts * count) / DAYS) }, () => Math.floor(random() * count)),
  );
  return Array.from({ length: count }, (_, day) => {
    const orders = poisson(random, creator.rate * share * (posts.has(day) ? creator.boost : 1));
    const extra = pattern ? poisson(random, pattern.extra(day, creator.rate)) : 0;
    const known = binomial(random, orders, 0.9);
    const extraKnown = binomial(random, extra, 0.9);
    return {
      day: new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
      orders: orders + extra,
      clickless: binomial(random, orders, creator.clickless) + binomial(random, extra, pattern?.clickless ?? 0.97),
      known: known + extraKnown,
      firsts: binomial(random, known, creator.firsts) + binomial(random, extraKnown, pattern?.firsts ?? 0.25),
    };
  });
}

const USUAL: UsualShares = { clickless: 0.42, firsts: 0.6 };

export function drawEvidence(random: Random, pattern?: Pattern): Evidence {
  const creator = { ...drawCreator(random), ...pattern?.creator };
  return {
    ...{ days: DAYS, daysBefore: DAYS_BEFORE },
    before: creator.isNew ? [] : drawDays(random, DAYS_BEFORE, creator, 1),
    now: drawDays(random, DAYS, creator, creator.growth, pattern),
    couponVisits: creator.couponVisits + (pattern?.couponVisits ? poisson(random, pattern.couponVisits) : 0),
  };
}

/** The probability that a leaked code has a higher score than an honest one; of equal ones half. */
function areaUnder(leaked: readonly number[], honest: readonly number[]): number {
  const wins = leaked.reduce(
    (sum, high) => sum + honest.reduce((own, low) => own + (high > low ? 1 : high === low ? 0.5 : 0), 0),
    0,
  );
  return wins / (leaked.length * honest.length);
}

/** Scores of codes that leaked by each pattern, and of as many honest ones as `honest` says. */
export function experiment(seed: number, { ofPattern, honest }: { ofPattern: number; honest: number }) {
  const random = randomOf(seed);
  const score = (pattern?: Pattern) => scoreLeak(drawEvidence(random, pattern), USUAL).score;
  const scores = Array.from({ length: honest }, () => score());
  const patterns = PATTERNS.map((pattern) => {
    const leaked = Array.from({ length: ofPattern }, () => score(pattern));
    return { name: pattern.name, leaked, area: areaUnder(leaked, scores) };
  });
  return {
    honest: scores,
    patterns,
    area: areaUnder(
      patterns.flatMap(({ leaked }) => leaked),
      scores,
    ),
  };
}
