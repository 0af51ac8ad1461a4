import { z } from 'zod';
import { isCountry } from '../../../workflow/terms/countries.ts';
import type { ItemFacts } from './facts.ts';
import { StoreId, StoreName } from './provider.ts';

/** Limit of stored lines for each order. */
const MOST = 200;
/** Limit of stored gift cards and tips for each order. */
export const MOST_UNPAID_LINES = 50;

/** Reduces a SKU or title to one line; null if there is none. */
export const toLine = (value: unknown): string | null => StoreName.safeParse(value).data || null;

/** The number of an order on one line; null if there is none. */
export const toOrderNumber = (value: unknown): string | null =>
  toLine(typeof value === 'number' ? String(value) : value);

/** Reads an id that the store may leave out or write as 0. */
export const toOptionalId = (value: unknown): string | undefined => {
  const id = StoreId.safeParse(value).data;
  return id === '0' ? undefined : id;
};

const Country = z.string().trim().toUpperCase().refine(isCountry);

/** Returns the first country of ISO 3166 among the values. */
export const findCountry = (values: readonly unknown[]): string | null =>
  values.flatMap((value) => Country.safeParse(value).data ?? [])[0] ?? null;

/** True of stored lines that are all that the order was reported with. */
export const hasAllLines = (items: readonly ItemFacts[]): boolean => items.length > 0 && items.length < MOST;

/** Limits the lines that are stored of an order. */
export const limitItems = (items: readonly ItemFacts[]): ItemFacts[] => items.slice(0, MOST);
