import fc from 'fast-check';
import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';

export const DAY_MS = 86_400_000;
/** Across the turn of a year, where rollups change their partition. */
export const START_MS = Date.parse('2025-12-14T00:00:00Z');
const DAYS = 36;
/** The first moment of a day, its middle and its last. */
const MOMENTS_MS = [0, DAY_MS / 2, DAY_MS - 1] as const;
const SLOTS = DAYS * MOMENTS_MS.length;

export const timeOf = (slot: number): number =>
  START_MS + Math.floor(slot / MOMENTS_MS.length) * DAY_MS + (MOMENTS_MS[slot % MOMENTS_MS.length] ?? 0);

export const CURRENCIES = ['USD', 'EUR', 'JPY', 'KWD'] as const;
export type Currency = (typeof CURRENCIES)[number];

export const PROVIDERS = ['shopify', 'woocommerce', 'generic'] as const;

/** Which of those there are, taken modulo their number: whatever shrinks stays a history. */
type Index = number;

export interface LinkSpec {
  creator: Index;
  type: 'discount_code' | 'link';
  /** Percent times 10,000. */
  ratePpm: number;
  holdDays: number;
  attributionDays: number;
  currency: Currency;
  paysRenewals: boolean;
  /** Null when it counts at every store. */
  store: Index | null;
}

export interface StoreSpec {
  provider: Provider;
  currency: Currency;
}

export type CodeRef = { link: Index; isLower: boolean } | 'unknown';
export type ClickRef = { click: Index } | 'forged' | 'foreign';
export type Change =
  | { what: 'pay' | 'cancel' | 'nothing' }
  | { what: 'base'; baseMinor: number }
  | { what: 'refund'; share: number; agoMs: number }
  | { what: 'takeBack'; refund: Index }
  | { what: 'dispute'; status: 'open' | 'won' | 'lost' }
  /** A coupon added by hand, or a click that the store learned later. */
  | { what: 'candidates'; codes: CodeRef[]; clicks: ClickRef[] };

export type Act =
  | { act: 'click'; link: Index; kind: 'counted' | 'bot' | 'head' | 'prefetch'; repeats: number }
  | {
      act: 'place';
      store: Index;
      codes: CodeRef[];
      clicks: ClickRef[];
      /** Null: the brand's. */
      currency: Currency | null;
      baseMinor: number;
      /** Before now; or by its first click's window's end, or its first code's last switch. */
      placed: { agoMs: number } | { edgeMs: number };
      isPaid: boolean;
      customer: 'creator' | 'other' | 'unknown';
      isReported: boolean;
      isTest: boolean;
      isRenewal: boolean;
    }
  | { act: 'change'; order: Index; of: 'any' | 'approved' | 'paid'; change: Change; report: 'order' | 'refund' | 'no' }
  | { act: 'tell'; order: Index; version: Index; how: 'order' | 'refund'; times: number }
  | { act: 'rate'; link: Index; ratePpm: number }
  | { act: 'renewals'; link: Index; pays: boolean }
  | { act: 'switch'; link: Index; active: boolean; isDelete: boolean }
  | {
      act: 'review';
      orders: Index[];
      areMovable: boolean;
      status: 'approved' | 'rejected';
      how: 'patch' | 'post' | 'bulk';
    }
  | { act: 'pay'; payee: Index; percent: number; isListed: boolean; isTwice: boolean; isWallet: boolean }
  | {
      act: 'story';
      what: 'dueAgain' | 'onAccount' | 'decidedLater' | 'disputed';
      link: Index;
      baseMinor: number;
      share: number;
      isPaid: boolean;
    }
  /** Pays everybody what is due. */
  | { act: 'batch'; isWallet: boolean }
  /** A commission without an order. */
  | { act: 'record'; creator: Index; amountMinor: number; isApproved: boolean }
  /** Before anything is approved, or for something else. */
  | { act: 'advance'; creator: Index; currency: string; amountMinor: number; isWallet: boolean; isFee: boolean };

export interface History {
  currency: Currency;
  isAutomatic: boolean;
  creators: number;
  stores: StoreSpec[];
  links: LinkSpec[];
  steps: { slot: number; act: Act }[];
  window: { from: number; to: number; isDays: boolean };
  granularity: 'day' | 'week' | 'month';
  asOfSlot: number;
}

const index = fc.nat(11);
const slot = fc.nat(SLOTS - 1);
const currency: fc.Arbitrary<Currency> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Currency>('USD') },
  fc.constantFrom(...CURRENCIES),
);
/** Small ones for halves, large ones for digits. */
const money = fc.oneof(
  fc.integer({ min: 0, max: 25 }),
  fc.integer({ min: 1, max: 100_000 }),
  fc.integer({ min: 1, max: 3_000_000_000 }),
);
const ratePpm = fc.oneof(
  fc.constantFrom(0, 1, 50_000, 100_000, 125_000, 333_333, 500_000, 1_000_000),
  fc.integer({ min: 0, max: 1_000_000 }),
);

const link: fc.Arbitrary<LinkSpec> = fc.record({
  creator: index,
  type: fc.constantFrom('discount_code', 'discount_code', 'link'),
  ratePpm,
  holdDays: fc.constantFrom(0, 0, 1, 4, 10, 30),
  attributionDays: fc.constantFrom(1, 2, 7, 30),
  currency,
  paysRenewals: fc.boolean(),
  store: fc.option(index, { freq: 5 }),
});

const codeRef: fc.Arbitrary<CodeRef> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ link: index, isLower: fc.boolean() }) },
  fc.constant('unknown' as const),
);
const clickRef: fc.Arbitrary<ClickRef> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ click: index }) },
  fc.constantFrom('forged' as const, 'foreign' as const),
);
const agoMs = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 * DAY_MS }), fc.constantFrom(DAY_MS, 2 * DAY_MS));

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ what: 'pay' as const }) },
  { weight: 1, arbitrary: fc.constant({ what: 'cancel' as const }) },
  { weight: 1, arbitrary: fc.constant({ what: 'nothing' as const }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('base' as const), baseMinor: money }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('takeBack' as const), refund: index }) },
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('refund' as const),
      share: fc.constantFrom(0.01, 0.3, 0.5, 0.5, 1, 1.2),
      agoMs,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('dispute' as const),
      status: fc.constantFrom('open', 'lost', 'lost', 'won'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('candidates' as const),
      codes: fc.array(codeRef, { maxLength: 2 }),
      clicks: fc.array(clickRef, { maxLength: 2 }),
    }),
  },
);

const click: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('click' as const),
  link: index,
  kind: fc.constantFrom('counted', 'counted', 'counted', 'bot', 'head', 'prefetch'),
  repeats: fc.constantFrom(0, 0, 0, 2),
});
const place: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('place' as const),
  store: index,
  codes: fc.array(codeRef, { maxLength: 3 }),
  clicks: fc.array(clickRef, { maxLength: 3 }),
  currency: fc.option<Currency>(currency, { freq: 1 }),
  baseMinor: money,
  placed: fc.oneof(fc.record({ agoMs }), fc.record({ edgeMs: fc.constantFrom(-1, 0, 1) })),
  isPaid: fc.constantFrom(true, true, false),
  customer: fc.constantFrom('other', 'other', 'unknown', 'creator'),
  isReported: fc.constantFrom(true, true, true, false),
  isTest: fc.constantFrom(false, false, false, false, false, false, false, true),
  isRenewal: fc.constantFrom(false, false, false, true),
});
const changed: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('change' as const),
  order: index,
  of: fc.constantFrom('any', 'approved', 'paid', 'paid'),
  change,
  report: fc.constantFrom('order', 'refund', 'no'),
});
const report: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('tell' as const),
  order: index,
  version: index,
  how: fc.constantFrom('order', 'order', 'refund'),
  times: fc.constantFrom(1, 1, 3),
});
const review: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('review' as const),
  orders: fc.array(index, { minLength: 1, maxLength: 3 }),
  areMovable: fc.constantFrom(true, true, false),
  status: fc.constantFrom('approved', 'approved', 'rejected'),
  how: fc.constantFrom('patch', 'patch', 'post', 'bulk'),
});
const pay: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('pay' as const),
  payee: index,
  percent: fc.constantFrom(100, 100, 100, 60, 130),
  isListed: fc.boolean(),
  isTwice: fc.boolean(),
  isWallet: fc.boolean(),
});
const batch: fc.Arbitrary<Act> = fc.record({ act: fc.constant('batch' as const), isWallet: fc.boolean() });
const story: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('story' as const),
  what: fc.constantFrom('dueAgain', 'onAccount', 'decidedLater', 'disputed'),
  link: index,
  baseMinor: fc.integer({ min: 100, max: 100_000 }),
  share: fc.constantFrom(0.3, 0.5, 0.6, 0.8),
  isPaid: fc.boolean(),
});
const record: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('record' as const),
  creator: index,
  amountMinor: fc.integer({ min: 1, max: 100_000 }),
  isApproved: fc.boolean(),
});
const advance: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('advance' as const),
  creator: index,
  currency,
  amountMinor: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 100_000 })),
  isWallet: fc.boolean(),
  isFee: fc.constantFrom(false, false, true),
});
const rate: fc.Arbitrary<Act> = fc.record({ act: fc.constant('rate' as const), link: index, ratePpm });
const renewals: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('renewals' as const),
  link: index,
  pays: fc.boolean(),
});
const switched: fc.Arbitrary<Act> = fc.record({
  act: fc.constant('switch' as const),
  link: index,
  active: fc.constantFrom(true, false),
  isDelete: fc.boolean(),
});

/** Orders early, and what becomes of them later. */
const early = fc.nat(Math.floor(SLOTS * 0.6));
const late = fc.integer({ min: Math.floor(SLOTS * 0.25), max: SLOTS - 1 });
const steps = (weight: number, at: fc.Arbitrary<number>, act: fc.Arbitrary<Act>) => ({
  weight,
  arbitrary: fc.record({ slot: at, act }),
});

const step = fc.oneof(
  steps(4, early, click),
  steps(8, early, place),
  steps(6, slot, changed),
  steps(4, late, changed),
  steps(3, slot, report),
  steps(7, late, review),
  steps(5, late, pay),
  steps(2, late, batch),
  steps(5, late, story),
  steps(2, slot, advance),
  steps(2, slot, record),
  steps(1, slot, rate),
  steps(1, slot, switched),
  steps(1, slot, renewals),
);

export const history: fc.Arbitrary<History> = fc.record({
  currency: fc.oneof({ weight: 3, arbitrary: fc.constant<Currency>('USD') }, fc.constantFrom(...CURRENCIES)),
  isAutomatic: fc.boolean(),
  creators: fc.integer({ min: 1, max: 3 }),
  stores: fc.array(fc.record({ provider: fc.constantFrom(...PROVIDERS), currency }), { minLength: 1, maxLength: 2 }),
  links: fc.array(link, { minLength: 1, maxLength: 4 }),
  steps: fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }),
  window: fc.record({ from: slot, to: slot, isDays: fc.boolean() }),
  granularity: fc.constantFrom('day', 'week', 'month'),
  asOfSlot: slot,
});
