import { z } from 'zod';
import { fromMinor } from '../../kit/values/decimals.ts';
import { formatMoney } from '../../kit/values/format.ts';
import type { OrderFacts, UnpaidLine } from '../stores/formats/facts.ts';
import type { OrderRow } from './orders.ts';

const UnpaidLines = z.array(z.object({ kind: z.enum(['gift_card', 'tip']), amountMinor: z.number().int() }));

/** Gift cards and tips of a report as the order's column: null for none. */
export const toUnpaidLines = ({ unpaidLines }: Pick<OrderFacts, 'unpaidLines'>): readonly UnpaidLine[] | null =>
  unpaidLines === undefined || unpaidLines.length === 0 ? null : unpaidLines;

/** The newest report decides; of two with the same time, the one with more to say, whichever came first. */
export function changeUnpaidLines(
  { unpaidLines: stored, storeUpdatedAt }: OrderRow,
  facts: Pick<OrderFacts, 'unpaidLines' | 'updatedAt'>,
): { unpaidLines?: string | null } {
  if (facts.unpaidLines === undefined || facts.updatedAt < storeUpdatedAt) return {};
  const print = (lines: readonly UnpaidLine[] | null) => (lines === null ? '' : JSON.stringify(lines));
  const [storedLines, receivedLines] = [print(readUnpaidLines(stored)), print(toUnpaidLines(facts))];
  const isNewer = facts.updatedAt > storeUpdatedAt || receivedLines > storedLines;
  return receivedLines === storedLines || !isNewer ? {} : { unpaidLines: receivedLines || null };
}

const readUnpaidLines = (storedLines: unknown) => (storedLines === null ? null : UnpaidLines.parse(storedLines));

const NAMES = { gift_card: 'gift card', tip: 'tip' } as const;

/** Gift cards and tips of an order, each with a sentence on why it pays nobody. */
export function explainUnpaidLines({ unpaidLines, currency }: Pick<OrderRow, 'unpaidLines' | 'currency'>) {
  return (readUnpaidLines(unpaidLines) ?? []).map(({ kind, amountMinor }) => ({
    kind,
    amount: fromMinor(amountMinor, currency),
    explanation: `A ${NAMES[kind]} of ${formatMoney(amountMinor, currency)}: ${NAMES[kind]}s are no part of the sale and pay nobody.`,
  }));
}
