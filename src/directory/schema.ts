import { z } from 'zod';
import { fromOutside } from '../values/untrusted.ts';

/** The largest integer that JSON clients read without loss. */
const MAX_SAFE = Number.MAX_SAFE_INTEGER;

const text = (max: number) => z.string().max(max).nullable();
const count = z.number().int().min(0).max(MAX_SAFE).nullable();

/** A creator of the directory as a search answers it: every field present, null when unknown, values as imported. */
export const DirectoryCreator = z
  .object({
    pk: z.number().int().min(0).max(MAX_SAFE).describe('Primary key of the creator.').meta({ example: 173560420 }),
    username: fromOutside(
      z.string().min(1).max(200).describe('Handle without a leading @.').meta({ example: 'gordongram' }),
    ),
    full_name: fromOutside(text(500)),
    follower_count: count,
    engagement_rate: z.number().min(0).max(1_000_000).nullable().describe('Percent: 3.5 means 3.5 %.'),
    category: text(200),
    biography: fromOutside(text(10_000)),
    extracted_email: fromOutside(text(320)),
    niches: text(2_000).describe('Comma-separated list.').meta({ example: 'fitness, wellness' }),
    city: text(200),
    state: text(200).describe('Abbreviation or full name, as the source spelt it.'),
    country: text(200),
    profile_pic_url: fromOutside(text(2_000)),
    is_verified: z.boolean().nullable(),
    external_url: fromOutside(text(2_000)),
  })
  .meta({ id: 'DirectoryCreator' });
export type DirectoryCreator = z.infer<typeof DirectoryCreator>;

/** One creator by `pk`: the list's fields and four more. Also the shape of one row of an import. */
export const DirectoryCreatorDetail = DirectoryCreator.extend({
  following_count: count,
  media_count: count,
  gender: text(50),
  age: z.number().int().min(0).max(150).nullable(),
}).meta({ id: 'DirectoryCreatorDetail' });
export type DirectoryCreatorDetail = z.infer<typeof DirectoryCreatorDetail>;
