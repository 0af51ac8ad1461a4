import { z } from 'zod';
import {
  booleanParameter,
  clampedParameter,
  decimalParameter,
  integerParameter,
  PageQuery,
  Pagination,
} from '../values/page.ts';
import { besideOthers } from '../values/problems.ts';
import { SORTS } from './order.ts';
import { fold } from './place-names.ts';
import { DirectoryCreator } from './schema.ts';
import { assertSettled } from './search-rules.ts';
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

const MAX_VALUES = 20;

/** Several values with `|` between, each read as the single parameter's. */
// Without examples: the docs page would send all of them at once.
const several = (description: string) =>
  z
    .string()
    .max(MAX_VALUES * 201)
    .transform((value) => value.split('|').map((one) => one.trim()))
    .pipe(
      z
        .array(z.string().max(200))
        .max(MAX_VALUES, `must have at most ${MAX_VALUES} values`)
        .refine((values) => values.every((value) => fold(value) !== ''), 'must have no blank value between |'),
    )
    .describe(description)
    .optional();

const FACETS = [
  'category',
  'niche',
  'country',
  'state',
  'metro',
  'gender',
  'followers',
  'engagement',
  'age',
  'posts',
  'is_verified',
  'has_email',
] as const;
export type Facet = (typeof FACETS)[number];

const facets = z
  .string()
  .max(500)
  .transform((value) => value.split(',').map((one) => one.trim()))
  .pipe(z.array(z.enum(FACETS)).min(1))
  .describe(`Facets of the preview, with commas between: any of ${FACETS.join(', ')}. By default the first six.`)
  .optional();

const MAX_FACET_SIZE = 500;

/** The parameters that the older interface has too. */
const earlier = {
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
};

/** Search on the older interface. */
export const PlainSearchQuery = z
  .object({
    ...earlier,
    sort: z
      .enum(['followers', 'engagement'])
      .default('followers')
      .describe('Most followers or highest engagement rate first.'),
  })
  .superRefine(assertSettled, besideOthers);

export const CreatorSearchQuery = z
  .object({
    ...earlier,
    sort: z
      .enum(SORTS)
      .default('followers')
      .describe(
        'Highest first, or lowest with `_asc`; `posts`: most posts; `recent`: newest data; `relevance`: best match of `q`. Missing values come last.',
      ),
    is_verified: booleanParameter()
      .describe('`true`: only verified profiles; `false`: only those known not to be.')
      .optional(),
    has_url: booleanParameter().describe('`true`: only profiles with a link; `false`: only those without.').optional(),
    age_min: count.describe('Minimum age in years.').optional(),
    age_max: count.describe('Maximum age in years.').optional(),
    posts_min: count.describe('Minimum number of posts.').optional(),
    posts_max: count.describe('Maximum number of posts.').optional(),
    following_max: count.describe('Maximum number of profiles that the creator follows.').optional(),
    engagement_max: decimalParameter({ min: 0, max: 1_000_000 })
      .describe('Maximum engagement rate in percent.')
      .optional(),
    category_any: several('Any of up to 20 categories, with `|` between.'),
    niche_any: several('Any of up to 20 niches or parts of them, with `|` between.'),
    country_any: several('Any of up to 20 countries, with `|` between.'),
    state_any: several('Any of up to 20 states, with `|` between.'),
    city_any: several('Any of up to 20 metros or cities, with `|` between.'),
    gender_any: several('Any of up to 20 genders, with `|` between.'),
    not_category: several('None of up to 20 categories, with `|` between.'),
    not_niche: several('None of up to 20 niches or parts of them, with `|` between.'),
    not_country: several('None of up to 20 countries, with `|` between.'),
    not_city: several('None of up to 20 metros or cities, with `|` between.'),
    typos: booleanParameter()
      .describe(
        '`true`: words of `q` also match with one typing error from 4 letters and two from 8; the first two letters must be right.',
      )
      .optional(),
    facets,
    stats: booleanParameter()
      .describe('`true`: the preview has percentiles and the mean of followers and engagement.')
      .optional(),
    facet_size: clampedParameter(MAX_FACET_SIZE)
      .describe('Most values of each facet of the preview, 50 by default; larger values are clamped to 500.')
      .optional(),
    facet_q: text('Only values of facets that begin with this text; case and accents are ignored.'),
  })
  .superRefine(assertSettled, besideOthers);
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

const rangesOf = (of: string) =>
  z
    .array(
      z.object({
        from: z.number().nullable().describe(`Lowest ${of} of the range; null at the start.`).meta({ example: 1_000 }),
        to: z
          .number()
          .nullable()
          .describe(`End of the range of ${of}, exclusive; null at the end.`)
          .meta({ example: 5_000 }),
        count: z.number().int().describe(`Results whose ${of} lies in the range.`).meta({ example: 40 }),
      }),
    )
    .optional()
    .describe(`Counts by range of ${of}. Only if it is one of \`facets\`.`);

const truthOf = (of: string) =>
  z
    .array(
      z.object({
        value: z.boolean().describe(`Whether ${of}.`),
        count: z.number().int().describe(`Results of which it is known whether ${of}.`).meta({ example: 12 }),
      }),
    )
    .optional()
    .describe(`Counts of the results by whether ${of}. Only if it is one of \`facets\`.`);

const statsOf = (of: string) =>
  z
    .object({
      p10: z.number().nullable().describe(`A tenth of the results have at most this ${of}.`),
      p50: z.number().nullable().describe(`Half of the results have at most this ${of}.`),
      p90: z.number().nullable().describe(`Nine tenths of the results have at most this ${of}.`),
      mean: z.number().nullable().describe(`Mean ${of}, to four decimals.`),
    })
    .describe(`Spread of ${of} over the results that have it; null if none has.`);

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
        followers: rangesOf('followers'),
        engagement: rangesOf('engagement'),
        age: rangesOf('age'),
        posts: rangesOf('posts'),
        is_verified: truthOf('the profile is verified'),
        has_email: truthOf('there is an e-mail address'),
      })
      .describe('Counts of the results by field. The first six are empty if `facets` leaves them out.'),
    stats: z
      .object({ followers: statsOf('followers'), engagement: statsOf('engagement rate') })
      .optional()
      .describe('Spread of the results. Only with `stats=true`.'),
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
