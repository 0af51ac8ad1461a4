import { z } from 'zod';

const facetFilter = (of: string, example: object) =>
  z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .nullable()
    .describe(
      `Parameters of search that find exactly the creators of this ${of}; null if none do, as beside \`similar_to\` with 1,000 results.`,
    )
    .meta({ example });

const facetField = (of: string, parameter: string, value: string, label = value) =>
  z
    .array(
      z.object({
        value: z.string().describe(`The ${of}.`).meta({ example: value }),
        count: z.number().int().describe(`Results with this ${of}.`).meta({ example: 128 }),
        label: z.string().describe(`Name of the ${of} for people.`).meta({ example: label }),
        filter: facetFilter(of, { [parameter]: parameter === 'state' ? `US-${value}` : value }).describe(
          `Parameters of search that find exactly this ${of}; null if the value is blank or too long for one, or beside \`similar_to\` with 1,000 results.`,
        ),
      }),
    )
    .optional()
    .describe(`Most frequent values of ${of} in the results, with counts.`);

const rangeFacetField = (of: string, parameter = of) =>
  z
    .array(
      z.object({
        from: z
          .number()
          .nullable()
          .describe(`Lower bound of the range of ${of}; null if it has none.`)
          .meta({ example: 1_000 }),
        to: z
          .number()
          .nullable()
          .describe(`Upper bound of the range of ${of}, exclusive; null if it has none.`)
          .meta({ example: 5_000 }),
        count: z.number().int().describe(`Results in this range of ${of}.`).meta({ example: 40 }),
        filter: facetFilter(`range of ${of}`, { [`${parameter}_min`]: 1_000, [`${parameter}_max`]: 4_999 }),
      }),
    )
    .optional()
    .describe(`Counts by range of ${of}. Only if it is one of \`facets\`.`);

const booleanFacetField = (of: string, parameter: string) =>
  z
    .array(
      z.object({
        value: z.boolean().describe(`Whether ${of}.`),
        count: z
          .number()
          .int()
          .describe(`Results by this answer to whether ${of}; unknown ones are in neither.`)
          .meta({ example: 12 }),
        filter: facetFilter('value', { [parameter]: true }),
      }),
    )
    .optional()
    .describe(`Counts of the results by whether ${of}. Only if it is one of \`facets\`.`);

const statsField = (of: string) =>
  z
    .object({
      p10: z.number().nullable().describe(`10th percentile of ${of}: a tenth of the results have at most this.`),
      p50: z.number().nullable().describe(`Median of ${of}: half of the results have at most this.`),
      p90: z.number().nullable().describe(`90th percentile of ${of}: nine tenths of the results have at most this.`),
      mean: z.number().nullable().describe(`Mean ${of}, to four decimals.`),
    })
    .describe(`Distribution of ${of} among the results where it is known; null if it is known for none.`);

export const Preview = z
  .object({
    pages: z.number().int().describe('Number of pages at this limit.').meta({ example: 65 }),
    credits_to_fetch_all: z.number().int().describe('Credits that fetching every page costs.').meta({ example: 650 }),
    limit: z
      .number()
      .int()
      .describe('The limit that `pages` and `credits_to_fetch_all` are for.')
      .meta({ example: 20 }),
    at_limit_100: z
      .object({
        pages: z.number().int().describe('Number of pages of 100 creators.').meta({ example: 13 }),
        credits_to_fetch_all: z.number().int().describe('Credits that these pages cost.').meta({ example: 130 }),
      })
      .describe('The same with `limit=100`, which costs least.'),
    facets: z
      .object({
        category: facetField('category', 'category', 'food'),
        niche: facetField('niche', 'niche_is', 'ramen'),
        country: facetField('country', 'country', 'US', 'United States'),
        state: facetField('state', 'state', 'CA', 'California'),
        metro: facetField('metro', 'metro', 'bay-area', 'San Francisco Bay Area'),
        gender: facetField('gender', 'gender', 'female'),
        followers: rangeFacetField('followers', 'follower'),
        engagement: rangeFacetField('engagement'),
        age: rangeFacetField('age'),
        posts: rangeFacetField('posts'),
        is_verified: booleanFacetField('the profile is verified', 'is_verified'),
        has_email: booleanFacetField('there is an email address', 'has_email'),
      })
      .describe('Counts of the results by field: those of `facets`, or the first six.'),
    stats: z
      .object({ followers: statsField('followers'), engagement: statsField('engagement rate') })
      .optional()
      .describe('Spread of the results. Only with `stats=true`.'),
  })
  .meta({ id: 'Preview' });
export type Preview = z.infer<typeof Preview>;
