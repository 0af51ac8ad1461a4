import { z } from 'zod';
import { foldAccents } from '../../kit/values/fold.ts';
import {
  booleanParameter,
  clampedParameter,
  DEFAULT_LIMIT,
  decimalParameter,
  integerParameter,
  type Page,
  PageQuery,
  Pagination,
  SEPARATOR,
  toPage,
} from '../../kit/values/page.ts';
import { besideOthers } from '../../kit/values/problems.ts';
import { DirectoryCreator } from './creator.shapes.ts';
import { CardFreshness } from './freshness.ts';
import { Interpretation, PlainInterpretation } from './interpretation.ts';
import { commaSeparatedPks, emails, LOOKED_UP_AT_MOST, NotFound, pks, usernames } from './look-up.shapes.ts';
import { SORTS, type Sort } from './order.ts';
import { findMetroName, findMetroNamed } from './places.ts';
import { Preview } from './preview.shapes.ts';
import { assertOnePlace, assertSettled } from './search-rules.ts';
import { hasLetterOrDigit } from './search-words.ts';

export const Suggestion = z
  .object({
    parameter: z.string().describe('Parameter that finds nobody.').meta({ example: 'q' }),
    value: z.string().describe('Its value as sent.').meta({ example: 'vegn' }),
    instead: z
      .string()
      .nullable()
      .describe('Value that finds somebody; null: the search without this parameter.')
      .meta({ example: 'vegan' }),
    instead_parameter: z
      .string()
      .optional()
      .describe('Parameter that takes `instead` in place of `parameter`. Only if it is another one.')
      .meta({ example: 'niche' }),
    total: z.number().int().describe('Creators that this search finds.').meta({ example: 120 }),
  })
  .meta({ id: 'SearchSuggestion' });
export type Suggestion = z.infer<typeof Suggestion>;

/** Creators that a search may be similar to. */
const SEEDS_AT_MOST = 10;
/** Further ones have too little in common to be worth a page. */
export const SIMILAR_AT_MOST = 1_000;

// Without an example: the docs page would send it with all other parameters.
const similarTo = commaSeparatedPks(SEEDS_AT_MOST).describe(
  'Creators similar to these: up to 10 keys, separated by commas. The 1,000 most similar, best first.',
);

export const Similarity = z
  .array(
    z.object({
      pk: DirectoryCreator.shape.pk.describe('Key of a creator of the page.'),
      score: z
        .number()
        .describe('How similar the creator is: 1 for the most similar one of the search, and less for the others.')
        .meta({ example: 0.82 }),
      shared: z
        .array(z.string())
        .describe('What the creator has in common with one of `similar_to`, as a kind and a value.')
        .meta({ example: ['niche:trail running', 'metro:bay-area'] }),
    }),
  )
  .meta({ id: 'CreatorSimilarity' });
export type Similarity = z.infer<typeof Similarity>;

const MAX_Q_CHARACTERS = 500;
const MAX_Q_WORDS = 32;

const line = z.string().max(200);

/** Text that folds to nothing (a lone accent) is ignored like blank text: as a pattern it would match everyone. */
const text = (description: string) =>
  line
    .transform((value) => (foldAccents(value) === '' ? undefined : value))
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
  .refine(hasLetterOrDigit, 'must have a letter or a digit')
  .describe(
    'Free text over username, name, biography, niches and category. If `q` is only a location, it filters by place; ' +
      'if it is only the address of an Instagram profile, by username.',
  )
  .meta({ example: 'vegan' })
  .optional();

const MAX_VALUES = 20;

/** Several values separated by `|`, each read like that of the singular parameter. */
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
        .refine(
          (values) => values.every((value) => foldAccents(value) !== ''),
          'must not have a blank value between |',
        ),
    )
    .describe(description)
    .meta({ [SEPARATOR]: '|' })
    .optional();

const MAX_LISTS = 20;

const lists = (description: string) =>
  z
    .string()
    .max(MAX_LISTS * 101)
    .transform((value) => [...new Set(value.split(',').map((one) => one.trim()))])
    .pipe(z.array(z.string().min(1).max(100)).max(MAX_LISTS, `must have at most ${MAX_LISTS} lists`))
    .describe(description)
    .optional();

const MAX_EXCLUDED = 100;

const excludedPks = commaSeparatedPks(MAX_EXCLUDED).describe(
  'Excludes up to 100 creators: their `pk`s, separated by commas.',
);

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
  .describe(`Facets of the preview, separated by commas: any of ${FACETS.join(', ')}. By default the first six.`)
  .optional();

const MAX_FACET_SIZE = 500;

/** The parameters that the older interface has too. */
const earlier = {
  q,
  follower_min: count.describe('Minimum number of followers.').optional(),
  follower_max: count.describe('Maximum number of followers.').optional(),
  engagement_min: decimalParameter({ min: 0, max: 1_000_000 })
    .describe('Minimum engagement rate in percent: 3.5 means 3.5%.')
    .optional(),
  category: text('Exact category; case is ignored.'),
  niche: text('A niche or part of one; case is ignored.'),
  has_email: booleanParameter()
    .describe('`true`: only creators with an email address. `false`: only those without.')
    .optional(),
  country: text('Country code or name in any spelling; other text matches as a substring.'),
  city: text('Metro shorthand (NYC, LA, Bay Area …), `City, ST`, a city by any of its names, or part of one.'),
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

const { page, limit } = PageQuery;

/** The defaults are applied by the readers below, so that the rules see what was sent. */
export const CreatorSearchQuery = z
  .object({
    ...earlier,
    page: page
      .unwrap()
      .optional()
      .describe(page.description ?? '')
      .meta({ default: 1 }),
    limit: limit
      .unwrap()
      .optional()
      .describe(limit.description ?? '')
      .meta({ default: DEFAULT_LIMIT }),
    sort: z
      .enum(SORTS)
      .optional()
      .describe(
        'Highest first, or lowest with `_asc`. `posts`: most posts; `recent`: newest data; `relevance`: best match of `q`. Missing values come last.',
      )
      .meta({ default: 'followers' }),
    pks,
    usernames,
    emails,
    similar_to: similarTo,
    saved: z.string().max(100).describe('Id of a saved search: its filters apply too.').optional(),
    walk: booleanParameter()
      .describe('`true`: every match as a stream, as NDJSON or CSV. 10 credits for each 100 creators.')
      .optional(),
    cursor: z
      .string()
      .max(2_000)
      .describe('Continues a walk from its last `cursor` line or its `next`, with the same filters and order.')
      .optional(),
    is_verified: booleanParameter()
      .describe('`true`: only verified profiles. `false`: only those known not to be.')
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
    niche_is: text('Exactly this niche, not a part of one; case is ignored.'),
    metro: line
      .transform((value) => findMetroNamed(value)?.id ?? (foldAccents(value) === '' ? undefined : value))
      .pipe(line.optional())
      .refine((id) => id === undefined || findMetroName(id) !== undefined, 'must be the id or name of a metro')
      .describe('Metro by its id or name, as the facet `metro` has it. Beside `city`, both must match.')
      .optional(),
    category_any: several('Any of up to 20 categories, separated by `|`.'),
    niche_any: several('Any of up to 20 niches or parts of them, separated by `|`.'),
    country_any: several('Any of up to 20 countries, separated by `|`.'),
    state_any: several('Any of up to 20 states, separated by `|`.'),
    city_any: several(
      'Any of up to 20 metros or cities, separated by `|` (a comma belongs to a place): `NYC|Austin, TX`.',
    ),
    gender_any: several('Any of up to 20 genders, separated by `|`.'),
    not_category: several('Excludes up to 20 categories, separated by `|`.'),
    not_niche: several('Excludes up to 20 niches or parts of them, separated by `|`.'),
    not_country: several('Excludes up to 20 countries, separated by `|`.'),
    not_city: several('Excludes up to 20 metros or cities, separated by `|`.'),
    in_list: lists('Only creators on these lists. Up to 20 ids, separated by commas.'),
    not_in_list: lists('Excludes creators on these lists. Up to 20 ids, separated by commas.'),
    exclude_pks: excludedPks,
    exclude_roster: booleanParameter()
      .describe("`true`: excludes creators on the brand's roster, by username or email address.")
      .optional(),
    max_credits: integerParameter({ min: 0 })
      .describe(
        'Most credits that the call may cost. A call that would cost more gets 402 and is free; a walk ends there.',
      )
      .optional(),
    typos: booleanParameter()
      .describe(
        '`true`: words of `q` also match with typing errors, one in words of 4 letters or more, two in 8 or more. The first two letters must be right.',
      )
      .optional(),
    facets,
    stats: booleanParameter()
      .describe('`true`: the preview has percentiles and the mean of followers and engagement.')
      .optional(),
    facet_size: clampedParameter(MAX_FACET_SIZE)
      .describe('Most values of each facet of the preview, 50 by default; larger values are clamped to 500.')
      .optional(),
    changed_since: z
      .string()
      .max(200)
      .describe(
        'Only creators that changed since a time, or since the import of a directory version. `meta.removed` lists those that left.',
      )
      .optional(),
    fresh_within_days: integerParameter({ min: 1, max: 3_650 })
      .describe('Only creators whose data is at most this many days old.')
      .optional(),
    with: z.enum(['freshness']).describe('`freshness`: `meta.freshness` says how fresh each creator is.').optional(),
    facet_q: text('Only values of facets that begin with this text; case and accents are ignored.'),
  })
  .superRefine(assertSettled, besideOthers)
  .superRefine(assertOnePlace, besideOthers);
export type CreatorSearchQuery = z.output<typeof CreatorSearchQuery>;

/** The rules across the parameters of a query that was read already. */
export const Settled = z.custom<CreatorSearchQuery>().superRefine(assertSettled);

export const sortOfQuery = ({ sort = 'followers' }: Pick<CreatorSearchQuery, 'sort'>): Sort => sort;

export const isLookUp = ({ pks, usernames, emails }: CreatorSearchQuery): boolean =>
  pks !== undefined || usernames !== undefined || emails !== undefined;

/** Creators that are looked up are on one page. */
export function pageOfQuery(query: CreatorSearchQuery): Page {
  const { page = 1, limit = DEFAULT_LIMIT, offset } = query;
  return toPage(isLookUp(query) ? { page: 1, limit: LOOKED_UP_AT_MOST } : { page, limit, offset });
}

export const CreatorSearchAnswer = z
  .object({
    data: z.array(DirectoryCreator),
    pagination: Pagination,
    meta: z
      .object({
        interpretation: Interpretation.describe('How each place parameter was read.'),
        removed: z
          .array(z.number().int())
          .optional()
          .describe(
            'Keys of creators that have left the directory since, the first 1,000, regardless of the other filters. Only on the first page with `changed_since`.',
          )
          .meta({ example: [173560421] }),
        removed_total: z
          .number()
          .int()
          .optional()
          .describe('How many creators have left the directory since, in the last 90 days at most.')
          .meta({ example: 1 }),
        left: z
          .array(z.number().int())
          .optional()
          .describe(
            'Keys of creators that changed since and do not match the filters now: delete them from a copy. 1,000 on each page. Only with `changed_since` beside filters.',
          )
          .meta({ example: [173560422] }),
        left_total: z.number().int().optional().describe('How many such creators there are.').meta({ example: 1 }),
        similarity: Similarity.optional().describe(
          'How similar each creator of the page is, in its order. Only with `similar_to`.',
        ),
        freshness: z
          .array(CardFreshness)
          .optional()
          .describe('How fresh each creator of the page is, in its order. Only with `with=freshness`.'),
        suggestions: z
          .array(Suggestion)
          .max(3)
          .optional()
          .describe('Searches near this one that find somebody. Only if it finds nobody.'),
        not_found: NotFound.optional().describe(
          'Values of `pks`, `usernames` and `emails` that the directory lacks. Only with one of them.',
        ),
        ignored: z
          .array(z.string())
          .optional()
          .describe('Unknown and blank parameters, which were ignored. Only if there are any; a walk refuses them.')
          .meta({ example: [] }),
      })
      .describe('How the search was understood.'),
    preview: Preview.optional().describe('Size and cost of the search. Only with `preview=true`.'),
  })
  .meta({ id: 'CreatorSearchAnswer' });

/** The answer of the older interface. */
export const PlainSearchAnswer = z
  .object({
    data: z.array(DirectoryCreator),
    pagination: Pagination,
    meta: z
      .object({ interpretation: PlainInterpretation.describe('How each parameter was read.') })
      .describe('How the search was understood.'),
  })
  .meta({ id: 'LegacyCreatorSearchAnswer' });
