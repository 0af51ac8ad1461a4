import { z } from 'zod';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { ListQuery } from '../../kit/values/page.ts';

export const MAX_SAVED = 200;
/** A hundred e-mail addresses are the longest value that a parameter of search takes. */
const MAX_VALUE = 40_000;
const MAX_MAIL = 20;

const name = z.string().trim().min(1).max(100).describe('Name of the search.').meta({ example: 'Ramen in SF' });
const filters = z
  .record(z.string().min(1).max(50), z.string().max(MAX_VALUE))
  .describe('Filters and order of search, as texts. Parameters of one call, such as `page`, are not allowed.')
  .meta({ example: { city: 'San Francisco, CA', q: 'ramen' } });
const shared = z
  .boolean()
  .describe('Whether the whole brand and its keys may run it. Searches saved with a key always are.')
  .meta({ example: true });

const every = z
  .enum(['import', 'day', 'week'])
  .describe('How often: after each import of the directory, each UTC day, or each week from Monday.')
  .meta({ example: 'day' });
const mail = z
  .array(z.email().max(320))
  .min(1)
  .max(MAX_MAIL)
  .describe("Addresses of the brand's people.")
  .meta({ example: ['robin@acme.example'] });
const alert = z
  .object({ every, mail })
  .nullable()
  .describe('One mail a period that had new matches, with their number; null for none.');

export const SavedSearch = z
  .object({
    id: idField('ssr', 'Saved search id.'),
    name,
    filters,
    shared,
    by: z
      .string()
      .nullable()
      .describe('Person who saved it; null if a key did.')
      .meta({ example: 'robin@acme.example' }),
    tracked: z
      .boolean()
      .describe('Whether new matches are found. False with `similar_to`, or if over 500,000 creators matched.')
      .meta({ example: true }),
    matches: z.number().int().describe('Creators who began to match since it was saved.').meta({ example: 12 }),
    unseen: z
      .number()
      .int()
      .describe('Matches since the person last looked in the web app; for a key, all of them.')
      .meta({ example: 3 }),
    seen_after: z
      .string()
      .describe('Position of the first unseen match: send it as `after` to list the unseen matches.')
      .meta({ example: '9' }),
    problem: z
      .string()
      .nullable()
      .describe('Why it cannot be run, such as a deleted list; null if it can.')
      .meta({ example: null }),
    alert,
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'SavedSearch' });

export const SavedSearchCreate = z
  .object({ name, filters, shared: shared.optional(), alert: alert.optional() })
  .meta({ id: 'SavedSearchCreate' });
export type SavedSearchCreate = z.output<typeof SavedSearchCreate>;

export const SavedSearchPatch = z
  .object({
    name: name.optional(),
    filters: filters.optional(),
    shared: shared.optional(),
    alert: alert.optional(),
  })
  .meta({ id: 'SavedSearchPatch' });
export type SavedSearchPatch = z.output<typeof SavedSearchPatch>;

export const SavedSearchFilter = z.object({ ...ListQuery });
