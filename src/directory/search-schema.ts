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

/** Text of which folding leaves nothing (a lone accent) is blank, and so ignored: as a pattern it would find everybody. */
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
  .describe('Free text over username, name, bio, niches and category. A q that is purely a location filters by it.')
  .meta({ example: 'vegan' })
  .optional();

/** The state inside `City, ST` and the one beside it must not contradict each other. */
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
    follower_min: count.optional(),
    follower_max: count.optional(),
    engagement_min: decimalParameter({ min: 0, max: 1_000_000 }).describe('Percent: 3.5 means 3.5 %.').optional(),
    category: text('Exact, any case.'),
    niche: text('Equal to a niche or part of one, any case.'),
    has_email: booleanParameter().describe('false: only creators without one.').optional(),
    country: text('A code or name of a country in all its spellings; anything else is a substring.'),
    city: text('A metro shorthand (NYC, LA, Bay Area …), `City, ST`, or part of a city name.'),
    state: text('Abbreviation or full name.'),
    gender: text('Any case.'),
    sort: z.enum(['followers', 'engagement']).default('followers'),
    ...PageQuery,
    preview: booleanParameter().describe('Totals and facets without creators, for 0 credits.').optional(),
    q_as: z.enum(['auto', 'text']).describe('text: q is never read as a location.').default('auto'),
    directory_version: z
      .string()
      .max(200)
      .describe('Stays on the version of an earlier answer (X-Directory-Version) while walking pages.')
      .optional(),
  })
  .superRefine((query, context) => {
    assertOneState(query, context);
    assertOrder(query, context);
  }, besideOthers);
export type CreatorSearchQuery = z.output<typeof CreatorSearchQuery>;

const Facet = z.array(z.object({ value: z.string(), count: z.number().int() }));

export const Preview = z
  .object({
    pages: z.number().int(),
    credits_to_fetch_all: z.number().int(),
    facets: z.object({
      category: Facet,
      niche: Facet,
      country: Facet,
      state: Facet,
      metro: Facet,
      gender: Facet,
    }),
  })
  .meta({ id: 'Preview' });
export type Preview = z.infer<typeof Preview>;

export const CreatorSearchAnswer = z
  .object({
    data: z.array(DirectoryCreator),
    pagination: Pagination,
    meta: z.object({ interpretation: Interpretation }),
    preview: Preview.optional(),
  })
  .meta({ id: 'CreatorSearchAnswer' });
