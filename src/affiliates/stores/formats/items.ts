import type { ItemFacts } from './facts.ts';
import { StoreName } from './provider.ts';

/** Limit of stored lines for each order. */
const MOST = 200;

/** Reduces a SKU or title to one line; null if there is none. */
export const toLine = (value: unknown): string | null => StoreName.safeParse(value).data || null;

/** Limits the lines that are stored of an order. */
export const limitItems = (items: readonly ItemFacts[]): ItemFacts[] => items.slice(0, MOST);
