import { z } from 'zod';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { listSchema, PageQuery, timestamp } from '../../kit/values/page.ts';
import { DirectoryCreator } from '../search/schema.ts';

export const MAX_LISTS = 200;
export const MAX_CREATORS = 100_000;
export const MAX_AT_ONCE = 1_000;

const name = z.string().trim().min(1).max(200).describe('Name of the list.').meta({ example: 'Contacted in March' });
const note = z
  .string()
  .trim()
  .max(2_000)
  .nullable()
  .describe('Text about the list; null for none.')
  .meta({ example: 'Wave 1' });
const creators = z.number().int().describe('How many creators the list has.').meta({ example: 420 });

export const CreatorList = z
  .object({ id: idField('lst', 'List id.'), name, note, creators, created_at: createdAt, updated_at: updatedAt })
  .meta({ id: 'CreatorList' });

const search = z
  .record(z.string().min(1).max(50), z.string().max(5_000))
  .describe(
    'Search parameters, as texts. Every match is put on the list, so pages, `walk` and `preview` are not allowed.',
  )
  .meta({ example: { city: 'Bay Area', follower_max: '20000' } });

export const CreatorListCreate = z
  .object({ name, note: note.optional(), search: search.optional() })
  .meta({ id: 'CreatorListCreate' });
export const CreatorListPatch = z
  .object({ name: name.optional(), note: note.optional() })
  .meta({ id: 'CreatorListPatch' });

const pk = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const pks = z
  .array(pk)
  .max(MAX_AT_ONCE)
  .describe('Creators, by `pk`.')
  .meta({ example: [173_560_420] });
const usernames = z
  .array(z.string().trim().min(1).max(500))
  .max(MAX_AT_ONCE)
  .describe('Usernames, with or without `@`, or addresses of Instagram profiles; case is ignored.')
  .meta({ example: ['gordonramen'] });

export const CreatorsToAdd = z
  .object({ pks: pks.default([]), usernames: usernames.default([]) })
  .refine(({ pks: these, usernames: those }) => these.length + those.length > 0, 'must have pks or usernames')
  .refine(
    ({ pks: these, usernames: those }) => these.length + those.length <= MAX_AT_ONCE,
    `must have at most ${MAX_AT_ONCE} creators`,
  )
  .meta({ id: 'CreatorsToAdd' });

export const CreatorsToRemove = z
  .object({ pks: pks.min(1).describe('Creators to remove from the list. By `pk`.') })
  .meta({ id: 'CreatorsToRemove' });

export const CreatorsAdded = z
  .object({
    id: idField('lst', 'Id of the list to which creators were added.'),
    added: z.number().int().describe('How many creators are new on the list.').meta({ example: 12 }),
    creators,
    not_found: z
      .object({
        pks: z.array(pk).describe('Given `pk`s that the directory lacks.').meta({ example: [] }),
        usernames: z.array(z.string()).describe('Given usernames that the directory lacks.').meta({ example: [] }),
      })
      .describe('Values that the directory does not have, which were ignored. At most 1,000 of each.'),
  })
  .meta({ id: 'CreatorsAdded' });

export const CreatorsRemoved = z
  .object({
    id: idField('lst', 'Id of the list from which creators were removed.'),
    removed: z.number().int().describe('How many creators were removed from the list.').meta({ example: 3 }),
    creators,
  })
  .meta({ id: 'CreatorsRemoved' });

const ListedCreator = z
  .object({
    pk: z.number().int().describe('The creator on the list.').meta({ example: 173_560_420 }),
    added_at: timestamp.describe('When the creator was put on the list.').meta({ example: '2026-03-02T09:30:00.000Z' }),
    by: z
      .string()
      .nullable()
      .describe('Person or API key that put the creator on the list; null if unknown.')
      .meta({ example: 'robin@acme.example' }),
    creator: DirectoryCreator.nullable().describe('The card of search; null if the directory no longer has it.'),
  })
  .meta({ id: 'ListedCreator' });
export const ListedCreatorFilter = z.object({ ...PageQuery });
export const ListedCreators = listSchema(ListedCreator).meta({ id: 'ListedCreators' });
