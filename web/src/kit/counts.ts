import { brandZone } from './format.ts';

/** The sentences that explain what figures of analytics count, on every page that shows them. */
export const salesCount = (currency: string) =>
  `Paid orders that creators won, without tax and shipping, less refunds. Only in ${currency}; days are those of ${brandZone()}.`;
export const commissionsCount = (currency: string) =>
  `Earned on these orders or recorded by hand: pending, approved and paid together, less what refunds took back. Only in ${currency}. Payouts has what is due.`;
export const CLICKS_COUNT = 'Repeats within 30 seconds, bots and prefetches are left out.';
export const ORDERS_COUNT =
  'Paid orders that creators won. Refunds do not lower the number. The page Orders has all others, too.';
