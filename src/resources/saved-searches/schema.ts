import { z } from 'zod';
import { ListQuery, listOf, timestamp } from '../../values/page.ts';

const MAX_FILTERS = 20;

const name = z.string().trim().min(1).max(100);
const filters = z
  .record(z.string().min(1).max(50), z.string().max(200))
  .refine((given) => Object.keys(given).length <= MAX_FILTERS, `must have at most ${MAX_FILTERS} filters`)
  .describe('As `GET /v1/creators/search` takes them, each as text.');

export const SavedSearch = z
  .object({ id: z.string(), name, filters, created_at: timestamp, updated_at: timestamp.nullable() })
  .meta({ id: 'SavedSearch' });

export const SavedSearchCreate = z.object({ name, filters }).meta({ id: 'SavedSearchCreate' });

export const SavedSearchFilter = z.object({ ...ListQuery });
export const SavedSearchList = listOf(SavedSearch).meta({ id: 'SavedSearchList' });
export const SavedSearchAnswer = z.object({ data: SavedSearch }).meta({ id: 'SavedSearchAnswer' });
