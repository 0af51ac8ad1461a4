import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import { nothing, operation } from '../../kit/operation/operation.ts';
import { listSchema, PageQuery, pageThrough } from '../../kit/values/page.ts';
import type { FacetName } from './facets.ts';
import { listCountries, listMetros, listStates } from './places.ts';

const count = z.number().int().describe('Creators in the directory that match.').meta({ example: 128 });
const Value = z
  .object({ value: z.string().describe('Value for the search parameter.').meta({ example: 'Food' }), count })
  .meta({ id: 'DictionaryValue' });
const Place = z
  .object({
    code: z.string().describe('Code of the place, for the search parameter.').meta({ example: 'CA' }),
    name: z.string().describe('Name of the place.').meta({ example: 'California' }),
    count,
  })
  .meta({ id: 'DictionaryPlace' });
const Metro = z
  .object({
    id: z.string().describe('Id of the metro.').meta({ example: 'bay-area' }),
    name: z.string().describe('Name of the metro.').meta({ example: 'San Francisco Bay Area' }),
    aliases: z
      .array(z.string())
      .describe('Other spellings that `city` and `q` understand.')
      .meta({ example: ['sf bay area'] }),
    country: z.string().describe('Country code.').meta({ example: 'US' }),
    count,
  })
  .meta({ id: 'DictionaryMetro' });

async function countByValue(context: Context, facet: FacetName): Promise<Map<string, number>> {
  const snapshot = await context.directory.snapshot();
  const values = await context.directory.facets.list(snapshot, facet, []);
  return new Map(values.map(({ value, count }) => [value, count]));
}

function dictionary<const Name extends string, T extends z.ZodType>(
  name: Name,
  summary: string,
  argument: string,
  item: T,
  list: (context: Context) => Promise<z.input<T>[]>,
) {
  return operation({
    id: `list_directory_${name}` as const,
    method: 'GET',
    path: `/v1/creators/dictionary/${name}`,
    tag: 'Directory',
    summary,
    description: 'Free. Values that the search parameters understand, with the number of matching creators.',
    forAgents: {
      description: `Free. Values of \`${argument}\` in search_creators, with counts.`,
      // Agents know the states and countries, and search_creators understands every spelling of them.
      isListed: name !== 'states' && name !== 'countries',
    },
    callers: ['brand'],
    directory: true,
    params: nothing,
    query: z.object(PageQuery),
    body: nothing,
    response: listSchema(item),
    errors: ['SUBSCRIPTION_REQUIRED'],
    hints: { readOnly: true, idempotent: true, destructive: false },
    handler: async (context, { query }) => pageThrough(await list(context), query),
  });
}

const facetDictionary = <const Name extends string>(name: Name, summary: string, facet: 'category' | 'niche') =>
  dictionary(name, summary, facet, Value, async (context) => {
    const snapshot = await context.directory.snapshot();
    return await context.directory.facets.list(snapshot, facet, []);
  });

export const dictionaryOperations = [
  dictionary('metros', 'List metros and their aliases', 'city', Metro, async (context) => {
    const counts = await countByValue(context, 'metro');
    return listMetros().map(({ id, name, aliases, country }) => ({
      id,
      name,
      aliases,
      country,
      count: counts.get(id) ?? 0,
    }));
  }),
  dictionary('states', 'List states', 'state', Place, async (context) => {
    const counts = await countByValue(context, 'state');
    return listStates().map(({ code, name }) => ({ code, name, count: counts.get(code) ?? 0 }));
  }),
  dictionary('countries', 'List countries', 'country', Place, async (context) => {
    const counts = await countByValue(context, 'country');
    return listCountries().map(({ code, name }) => ({ code, name, count: counts.get(code) ?? 0 }));
  }),
  facetDictionary('categories', 'List categories', 'category'),
  facetDictionary('niches', 'List niches', 'niche'),
] as const;
