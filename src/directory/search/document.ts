import type { DirectoryCreator, DirectoryCreatorDetail } from './creator.shapes.ts';
import { listOtherSpellings } from './search-words.ts';
import { findCountryCode, findStateCode, listCityIds, listMetroIds } from './stored-place.ts';

/** One row of an import. Unknown fields may be absent. */
export type CreatorRow = Pick<DirectoryCreatorDetail, 'pk' | 'username'> & {
  [Field in keyof DirectoryCreatorDetail]?: DirectoryCreatorDetail[Field] | undefined;
} & {
  /** The time at which the source observed the creator, as ISO 8601; absent means at the import. */
  data_as_of?: string | null | undefined;
};

/** The facts that an import knows about a row besides its values. Times are in milliseconds since 1970. */
export interface Facts {
  importedAt?: number | undefined;
  changedAt?: number | undefined;
  /** 64 bits as a decimal number. */
  hash?: string | undefined;
  source?: string | undefined;
}

/** The first version of the mapping, under `_meta`, that has the fields after `metros`. */
export const MAPPING_VERSION = 2;
/** The first version of the mapping that has other spellings of words. */
const SPELLINGS_VERSION = 3;

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
    has_url: boolean;
    data_as_of: number | undefined;
    changed_at: number | undefined;
    content_hash: string | undefined;
    source: string | undefined;
    /** Ids of the cities that the place may be. */
    cities: number[] | undefined;
    /** Spellings under which the name is found besides the stored one. */
    name_spellings: string | undefined;
    /** The same for the other texts that `q` searches. */
    text_spellings: string | undefined;
  };
}

function splitNiches(niches: string | null): string[] {
  if (!niches) return [];
  return niches
    .split(',')
    .map((niche) => niche.trim())
    .filter((niche) => niche !== '');
}

const toFilled = <T>(values: T[]): T[] | undefined => (values.length === 0 ? undefined : values);
const isFilled = (text: string | null) => text !== null && text.trim() !== '';

export function toDocument(row: CreatorRow, facts: Facts = {}): CreatorDocument {
  const { niches = null, city = null, state = null, country = null } = row;
  const { extracted_email = null, external_url = null, data_as_of } = row;
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
      external_url,
    },
    x: {
      following_count: row.following_count ?? undefined,
      media_count: row.media_count ?? undefined,
      gender: row.gender ?? undefined,
      age: row.age ?? undefined,
      niches: splitNiches(niches),
      has_email: isFilled(extracted_email),
      state_code: findStateCode(state, country) ?? undefined,
      country_code: findCountryCode(country) ?? undefined,
      metros: listMetroIds(city, state, country),
      has_url: isFilled(external_url),
      data_as_of: data_as_of ? Date.parse(data_as_of) : facts.importedAt,
      changed_at: facts.changedAt,
      content_hash: facts.hash,
      source: facts.source,
      cities: toFilled(listCityIds(city, state, country)),
      name_spellings: listOtherSpellings([row.full_name]),
      text_spellings: listOtherSpellings([row.username, row.category, row.biography, niches]),
    },
  };
}

/** The document without the fields that an index with an earlier mapping rejects. */
export function documentFor(version: number, document: CreatorDocument): object {
  if (version >= SPELLINGS_VERSION) return document;
  const { cities: _cities, name_spellings: _names, text_spellings: _texts, ...known } = document.x;
  if (version >= MAPPING_VERSION) return { card: document.card, x: known };
  const { has_url: _url, data_as_of: _as, changed_at: _at, content_hash: _hash, source: _source, ...x } = known;
  return { card: document.card, x };
}
