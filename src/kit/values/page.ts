import { z } from 'zod';
import { LocalDay } from './local-day.ts';
import { isDay, TimeText } from './time.ts';
import { TimeZone } from './time-zone.ts';

export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 100;

/**
 * A query parameter that is a whole number: `12`, never `1e3`, `0x10` or `12.0`. The bounds are checked on the text,
 * because the error would show a very large number rounded. The number schema after it puts the bounds into the OpenAPI
 * document.
 */
export function integerParameter(bounds: { min?: number; max?: number } = {}) {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = bounds;
  return z
    .string()
    .regex(/^[+-]?\d+$/, { error: 'must be a whole number', abort: true })
    .check(({ value, issues }) => {
      const issueFields = { origin: 'number', inclusive: true, input: value } as const;
      if (Number(value) < min) issues.push({ ...issueFields, code: 'too_small', minimum: min });
      if (Number(value) > max) issues.push({ ...issueFields, code: 'too_big', maximum: max });
    })
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));
}

/** A whole number from 1; larger ones than `most` are clamped, not rejected. */
export function clampedParameter(most: number) {
  return integerParameter({ min: 1 }).pipe(
    z
      .number()
      .int()
      .min(1)
      .overwrite((value) => Math.min(value, most)),
  );
}

/** A query parameter that is a decimal number: `3.5`, never `1e3` or `Infinity`. */
export function decimalParameter(bounds: { min: number; max: number }) {
  return z
    .string()
    .regex(/^[+-]?\d{1,15}(\.\d{1,20})?$/, 'must be a number')
    .transform(Number)
    .pipe(z.number().min(bounds.min).max(bounds.max));
}

export function booleanParameter() {
  return z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .pipe(z.boolean());
}

/** True if a query that was not read yet has a parameter as `true`. */
export const isTrueText = (value: unknown): boolean => typeof value === 'string' && value.toLowerCase() === 'true';

/** Values over 100 are clamped, not rejected. */
const limit = z
  .string()
  .regex(/^[+-]?\d+$/, 'must be a whole number')
  .transform((text) => Math.min(Number(text), Number.MAX_SAFE_INTEGER))
  .pipe(
    z
      .number()
      .int()
      .min(1)
      .overwrite((number) => Math.min(number, MAX_LIMIT)),
  )
  .default(DEFAULT_LIMIT)
  .describe('Items per page; larger values are clamped to 100.');

/** The pagination parameters of every list. */
export const PageQuery = {
  page: integerParameter({ min: 1 }).default(1).describe('1-based page.'),
  limit,
  offset: integerParameter({ min: 0 })
    .optional()
    .describe('Alternative to page: page = floor(offset / limit) + 1. Wins when both are sent.'),
};

/** Metadata of a list in a query: what separates its values, if not a comma. */
export const SEPARATOR = 'x-separator';

/** A day in UTC, or an ISO 8601 time with an offset. */
export const utcTimestampInput = TimeText.transform((text) => new Date(text)).pipe(z.date());

/** The end of a window: a day in UTC means its last millisecond. */
export const utcThroughInput = TimeText.transform((text) => (isDay(text) ? `${text}T23:59:59.999Z` : text))
  .transform((text) => new Date(text))
  .pipe(z.date());

/** A day of the brand's zone, or an ISO 8601 time with an offset. */
export const timestampInput = TimeText.transform((text) =>
  isDay(text) ? new LocalDay(text, 'start') : new Date(text),
).pipe(z.date());

/** The end of a window: a day of the brand's zone means its last millisecond. */
export const throughInput = TimeText.transform((text) =>
  isDay(text) ? new LocalDay(text, 'end') : new Date(text),
).pipe(z.date());

/** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export const timestamp = z.iso.datetime({ precision: 3 });

/** The zone of a call's dates without a time. */
export const timeZoneInput = TimeZone.optional().describe(
  "IANA time zone of dates without a time; the brand's if omitted.",
);

const SORTS = ['newest', 'oldest'] as const;
type TimeSort = (typeof SORTS)[number];
export const isTimeSort = (sort: string): boolean => SORTS.some((one) => one === sort);

const AFTER = 'Returns only items created after this time.';
const BEFORE =
  'Returns only items created at or before this time; a date includes the whole day. Set it to the `created_at` of the first item to keep pages stable while new items arrive.';
const UPDATED =
  'Returns only items created or changed after this time. Figures such as revenue are no change of an item.';

/** The query parameters of every list of a brand's rows: page, window of creation times, order. */
export const ListQuery = {
  ...PageQuery,
  created_after: timestampInput.describe(AFTER).optional(),
  created_before: throughInput.describe(BEFORE).optional(),
  updated_after: timestampInput.describe(UPDATED).optional(),
  time_zone: timeZoneInput,
  sort: z.enum(SORTS).default('newest').describe('Order by creation time; ties are ordered by id.'),
};

/** The same for a list of which some items wait for the brand. */
export const WaitingListQuery = {
  ...ListQuery,
  sort: z
    .enum([...SORTS, 'waiting'])
    .default('newest')
    .describe(
      'Order by creation time; ties are ordered by id. `waiting`: what waits for you first, each newest first.',
    ),
};
export type WaitingSort = z.output<typeof WaitingListQuery.sort>;

/** The query parameter of lists that can be summed up. */
export const TotalsQuery = {
  totals: booleanParameter()
    .optional()
    .describe(
      '`true`: the answer also has `totals`, the count and sums of all matching items in each currency, not only of this page. Not in CSV.',
    ),
};

/** The same for lists of the directory, whose days are UTC's. */
export const UtcListQuery = {
  ...PageQuery,
  created_after: utcTimestampInput.describe(AFTER).optional(),
  created_before: utcThroughInput.describe(BEFORE).optional(),
  updated_after: utcTimestampInput.describe(UPDATED).optional(),
  sort: ListQuery.sort,
};

export interface ListWindow<Sort extends string = TimeSort> {
  created_after?: Date | undefined;
  created_before?: Date | undefined;
  updated_after?: Date | undefined;
  /** A time's order, or the name of a figure that the list declares. */
  sort: Sort;
}

export interface Page {
  page: number;
  limit: number;
  /** Rows before the page's first. */
  offset: number;
}

/** An offset beyond every list, which a number still holds exactly. */
const NOWHERE = Number.MAX_SAFE_INTEGER;

export function toPage({ limit, ...query }: { page: number; limit: number; offset?: number | undefined }): Page {
  const page = query.offset === undefined ? query.page : Math.min(Math.floor(query.offset / limit) + 1, NOWHERE);
  return { page, limit, offset: Math.min((page - 1) * limit, NOWHERE) };
}

export const Pagination = z
  .object({
    page: z.number().int().min(1).describe('Number of this page, from 1.'),
    limit: z.number().int().min(1).max(MAX_LIMIT).describe('Maximum number of items on a page.').meta({ example: 20 }),
    total: z.number().int().min(0).describe('Full result count across all pages.'),
    has_more: z.boolean().describe('True when page x limit < total.'),
  })
  .meta({ id: 'Pagination' });
export type Pagination = z.infer<typeof Pagination>;

export function toPagination(page: Page, total: number): Pagination {
  return { page: page.page, limit: page.limit, total, has_more: page.page * page.limit < total };
}

export function listSchema<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item).describe('The items of this page.'),
    pagination: Pagination.describe('This page, and the number of items on all pages.'),
  });
}

/** One page of a list that is in memory. */
export function pageThrough<T>(
  rows: readonly T[],
  query: Parameters<typeof toPage>[0],
): { data: T[]; pagination: Pagination } {
  const page = toPage(query);
  return { data: rows.slice(page.offset, page.offset + page.limit), pagination: toPagination(page, rows.length) };
}
