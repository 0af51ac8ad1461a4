import { z } from 'zod';
import { fromOutside } from '../../kit/values/untrusted.ts';

/** The largest integer that JSON clients read exactly. */
const MAX_SAFE = Number.MAX_SAFE_INTEGER;

/** The first creator of the sample directory, for examples that answer. */
export const SAMPLE_PK = 2_566_083;

const text = (max: number) => z.string().max(max).nullable();
const count = z.number().int().min(0).max(MAX_SAFE).nullable();

/** A creator as search returns it: every field is present, null if unknown, with values as imported. */
export const DirectoryCreator = z
  .object({
    pk: z
      .number()
      .int()
      .min(0)
      .max(MAX_SAFE)
      .describe('Key of the creator in the directory. It stays the same across imports.')
      .meta({ example: 173560420 }),
    username: fromOutside(
      z.string().min(1).max(200).describe('Username on the platform, without `@`.').meta({ example: 'gordongram' }),
    ),
    full_name: fromOutside(text(500).describe('Display name on the profile.').meta({ example: 'Gordon Lee' })),
    follower_count: count.describe('Number of followers.').meta({ example: 48_200 }),
    engagement_rate: z
      .number()
      .min(0)
      .max(1_000_000)
      .nullable()
      .describe('Engagement rate in percent: 3.5 means 3.5%. Null if unknown.')
      .meta({ example: 3.5 }),
    category: text(200).describe('Main category of the profile.').meta({ example: 'Food' }),
    biography: fromOutside(
      text(10_000).describe('Biography on the profile.').meta({ example: 'Ramen, every week another one. SF' }),
    ),
    extracted_email: fromOutside(
      text(320)
        .describe('Email address found in the profile; null if there is none.')
        .meta({ example: 'gordon@example.com' }),
    ),
    niches: text(2_000).describe('Comma-separated niches of the profile.').meta({ example: 'fitness, wellness' }),
    city: text(200).describe('City, as the source spelt it.').meta({ example: 'San Francisco' }),
    state: text(200).describe('State: abbreviation or full name, as the source spelt it.').meta({ example: 'CA' }),
    country: text(200).describe('Country: code or name, as the source spelt it.').meta({ example: 'US' }),
    profile_pic_url: fromOutside(
      text(2_000).describe('URL of the profile picture.').meta({ example: 'https://pictures.example/gordon.jpg' }),
    ),
    is_verified: z.boolean().nullable().describe('Whether the platform verified the profile; null if unknown.'),
    external_url: fromOutside(
      text(2_000).describe('Link on the profile; null if there is none.').meta({ example: 'https://gordon.example' }),
    ),
  })
  .meta({ id: 'DirectoryCreator' });
export type DirectoryCreator = z.infer<typeof DirectoryCreator>;

/** One creator by `pk`: the fields of search and four more. Import rows have this shape too. */
export const DirectoryCreatorDetail = DirectoryCreator.extend({
  following_count: count.describe('Number of profiles the creator follows.').meta({ example: 310 }),
  media_count: count.describe('Number of posts on the profile.').meta({ example: 214 }),
  gender: text(50).describe('Gender as given by the source; null if unknown.').meta({ example: 'female' }),
  age: z.number().int().min(0).max(150).nullable().describe('Age in years; null if unknown.').meta({ example: 27 }),
}).meta({ id: 'DirectoryCreatorDetail' });
export type DirectoryCreatorDetail = z.infer<typeof DirectoryCreatorDetail>;
