import { describe, expect, test } from 'vitest';
import { listMetroIds, findStateCode } from '../../src/directory/search/stored-place.ts';

describe('the metros of a stored row', () => {
  test.each<[string, string | null, string | null, string[]]>([
    ['Brooklyn', 'NY', 'US', ['nyc']],
    ['BROOKLYN', 'new york', 'United States', ['nyc']],
    ['Brooklyn, NY', null, null, ['nyc']],
    ['Austin, Texas, USA', null, null, ['austin']],
    ['Brooklyn', 'OH', 'US', ['cleveland']],
    ['Jersey City', 'NJ', null, ['nyc']],
    ['Yonkers', 'NY', 'USA', ['nyc']],
    ['Bronx', 'NY', 'US', ['nyc']],
    ['The Bronx', 'NY', 'US', ['nyc']],
    ['Flushing', 'NY', 'US', ['nyc']],
    ['West Hollywood', 'CA', 'US', ['la']],
    ['San Francisco', 'California', 'US', ['sf', 'bay-area', 'sf-oakland']],
    ['Palo Alto', 'CA', 'US', ['bay-area', 'san-jose']],
    ['NYC', null, null, ['nyc']],
    ['Washington', 'D.C.', 'US', ['dc']],
    ['Washington, D.C.', null, null, ['dc']],
    ['Miami', 'FL', 'US', ['miami']],
    ['Miami', 'OK', 'US', []],
    ['Lansing', 'MI', 'US', []],
    ['Portland', 'ME', 'US', []],
    ['Portland', 'OR', 'US', ['portland']],
    ['São Paulo', 'SP', 'Brasil', ['sao-paulo']],
    ['sao paulo', null, 'BR', ['sao-paulo']],
    ['London', 'England', 'UK', ['london']],
    ['London', 'ON', 'Canada', []],
    ['Toronto', 'Ontario', 'Canada', ['toronto']],
    ['Paris', 'TX', null, []],
  ])('for %s, %s are %s', (city, state, country, metros) => {
    expect(listMetroIds(city, state, country)).toEqual(metros);
  });

  test.each<[string, string | null, string[]]>([
    ['Brooklyn', null, ['nyc']],
    ['Miami', null, ['miami']],
    ['Miami', 'US', ['miami']],
    ['Hoboken', null, ['nyc']],
    ['Los Angeles', null, []],
    ['Miami', 'Mexico', []],
    ['Miami', 'Atlantis', []],
    ['Los Ángeles', 'Chile', []],
    ['Portland', 'US', []],
    ['Hollywood', 'US', []],
    ['Newark', null, []],
  ])('without a state, for %s (%s), count only if no other known city has that name', (city, country, metros) => {
    expect(listMetroIds(city, null, country)).toEqual(metros);
    expect(listMetroIds(city, ' ', country)).toEqual(metros);
  });
});

describe('the state of a stored row', () => {
  test('is one of the US only if the country is the US or absent', () => {
    expect(findStateCode('Calif.', 'U.S.A.')).toBe('CA');
    expect(findStateCode('ca', ' ')).toBe('CA');
    expect(findStateCode('CA', 'Spain')).toBeNull();
    expect(findStateCode('CA', 'Atlantis')).toBeNull();
    expect(findStateCode('Ontario', null)).toBeNull();
    expect(findStateCode(null, 'US')).toBeNull();
  });
});
