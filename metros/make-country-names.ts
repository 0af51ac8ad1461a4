/**
 * Writes country-names.json: the names of countries in other languages, folded, from the Unicode CLDR that Node has.
 *
 *   npm exec -- node metros/make-country-names.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { placeKey } from '../src/directory/search/place-names.ts';

const LANGUAGES =
  'ar be bg bn ca cs da de el es et eu fa fi fil fr gl gu he hi hr hu hy id is it ja ka kk kn ko lt lv mk ml mr ms nb nl pa pl ' +
  'pt ro ru sk sl sq sr sr-Latn sv sw ta te th tr uk ur uz vi zh zh-Hant';
/** Shorter Latin names are words: `My` is the United States in Vietnamese, and `Y` is Italy. */
const SHORTEST_LATIN = 4;
const LATIN = /\p{Script=Latin}/u;
/** Names that are words in English: India in Czech and French, Syria in Latvian, Chile in Estonian. */
const WORDS: ReadonlySet<string> = new Set('indie indi siri pala kili cada ando lati mali swiss'.split(' '));

const own = (name: string) => path.join(import.meta.dirname, name);
const Rows = z.array(
  z.object({
    code: z.string(),
    name: z.string(),
    spellings: z.array(z.string()),
    parts: z.array(z.string()).default([]),
  }),
);
const readRows = (name: string) => Rows.parse(JSON.parse(readFileSync(own(name), 'utf8')));

const countries = readRows('countries.json');
const taken = new Set(
  [...countries, ...readRows('states.json')].flatMap(({ code, name, spellings, parts }) =>
    [code, name, ...spellings, ...parts].map(placeKey),
  ),
);
const owners = new Map<string, Set<string>>();
for (const language of LANGUAGES.split(' ')) {
  const names = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' });
  for (const { code } of countries) {
    const key = placeKey(names.of(code) ?? '');
    const isWord = WORDS.has(key) || (LATIN.test(key) && key.length < SHORTEST_LATIN);
    if (key === '' || isWord || taken.has(key)) continue;
    owners.set(key, (owners.get(key) ?? new Set()).add(code));
  }
}
/** A name that two countries have in different languages means neither. */
const clear = [...owners].flatMap(([key, [code, ...others]]) => (code && others.length === 0 ? [{ key, code }] : []));
const lines = countries.flatMap(({ code }) => {
  const keys = clear.filter((one) => one.code === code).map(({ key }) => key);
  return keys.length === 0 ? [] : [`${JSON.stringify(code)}:${JSON.stringify(keys.sort().join(' '))}`];
});
writeFileSync(own('country-names.json'), `{\n${lines.join(',\n')}\n}\n`);
console.log(`${clear.length} other names.`);
