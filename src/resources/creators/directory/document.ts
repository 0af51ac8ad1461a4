import { countryCodeOf, metrosOf, stateCodeOf } from './places.ts';
import type { DirectoryCreatorDetail } from './schema.ts';

/** What Elasticsearch stores of a creator: `card` is answered as it is, `x` is what filters and the detail need. */
export function documentOf(row: DirectoryCreatorDetail) {
  const { following_count, media_count, gender, age, ...card } = row;
  const niches = (row.niches ?? '')
    .split(',')
    .map((niche) => niche.trim())
    .filter(Boolean);
  const x = {
    following_count,
    media_count,
    gender,
    age,
    niches,
    has_email: row.extracted_email !== null && row.extracted_email !== '',
    state_code: stateCodeOf(row.state, row.country),
    country_code: countryCodeOf(row.country),
    metros: metrosOf(row.city, row.state, row.country),
  };
  return { card, x };
}
