import { z } from 'zod';
import { booleanParameter, decimalParameter, integerParameter, PageQuery, Pagination } from '../values/page.ts';
import { besideOthers, type Unchecked } from '../values/problems.ts';
import { fold } from './place-names.ts';
import { readCity, readState } from './places.ts';
import { DirectoryCreator } from './schema.ts';
import { Interpretation } from './understand.ts';

const MAX_Q_CHARACTERS = 500;
const MAX_Q_WORDS = 32;

const line = z.string().max(200);

/** Text that folds to nothing (a lone accent) is ignored like blank text: as a pattern it would match everyone. */
const text = (description: string) =>
  line
    .transform((value) => (fold(value) === '' ? undefined : value))
    .pipe(line.optional())
    .describe(description)
    .optional();
const count = integerParameter({ min: 0 });

const q = z
  .string()
  .max(MAX_Q_CHARACTERS)
  .refine(
    (value) => value.split(/\s+/u).filter(Boolean).length <= MAX_Q_WORDS,
    `must have at most ${MAX_Q_WORDS} words`,
  )
  .refine((value) => /[\p{L}\p{N}]/u.test(value), 'must have a letter or a digit')
  .describe(
    'Free text over username, name, biography, niches and category. If `q` is only a location, it filters by place.',
  )
  .meta({ example: 'vegan' })
  .optional();

/** Refuses a `state` that contradicts the state in `City, ST`. */
function assertOneState(query: Unchecked<'city' | 'state'>, context: z.RefinementCtx): void {
  if (typeof query.city !== 'string' || typeof query.state !== 'string') return;
  const city = readCity(query.city);
  const state = readState(query.state);
  if (city.kind === 'state' || !city.state) return;
  const given = state.kind === 'state' ? state.state.code : state.text;
  if (given === city.state.code) return;
  context.addIssue({
    code: 'custom',
    path: ['state'],
    params: { code: 'contradiction' },
    message: `contradicts the state in city: ${JSON.stringify(query.city)} is in ${city.state.code}, state says ${given}`,
    input: query.state,
  });
}

function assertOrder(query: Unchecked<'follower_min' | 'follower_max'>, context: z.RefinementCtx): void {
  const { follower_min, follower_max } = query;
  if (typeof follower_min !== 'number' || typeof follower_max !== 'number' || follower_min <= follower_max) return;
  context.addIssue({
    code: 'custom',
    path: ['follower_min'],
    params: { code: 'contradiction' },
    message: `must not be above follower_max (${follower_max})`,
    input: follower_min,
  });
}

export const CreatorSearchQuery = z
  .object({
    q,
    follower_min: count.describe('Minimum number of followers.').optional(),
    follower_max: count.describe('Maximum number of followers.').optional(),
    engagement_min: decimalParameter({ min: 0, max: 1_000_000 })
      .describe('Minimum engagement rate in percent: 3.5 means 3.5 %.')
      .optional(),
    category: text('Exact category; case is ignored.'),
    niche: text('A niche or part of one; case is ignored.'),
    has_email: booleanParameter()
      .describe('`true`: only creators with an e-mail address; `false`: only those without.')
      .optional(),
    country: text('Country code or name in any spelling; other text matches as a substring.'),
    city: text('Metro shorthand (NYC, LA, Bay Area …), `City, ST`, or part of a city name.'),
    state: text('State, as abbreviation or full name.'),
    gender: text('Exact gender; case is ignored.'),
    sort: z
      .enum(['followers', 'engagement'])
      .default('followers')
      .describe('Most followers or highest engagement rate first.'),
    ...PageQuery,
    preview: booleanParameter().describe('`true`: total and facets without creators, for 0 credits.').optional(),
    q_as: z.enum(['auto', 'text']).describe('`text`: never read `q` as a location.').default('auto'),
    directory_version: z
      .string()
      .max(200)
      .describe(
        'Directory version to search, from `X-Directory-Version` of an earlier page. Keeps pages consistent during imports.',
      )
      .optional(),
  })
  .superRefine((query, context) => {
    assertOneState(query, context);
    assertOrder(query, context);
  }, besideOthers);
export type CreatorSearchQuery = z.output<typeof CreatorSearchQuery>;

const facetOf = (of: string, value: string) =>
  z
    .array(
      z.object({
        value: z.string().describe(`The ${of}.`).meta({ example: value }),
        count: z.number().int().describe(`Results with this ${of}.`).meta({ example: 128 }),
      }),
    )
    .describe(`Most frequent values of ${of} in the results, with counts.`);

export const Preview = z
  .object({
    pages: z.number().int().describe('Number of pages at this limit.').meta({ example: 65 }),
    credits_to_fetch_all: z.number().int().describe('Credits that fetching every page costs.').meta({ example: 650 }),
    facets: z
      .object({
        category: facetOf('category', 'Food'),
        niche: facetOf('niche', 'ramen'),
        country: facetOf('country', 'US'),
        state: facetOf('state', 'CA'),
        metro: facetOf('metro', 'bay-area'),
        gender: facetOf('gender', 'female'),
      })
      .describe('Counts of the results by field.'),
  })
  .meta({ id: 'Preview' });
export type Preview = z.infer<typeof Preview>;

export const CreatorSearchAnswer = z
  .object({
    data: z.array(DirectoryCreator),
    pagination: Pagination,
    meta: z
      .object({ interpretation: Interpretation.describe('How each place parameter was read.') })
      .describe('How the search was understood.'),
    preview: Preview.optional().describe('Size and cost of the search. Only with `preview=true`.'),
  })
  .meta({ id: 'CreatorSearchAnswer' });
