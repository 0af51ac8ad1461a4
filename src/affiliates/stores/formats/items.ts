import type { ItemFacts } from './facts.ts';
import { StoreName } from './provider.ts';

/** The rest of an order's lines is left out. */
const MOST = 200;

/** A SKU or title on one line, however its store wrote it; null for none. */
export const toLine = (value: unknown): string | null => StoreName.safeParse(value).data || null;

/** The lines that are kept of an order. */
export const limitItems = (items: readonly ItemFacts[]): ItemFacts[] => items.slice(0, MOST);
