import { useAll } from '../call/use.ts';
import { countryName } from '../kit/format.ts';

/** The names of places, by their codes in the directory's facets. */
export function usePlaceNames(): {
  metro: (id: string) => string;
  state: (code: string) => string;
  country: (code: string) => string;
} {
  const metros = useAll('list_directory_metros', {});
  const states = useAll('list_directory_states', {});
  return {
    metro: (id) => metros.data?.find((one) => one.id === id)?.name ?? id,
    state: (code) => states.data?.find((one) => one.code === code)?.name ?? code,
    country: countryName,
  };
}
