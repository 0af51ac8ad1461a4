import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import cities from '../../metros/cities.json' with { type: 'json' };
import {
  listCountries,
  listMetros,
  listStates,
  type PlaceReading,
  readCity,
  readCountry,
  readLocation,
  readState,
} from '../../src/directory/search/places.ts';
import { findCountryCode, findStateCode, listMetroIds } from '../../src/directory/search/stored-place.ts';
import { foldAccents } from '../../src/kit/values/fold.ts';

/** A reading in one line: `metro la in CA`, `contains angel`. */
function say(reading: PlaceReading | undefined): string {
  if (reading === undefined) return 'text';
  if (reading.kind === 'state') return `state ${reading.state.code}`;
  const area = reading.state?.code ?? reading.country?.code;
  const where = area ? ` in ${area}` : '';
  if (reading.kind === 'metro') return `metro ${reading.metro.id}${where}`;
  return (reading.kind === 'city' ? `city ${reading.name}` : `contains ${reading.text}`) + where;
}

const aliases = listMetros().flatMap((metro) =>
  [metro.name, ...metro.aliases].map((alias) => ({ alias, id: metro.id })),
);
const lettersOf = (text: string) => foldAccents(text).replace(/[^\p{L}\p{N}]/gu, '');

describe('metros', () => {
  test.each(aliases)('include $id under the alias $alias, in any case and punctuation', ({ alias, id }) => {
    const spellings = [
      alias,
      alias.toLowerCase(),
      alias.toUpperCase(),
      foldAccents(alias),
      `  ${alias.replaceAll(' ', '  ')}. `,
    ];
    for (const spelling of [...spellings, alias.replaceAll(' ', '-'), lettersOf(alias)]) {
      expect(say(readCity(spelling)), spelling).toBe(`metro ${id}`);
      expect(say(readLocation(spelling)), spelling).toBe(`metro ${id}`);
    }
  });

  test('have no alias in common', () => {
    const owners = new Map<string, string>();
    for (const { alias, id } of aliases) {
      expect(owners.get(lettersOf(alias)) ?? id, alias).toBe(id);
      owners.set(lettersOf(alias), id);
    }
  });

  test('have no plain city name as an alias, except Miami', () => {
    const names = Object.values(cities).flatMap((rows) => rows.map(([name]) => lettersOf(String(name))));
    const plain = new Set(names);
    expect(aliases.map(({ alias }) => alias).filter((alias) => plain.has(lettersOf(alias)))).toEqual(['Miami']);
  });

  test('have only members in a known state and country, and in the metro itself', () => {
    const states = new Set(listStates().map((state) => state.code));
    const countries = new Set(listCountries().map((country) => country.code));
    for (const metro of listMetros()) {
      for (const { city, state, country } of metro.members) {
        expect(countries.has(country), country).toBe(true);
        expect(country === 'US' ? state !== null && states.has(state) : state === null, `${city} ${state}`).toBe(true);
        expect(listMetroIds(city, state, country), `${city}, ${state ?? country}`).toContain(metro.id);
      }
    }
  });

  test('include the shorthand of the directory and some ninety more', () => {
    const ids = listMetros().map((metro) => metro.id);
    expect(ids).toEqual(expect.arrayContaining(['nyc', 'la', 'sf', 'bay-area', 'dc', 'miami', 'dfw']));
    expect(new Set(ids).size).toBe(ids.length);
    expect(listMetros().filter((metro) => metro.country === 'US').length).toBeGreaterThanOrEqual(50);
    expect(listMetros().filter((metro) => metro.country !== 'US').length).toBeGreaterThanOrEqual(25);
  });
});

describe('a city value', () => {
  test.each([
    ['NYC', 'metro nyc'],
    ['N.Y.C.', 'metro nyc'],
    ['bay area', 'metro bay-area'],
    ['SF Bay', 'metro bay-area'],
    ['SF', 'metro sf'],
    ['DFW', 'metro dfw'],
    ['Miami', 'metro miami'],
    ['Washington DC', 'metro dc'],
    ['Washington, D.C.', 'metro dc'],
    ['Washington, DC, USA', 'metro dc'],
    ['New York City', 'metro nyc'],
    ['Dallas-Fort Worth', 'metro dfw'],
    ['SF Bay Area', 'metro bay-area'],
    ['New York area', 'metro nyc'],
    ['SF area', 'metro bay-area'],
    ['greater San Francisco', 'metro bay-area'],
    ['SF metro', 'metro sf-oakland'],
    ['San Francisco metro', 'metro sf-oakland'],
    ['Dallas area', 'metro dfw'],
    ['Philly area', 'metro philadelphia'],
    ['greater Vegas', 'metro las-vegas'],
    ['München metro', 'metro munich'],
    ['Greater Toronto', 'metro toronto'],
    ['LA', 'metro la'],
    ['LA, CA', 'metro la in CA'],
    ['NYC, nj', 'metro nyc in NJ'],
    ['DFW, Texas', 'metro dfw in TX'],
    ['Miami, FL', 'city Miami in FL'],
    ['Miami, Oklahoma', 'city Miami in OK'],
    ['Paris, France', 'city Paris in FR'],
    ['Paris, TX', 'city Paris in TX'],
    ['Portland, OR', 'city Portland in OR'],
    ['portland, maine', 'city Portland in ME'],
    ['York, PA', 'city York in PA'],
    ['Saint Louis, MO', 'city St. Louis in MO'],
    ['Austin, TX, USA', 'city Austin in TX'],
    ['Austin, TX 78701, USA', 'city Austin in TX'],
    ['London, Ontario, Canada', 'city London in CA'],
    ['London, England', 'city London in GB'],
    ['Berlin, DE', 'city Berlin in DE'],
    ['Tbilisi, Georgia', 'city Tbilisi in GE'],
    ['Atlanta, Georgia', 'city Atlanta in GA'],
    ['Nowheretown, TX', 'contains nowheretown in TX'],
    ['Toronto, Nowhere', 'contains toronto, nowhere'],
    ['Los Angeles', 'contains los angeles'],
    ['angel', 'contains angel'],
    ['Lansing', 'contains lansing'],
    ['São Paulo', 'contains sao paulo'],
    ['st louis', 'contains st. louis'],
    ['The Bronx', 'contains bronx'],
    ['', 'contains '],
    [', CA', 'contains , ca'],
  ])('%s is read as %s', (value, reading) => {
    expect(say(readCity(value))).toBe(reading);
  });

  test('gets the nearest known name if it is unknown, and none if it is part of a known name', () => {
    expect(readCity('San Francsico')).toMatchObject({ suggestion: 'San Francisco' });
    expect(readCity('Brooklin, NY')).toMatchObject({ suggestion: 'Brooklyn' });
    expect(readCity('angel')).not.toHaveProperty('suggestion');
    expect(readCity('zzzzzzzz')).not.toHaveProperty('suggestion');
    expect(readCity('Brooklyn')).not.toHaveProperty('suggestion');
  });
});

describe('a whole q', () => {
  test.each([
    ['NYC', 'metro nyc'],
    ['bay area', 'metro bay-area'],
    ['LA', 'metro la'],
    ['DC', 'metro dc'],
    ['SF', 'metro sf'],
    ['Brooklyn, NY', 'city Brooklyn in NY'],
    ['Astoria, NY', 'city Astoria in NY'],
    ['Nice, France', 'city Nice in FR'],
    ['Mobile, AL', 'city Mobile in AL'],
    ['Texas', 'state TX'],
    ['new york', 'state NY'],
    ['Washington', 'state WA'],
    ['TX', 'state TX'],
    ['Texas, USA', 'state TX'],
    ['California USA', 'state CA'],
    ['NY State', 'state NY'],
    ['Washington State', 'state WA'],
    ['New York, USA', 'city New York in US'],
    ['New York USA', 'city New York in US'],
    ['Ohio State', 'text'],
    ['USA', 'text'],
    ['Brooklyn', 'contains brooklyn'],
    ['los angeles', 'contains los angeles'],
    ['bogotá', 'contains bogota'],
    ['tx', 'text'],
    ['in', 'text'],
    ['or', 'text'],
    ['me', 'text'],
    ['Paris Hilton', 'text'],
    ['LA fitness', 'text'],
    ['NYC foodie', 'text'],
    ['makeup, hair', 'text'],
    ['vegan, CA', 'text'],
    ['Paris, vegan', 'text'],
    ['Nice', 'text'],
    ['the nice', 'text'],
    ['reading', 'text'],
    ['mobile', 'text'],
    ['Orange', 'text'],
    ['mascara', 'text'],
    ['', 'text'],
  ])('%s is read as %s', (q, reading) => {
    expect(say(readLocation(q))).toBe(reading);
  });
});

describe('a state and a country', () => {
  test('are known by code and name in any case for every state, LA being Louisiana and DC the district', () => {
    for (const state of listStates()) {
      for (const value of [state.code, state.code.toLowerCase(), state.name, state.name.toUpperCase()]) {
        expect(readState(value)).toEqual({ kind: 'state', state, text: foldAccents(value) });
        expect(findStateCode(value, null)).toBe(state.code);
      }
    }
    expect(readState('LA')).toMatchObject({ state: { name: 'Louisiana' } });
    expect(readState('D.C.')).toMatchObject({ state: { name: 'District of Columbia' } });
    expect(readState('Califronia')).toEqual({ kind: 'state_text', text: 'califronia', suggestion: 'California' });
  });

  test.each([
    ['ZA', ['ЮАР', 'South Africa']],
    ['US', ['США', 'the States', 'USA', 'U.S.', 'united states', 'United States of America', 'Estados Unidos']],
    ['GB', ['UK', 'gb', 'Great Britain', 'United Kingdom']],
    ['BR', ['Brasil', 'Brazil', 'BRA']],
    ['DE', ['Deutschland', 'Germany', 'Alemania']],
    ['ES', ['España', 'espana', 'Spain']],
    ['MX', ['México', 'MEXICO']],
    ['TR', ['Türkiye', 'Turkiye', 'Turkey']],
    ['KR', ['South Korea', '대한민국']],
    ['NE', ['Niger', 'NE']],
    ['NG', ['Nigeria', 'NGA']],
    ['RU', ['Russia', 'Russian Federation']],
    ['AU', ['Australia', 'AUS']],
  ])('have all spellings of %s', (code, spellings) => {
    for (const spelling of spellings) {
      expect(readCountry(spelling), spelling).toMatchObject({ kind: 'country', country: { code } });
      expect(findCountryCode(spelling), spelling).toBe(code);
    }
  });

  test('are known by code and name for every country', () => {
    for (const { code, name } of listCountries()) {
      expect(findCountryCode(code)).toBe(code);
      expect(findCountryCode(name.toUpperCase()), name).toBe(code);
    }
  });

  test('match other text as part of a name', () => {
    expect(readCountry('switz')).toEqual({ kind: 'country_contains', text: 'switz' });
    expect(readCountry('Switzerlnd')).toMatchObject({ suggestion: 'Switzerland' });
    expect(readCountry('England')).toMatchObject({ kind: 'country_contains' });
    expect(findCountryCode('England')).toBe('GB');
    expect(findCountryCode('switz')).toBeNull();
  });
});

describe('any text', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc
      .array(fc.constantFrom('LA', ',', ' ', 'CA', 'saint ', '\u202e', '\u0000', '😀', 'İ', 'ß', '\u0301', 'Σ'))
      .map((parts) => parts.join('')),
  );

  test('is interpreted, never an error', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(readCity(text).kind).not.toBe('state');
        readLocation(text);
        readState(text);
        readCountry(text);
        listMetroIds(text, text, text);
        listMetroIds(text, null, null);
      }),
    );
  });

  test('folds to a text that folding leaves unchanged', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(foldAccents(foldAccents(text))).toBe(foldAccents(text));
      }),
      { numRuns: 2_000 },
    );
    expect(foldAccents('  São   PAULO ')).toBe('sao paulo');
    expect(foldAccents('Łódź Straße Ærø İzmir')).toBe('lodz strasse aero izmir');
    expect(foldAccents('Москва 東京')).toBe('москва 東京');
  });

  test('is plain text if it has ten thousand characters', () => {
    for (const unit of ['😀', ',', 'a', 'saint ', '\u05d0', '* ? \\']) {
      const text = unit.repeat(10_000 / unit.length);
      expect(readCity(text).kind).toBe('city_contains');
      expect(readLocation(text)).toBeUndefined();
      expect(listMetroIds(text, text, text)).toEqual([]);
    }
  });
});

describe('words before a place', () => {
  test.each([
    ['near Berlin', 'Berlin'],
    ['near NYC', 'NYC'],
    ['around LA', 'LA'],
    ['close to Miami, FL', 'Miami, FL'],
    ['in Paris', 'Paris'],
    ['near Austin TX', 'Austin TX'],
    ['somewhere near London', 'London'],
    ['Cerca de Madrid', 'Madrid'],
  ])('that say near or in fall away: %s', (said, place) => {
    expect(readCity(said)).toEqual(readCity(place));
  });

  test.each(['In Salah', 'At Tur', 'Near', 'in', 'Nearby', 'Inverness'])('stay where they are the name: %s', (name) => {
    expect(say(readCity(name))).toBe(`contains ${name.toLowerCase()}`);
  });
});
