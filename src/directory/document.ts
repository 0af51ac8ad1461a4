import type { DirectoryCreator, DirectoryCreatorDetail } from './schema.ts';
import { countryCodeOf, metrosOf, stateCodeOf } from './stored-place.ts';

/** One row of an import. Unknown fields may be absent. */
export type CreatorRow = Pick<DirectoryCreatorDetail, 'pk' | 'username'> & {
  [Field in keyof DirectoryCreatorDetail]?: DirectoryCreatorDetail[Field] | undefined;
};

/** The Elasticsearch document of a creator: the card that search returns as stored, and fields for filters and details. */
export interface CreatorDocument {
  card: DirectoryCreator;
  /** Unknown values are undefined, and so absent from the JSON, which makes it a tenth smaller. */
  x: {
    following_count: number | undefined;
    media_count: number | undefined;
    gender: string | undefined;
    age: number | undefined;
    niches: string[];
    has_email: boolean;
    state_code: string | undefined;
    country_code: string | undefined;
    metros: string[];
  };
}

function splitNiches(niches: string | null): string[] {
  if (!niches) return [];
  return niches
    .split(',')
    .map((niche) => niche.trim())
    .filter((niche) => niche !== '');
}

export function documentOf(row: CreatorRow): CreatorDocument {
  const { niches = null, city = null, state = null, country = null, extracted_email = null } = row;
  return {
    // These fields are in the order of a search's answer, which is spliced from them without parsing.
    card: {
      pk: row.pk,
      username: row.username,
      full_name: row.full_name ?? null,
      follower_count: row.follower_count ?? null,
      engagement_rate: row.engagement_rate ?? null,
      category: row.category ?? null,
      biography: row.biography ?? null,
      extracted_email,
      niches,
      city,
      state,
      country,
      profile_pic_url: row.profile_pic_url ?? null,
      is_verified: row.is_verified ?? null,
      external_url: row.external_url ?? null,
    },
    x: {
      following_count: row.following_count ?? undefined,
      media_count: row.media_count ?? undefined,
      gender: row.gender ?? undefined,
      age: row.age ?? undefined,
      niches: splitNiches(niches),
      has_email: extracted_email !== null && extracted_email.trim() !== '',
      state_code: stateCodeOf(state, country) ?? undefined,
      country_code: countryCodeOf(country) ?? undefined,
      metros: metrosOf(city, state, country),
    },
  };
}
