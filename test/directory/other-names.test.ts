import { describe, expect, test } from 'vitest';
import cities from '../../metros/cities.json' with { type: 'json' };
import names from '../../metros/names.json' with { type: 'json' };
import { placeKey } from '../../src/directory/search/place-names.ts';
import { findSeveralPlaces, type PlaceReading, readCity, readCountry } from '../../src/directory/search/places.ts';
import { findCountryCode, listCityIds, listMetroIds } from '../../src/directory/search/stored-place.ts';

function listCities(reading: PlaceReading): string[] {
  const found = reading.kind === 'city' || reading.kind === 'city_contains' ? (reading.cities ?? []) : [];
  return found.map(({ name, state, country }) => `${name}, ${state ?? country}`);
}

function listOthers(reading: PlaceReading): string[] {
  const found = reading.kind === 'city' || reading.kind === 'city_contains' ? (reading.others ?? []) : [];
  return found.map(({ name, state, country }) => `${name}, ${state ?? country}`);
}

describe('a city value', () => {
  test.each([
    ['Cologne', 'Köln, DE'],
    ['München', 'Munich, DE'],
    ['Wien', 'Vienna, AT'],
    ['Praha', 'Prague, CZ'],
    ['Bombay', 'Mumbai, IN'],
    ['Москва', 'Moscow, RU'],
    ['دبي', 'Dubai, AE'],
    ['上海', 'Shanghai, CN'],
    ['東京', 'Tokyo, JP'],
    ['القاهرة', 'Cairo, EG'],
    ['Breslau', 'Wrocław, PL'],
    ['Peking', 'Beijing, CN'],
    ['Calcutta', 'Kolkata, IN'],
    ['Kiev', 'Kyiv, UA'],
    ['Saigon', 'Ho Chi Minh City, VN'],
    ['Basle', 'Basel, CH'],
    ['Cracow', 'Kraków, PL'],
    ['Hong Kong, China', 'Hong Kong, HK'],
    ['香港, 中国', 'Hong Kong, HK'],
    ['San Juan, Puerto Rico, USA', 'San Juan, PR'],
    ['Lyons', 'Lyon, FR'],
    ['Vegas', 'Las Vegas, NV'],
    ['Vegas, NV', 'Las Vegas, NV'],
    ['Philly, PA', 'Philadelphia, PA'],
    ['San Fran, CA', 'San Francisco, CA'],
    ['Cologne, DE', 'Köln, DE'],
    ['Cologne, Germany', 'Köln, DE'],
    ['San Francisco CA', 'San Francisco, CA'],
    ['Austin TX', 'Austin, TX'],
    ['Miami Florida', 'Miami, FL'],
    ['Paris France', 'Paris, FR'],
    ['Koeln', 'Köln, DE'],
    ['Muenchen', 'Munich, DE'],
    ['Zuerich, Schweiz', 'Zürich, CH'],
    ['Malmoe', 'Malmö, SE'],
    ['Koebenhavn', 'Copenhagen, DK'],
    ['Toronto, ON', 'Toronto, CA'],
    ['Toronto, Ontario, Canada', 'Toronto, CA'],
    ['Vancouver BC', 'Vancouver, CA'],
    ['Vancouver, WA', 'Vancouver, WA'],
    ['Perth, WA', 'Perth, AU'],
    ['Sydney NSW', 'Sydney, AU'],
    ['München, Bayern', 'Munich, DE'],
    ['Mumbai, Maharashtra', 'Mumbai, IN'],
    ['São Paulo - SP', 'São Paulo, BR'],
    ['Rio de Janeiro/RJ', 'Rio de Janeiro, BR'],
    ['Salvador, BA', 'Salvador, BR'],
    ['Bogotá, D.C.', 'Bogotá, CO'],
    ['Lahore, Punjab', 'Lahore, PK'],
    ['Amritsar, Punjab', 'Amritsar, IN'],
    ['Londres, Angleterre', 'London, GB'],
    ['Paris, Франция', 'Paris, FR'],
    ['北京，中国', 'Beijing, CN'],
    ['罗马', 'Rome, IT'],
    ['Kinshasa Democratic Republic of the Congo', 'Kinshasa, CD'],
    ['Austin TX USA', 'Austin, TX'],
    ['Austin, TX USA', 'Austin, TX'],
    ['Miami, FL 33101', 'Miami, FL'],
    ['10115 Berlin', 'Berlin, DE'],
    ['Frankfurt/Main', 'Frankfurt am Main, DE'],
    ['Venezia', 'Venice, IT'],
    ['𝗕𝗲𝗿𝗹𝗶𝗻', 'Berlin, DE'],
    ['ATL', 'Atlanta, GA'],
    ['SLC', 'Salt Lake City, UT'],
    ['Portland, Ore.', 'Portland, OR'],
    ['Brooklyn, NYC', 'Brooklyn, NY'],
    ['San Jose, San Francisco Bay Area', 'San Jose, CA'],
    ['london uk', 'London, GB'],
    ['Berlin 🇩🇪', 'Berlin, DE'],
  ])('%s means the city %s', (value, city) => {
    expect(listCities(readCity(value))).toEqual([city]);
  });

  test('means the cities with that main name, and offers those that are called so elsewhere', () => {
    expect(listCities(readCity('Odessa'))).toEqual(['Odessa, TX']);
    expect(listOthers(readCity('Odessa'))).toEqual(['Odesa, UA']);
    expect(listCities(readCity('Odesa, UA'))).toEqual(['Odesa, UA']);
    expect(listCities(readCity('Moscow'))).toEqual(['Moscow, RU', 'Moscow, ID']);
  });

  test('before a province that is a city, too, is read there, and offers that city', () => {
    expect([listCities(readCity('Barcelona, Valencia')), listOthers(readCity('Barcelona, Valencia'))]).toEqual([
      ['Barcelona, ES'],
      ['Valencia, ES'],
    ]);
    expect(listOthers(readCity('Berlin, Germany'))).toEqual([]);
    expect(listOthers(readCity('München, Bayern'))).toEqual([]);
  });

  test.each([
    ['New York area', 'nyc'],
    ['New York metro', 'nyc'],
    ['greater New York', 'nyc'],
    ['SF area', 'bay-area'],
    ['San Francisco area', 'bay-area'],
    ['Dallas area', 'dfw'],
    ['Greater Dallas', 'dfw'],
    ['Fort Worth area', 'dfw'],
    ['St. Paul metro area', 'minneapolis'],
    ['Munich area', 'munich'],
    ['greater Rio', 'rio'],
    ['Großraum München', 'munich'],
    ['Gran Bogotá', 'bogota'],
    ['Greater Boston Region', 'boston'],
  ])('%s is the metro %s', (value, id) => {
    const reading = readCity(value);
    expect(reading.kind === 'metro' ? reading.metro.id : reading).toBe(id);
  });

  test.each([
    ['Boise area', 'Boise'],
    ['Köln area', 'Köln'],
    ['Near Bostn', 'Boston'],
    ['Chicago suburbs', 'Chicago'],
    ['Downtown Austin', 'Austin'],
    ['Boston, MA area', 'Boston'],
    ['Brooklyn NYC', 'Brooklyn'],
    ['Berlin-Mitte', 'Berlin'],
    ['City of London', 'London'],
    ['Europe', undefined],
    ['Germany', undefined],
  ])('%s has the suggestion %s', (value, suggestion) => {
    const reading = readCity(value);
    expect([reading.kind, 'suggestion' in reading ? reading.suggestion : undefined]).toEqual([
      'city_contains',
      suggestion,
    ]);
  });

  test.each(['Paris is', 'Boise area', 'Berlin in', 'Santa CA'])('%s stays a text', (value) => {
    expect(readCity(value)).toMatchObject({ kind: 'city_contains', text: value.toLowerCase() });
  });
});

describe('a country value', () => {
  test.each([
    ['Германия', 'DE'],
    ['Alemania', 'DE'],
    ['Niemcy', 'DE'],
    ['ドイツ', 'DE'],
    ['Yhdysvallat', 'US'],
    ['ΕΛΛΆΔΑ', 'GR'],
    ['인도', 'IN'],
    ['🇩🇪', 'DE'],
  ])('%s is the country %s, in a stored row, too', (value, code) => {
    const reading = readCountry(value);
    expect(reading.kind === 'country' ? reading.country.code : reading).toBe(code);
    expect(findCountryCode(value)).toBe(code);
  });

  test.each(['Indie', 'Siri'])('%s is a word', (value) => {
    expect(readCountry(value)).toMatchObject({ kind: 'country_contains' });
  });
});

describe('two places in one value', () => {
  test.each([
    ['NYC|LA', ['NYC', 'LA']],
    ['NYC, LA', ['NYC', 'LA']],
    ['Paris, London', ['Paris', 'London']],
    ['Chicago, Houston', ['Chicago', 'Houston']],
    ['NYC, LA, Chicago', ['NYC', 'LA', 'Chicago']],
    ['NYC/LA', ['NYC', 'LA']],
    ['London and Paris', ['London', 'Paris']],
    ['Madrid y Barcelona', ['Madrid', 'Barcelona']],
    ['Austin, TX; Dallas, TX', ['Austin, TX', 'Dallas, TX']],
    ['Austin, TX and Boise, ID', ['Austin, TX', 'Boise, ID']],
    ['Austin TX, Dallas TX', ['Austin TX', 'Dallas TX']],
    ['東京、大阪', ['東京', '大阪']],
    ['Austin\nDallas', ['Austin', 'Dallas']],
    ['Berlin, Hamburg, Köln', ['Berlin', 'Hamburg', 'Köln']],
    ['Berlin, Hamburg', ['Berlin', 'Hamburg']],
    ['["NYC","LA"]', ['NYC', 'LA']],
  ])('are found in %s', (value, places) => {
    expect(findSeveralPlaces(value)).toEqual(places);
  });

  test.each([
    ...['New York, NY', 'LA, CA', 'Paris, Texas', 'Munich, Germany', 'Brooklyn, New York', 'Rosario, Santa Fe'],
    ...['Washington, DC', 'Hollywood, Los Angeles', 'Delhi, Delhi', 'Mexico City, Mexico', 'Tbilisi, Georgia', 'Paris'],
    ...['Bekasi, Jakarta', 'Vancouver, BC', 'Singapore, Singapore', 'London, England, UK', '|', 'Paris|', 'a,b,c,d'],
    ...['Brooklyn, New York City', 'Dallas, Dallas-Fort Worth', 'Hollywood, LA'],
    ...['Madrid, Comunidad de Madrid', 'Bangkok, Krung Thep', 'Santiago, Región Metropolitana de Santiago'],
    ...['Dallas/Fort Worth', 'Trinidad and Tobago', 'Quezon City, Manila', 'Guadalajara, Jalisco, Mexico'],
  ])('are not in %s', (value) => {
    expect(findSeveralPlaces(value)).toBeUndefined();
  });
});

describe('a stored row', () => {
  test.each<[string, string | null, string | null, string[]]>([
    ['München', 'Bayern', 'Germany', ['munich']],
    ['Milano', 'MI', 'IT', ['milan']],
    ['Bombay', null, 'India', ['mumbai']],
    ['دبي', null, 'United Arab Emirates', ['dubai']],
    ['Vegas', 'NV', 'US', ['las-vegas']],
    ['Munich', 'ND', 'US', []],
    ['München', null, 'Austria', []],
  ])('in %s, %s, %s lies in the metros %j', (city, state, country, metros) => {
    expect(listMetroIds(city, state, country)).toEqual(metros);
  });

  test('may lie in the cities whose state and country it does not contradict', () => {
    const [texas, ukraine] = [listCityIds('Odessa', 'TX', 'US'), listCityIds('Одесса', null, 'Ukraine')];
    expect([texas, ukraine]).toEqual([[expect.any(Number)], [expect.any(Number)]]);
    expect(listCityIds('Odessa', null, null)).toEqual([...texas, ...ukraine]);
    expect(listCityIds('Odessa', null, 'France')).toEqual([]);
    expect(listCityIds('New York, NY', null, null)).toEqual(listCityIds('New York', 'NY', 'US'));
    expect(listCityIds('Bogotá, D.C.', null, 'Colombia')).toEqual(listCityIds('Bogota', null, 'CO'));
    expect(listCityIds('San Juan', 'PR', 'USA')).toEqual(listCityIds('San Juan', null, 'Puerto Rico'));
    expect(listCityIds('Hong Kong', null, 'China')).toEqual(listCityIds('香港', null, 'Hong Kong'));
    expect(listCityIds('Toronto, ON', null, null)).toEqual(listCityIds('Toronto', 'Ontario', 'Canada'));
  });

  test('in a city of 500,000 people under any of its names is found by its main name and by each other', () => {
    let [found, wrong] = [0, 0];
    for (const [area, rows] of Object.entries(cities)) {
      const [country = '', state = null] = area.split('-');
      const others = Object.entries(names).find(([name]) => name === area)?.[1] ?? [];
      for (const [i, [name, population]] of rows.entries()) {
        if (Number(population) < 500_000) continue;
        const [id, ...keys] = others[i]?.split(' ') ?? [];
        const written = [placeKey(String(name)), keys[0], keys.at(-1)].filter((key) => key !== undefined);
        for (const stored of written) {
          const ids = listCityIds(stored, state, country);
          for (const asked of [String(name), ...written]) {
            const reading = readCity(`${asked}, ${state ?? country}`);
            const isMetro = reading.kind === 'metro';
            const isFound = isMetro || ('cities' in reading && reading.cities?.some((one) => String(one.id) === id));
            if (isFound && (isMetro || ids.includes(Number(id)))) found += 1;
            else wrong += 1;
          }
        }
      }
    }
    expect(found).toBeGreaterThan(8_000);
    expect(found / (found + wrong)).toBeGreaterThan(0.995);
  });
});
