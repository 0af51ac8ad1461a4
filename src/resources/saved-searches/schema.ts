import { z } from 'zod';
import { createdAt, idField, updatedAt } from '../../values/fields.ts';
import { ListQuery, listOf } from '../../values/page.ts';

const MAX_FILTERS = 20;

const name = z.string().trim().min(1).max(100).describe('Name of the search.').meta({ example: 'Ramen in SF' });
const filters = z
  .record(z.string().min(1).max(50), z.string().max(200))
  .refine((given) => Object.keys(given).length <= MAX_FILTERS, `must have at most ${MAX_FILTERS} filters`)
  .describe('Query parameters of `GET /v1/creators/search`, as strings.');

export const SavedSearch = z
  .object({ id: idField('ssr', 'Saved search id.'), name, filters, created_at: createdAt, updated_at: updatedAt })
  .meta({ id: 'SavedSearch' });

export const SavedSearchCreate = z.object({ name, filters }).meta({ id: 'SavedSearchCreate' });

export const SavedSearchFilter = z.object({ ...ListQuery });
export const SavedSearchList = listOf(SavedSearch).meta({ id: 'SavedSearchList' });
export const SavedSearchAnswer = z.object({ data: SavedSearch }).meta({ id: 'SavedSearchAnswer' });
