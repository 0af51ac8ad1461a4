import { expect, test } from 'vitest';
import { metros } from '../../src/directory/search/place-atlas.ts';
import { placeKey } from '../../src/directory/search/place-names.ts';
import { listMetroIds } from '../../src/directory/search/stored-place.ts';

/** The incorporated cities and towns of the nine counties, as the Association of Bay Area Governments counts them. */
const COUNTIES: Readonly<Record<string, string>> = {
  Alameda:
    'Alameda, Albany, Berkeley, Dublin, Emeryville, Fremont, Hayward, Livermore, Newark, Oakland, Piedmont, Pleasanton, San Leandro, Union City',
  'Contra Costa':
    'Antioch, Brentwood, Clayton, Concord, Danville, El Cerrito, Hercules, Lafayette, Martinez, Moraga, Oakley, Orinda, Pinole, Pittsburg, Pleasant Hill, Richmond, San Pablo, San Ramon, Walnut Creek',
  Marin:
    'Belvedere, Corte Madera, Fairfax, Larkspur, Mill Valley, Novato, Ross, San Anselmo, San Rafael, Sausalito, Tiburon',
  Napa: 'American Canyon, Calistoga, Napa, St. Helena, Yountville',
  'San Francisco': 'San Francisco',
  'San Mateo':
    'Atherton, Belmont, Brisbane, Burlingame, Colma, Daly City, East Palo Alto, Foster City, Half Moon Bay, Hillsborough, Menlo Park, Millbrae, Pacifica, Portola Valley, Redwood City, San Bruno, San Carlos, San Mateo, South San Francisco, Woodside',
  'Santa Clara':
    'Campbell, Cupertino, Gilroy, Los Altos, Los Altos Hills, Los Gatos, Milpitas, Monte Sereno, Morgan Hill, Mountain View, Palo Alto, San Jose, Santa Clara, Saratoga, Sunnyvale',
  Solano: 'Benicia, Dixon, Fairfield, Rio Vista, Suisun City, Vacaville, Vallejo',
  Sonoma: 'Cloverdale, Cotati, Healdsburg, Petaluma, Rohnert Park, Santa Rosa, Sebastopol, Sonoma, Windsor',
};

test('the Bay Area has all 101 cities and towns of its nine counties by name', () => {
  const cities = Object.values(COUNTIES).flatMap((names) => names.split(', '));
  expect(cities).toHaveLength(101);
  expect(cities.filter((city) => !listMetroIds(city, 'CA', 'US').includes('bay-area'))).toEqual([]);
  expect(listMetroIds('Suisun City', 'CA', 'US')).toEqual(['bay-area']);
});

test('A name of one state lies in one metro, or in those that the Bay Area shares', () => {
  const OF_THE_BAY = 'bay-area, sf, sf-oakland, san-jose'.split(', ');
  const homes = new Map<string, Set<string>>();
  for (const { id, members } of metros) {
    for (const { city, state, country } of members) {
      const place = `${placeKey(city)}, ${state}, ${country}`;
      homes.set(place, (homes.get(place) ?? new Set()).add(OF_THE_BAY.includes(id) ? 'bay' : id));
    }
  }
  expect([...homes].filter(([, ids]) => ids.size > 1).map(([place]) => place)).toEqual([]);
  expect(listMetroIds('Burbank', 'CA', 'US')).toEqual(['la']);
  expect(listMetroIds('Mountain View', 'CA', 'US')).toEqual(['bay-area', 'san-jose']);
});
