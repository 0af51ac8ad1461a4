import { DAY_MS } from '../../../kit/values/duration.ts';
import { foldAccents } from '../../../kit/values/fold.ts';
import { formatNumber } from '../../../kit/values/format.ts';
import type { DirectoryCreatorDetail } from '../../search/creator.shapes.ts';
import { type Random, seededRandom } from './random.ts';
import { drawPlace } from './sample-places.ts';
import { BIO_ENDINGS, BIO_LINKS, BIO_OPENINGS, FIRST_NAMES, LAST_NAMES, THEMES } from './sample-words.ts';
import type { Source, SourceRecord } from './source.ts';

const themes = THEMES.map(([category, niches, nouns]) => ({
  category,
  niches: niches.split(', '),
  nouns: nouns.split(', '),
}));
type Theme = (typeof themes)[number];

const firstNames = FIRST_NAMES.map(([name, gender]) => ({ name, gender, plain: foldAccents(name) }));
const lastNames = LAST_NAMES.map((name) => ({ name, plain: foldAccents(name).replaceAll(' ', '') }));

const LARGEST_FOLLOWING = 250_000_000;
const FIRST_PK = 1_000_000;
/** A prime, with factors below 2^21: the products stay exact, and no two rows get the same `pk`. */
const PRIME = 4_294_967_291;
const FACTORS = [1_664_525, 1_566_083] as const;

/** Spreads keys, so that they are not in the order of the rows. */
function toPk(row: number, seed: number): number {
  const mixedRow = (row * FACTORS[0] + (seed >>> 0)) % PRIME;
  return FIRST_PK + ((mixedRow * FACTORS[1]) % PRIME);
}

function drawUsername(random: Random, first: string, last: string, theme: Theme): string {
  const number = random.below(10_000);
  switch (random.below(6)) {
    case 0:
      return `${first}.${last}${number}`;
    case 1:
      return `${first}_${last}_${number}`;
    case 2:
      return `${first}${last}${number}`;
    case 3:
      return `the.${first}.${foldAccents(theme.category).replaceAll(' ', '')}${number}`;
    case 4:
      return `${last}${first}${number}`;
    default:
      return `${foldAccents(random.pick(theme.niches)).replaceAll(' ', '')}.by.${first}${number}`;
  }
}

/** 5 to about 25 words. */
function drawBiography(random: Random, theme: Theme): string {
  let text = `${random.pick(BIO_OPENINGS)} ${random.pick(theme.nouns)} ${random.pick(BIO_LINKS)} ${random.pick(theme.niches)}`;
  for (let i = random.below(4); i > 0; i -= 1) {
    text += `, ${random.pick(BIO_LINKS)} ${random.pick(theme.nouns)} ${random.pick(BIO_LINKS)} ${random.pick(theme.niches)}`;
  }
  return `${text}. ${random.pick(BIO_ENDINGS)}`;
}

function drawNiches(random: Random, theme: Theme): string | null {
  if (random.chance(0.08)) return null;
  const niches = new Set([random.pick(theme.niches)]);
  for (let i = random.below(3); i > 0; i -= 1) {
    niches.add(random.pick(random.chance(0.7) ? theme.niches : random.pick(themes).niches));
  }
  return [...niches].join(', ');
}

/**
 * Log-normal: half have fewer than 5,600 followers, one in a hundred more than about 600,000, and the largest are as
 * large as real ones.
 */
function drawFollowers(random: Random): number | null {
  if (random.chance(0.01)) return null;
  return Math.min(Math.floor(Math.exp(8.63 + 2 * random.normal())), LARGEST_FOLLOWING);
}

interface SampleCreator extends DirectoryCreatorDetail {
  data_as_of: string | null;
}

const SAMPLED_AT = Date.parse('2026-11-20T00:00:00Z');

/** Two in five rows carry no time, so that they are as of the import; the others are 60 days old on average. */
function drawDataTime(pk: number): string | null {
  const share = ((pk * 40_503) % 65_537) / 65_537;
  if (share < 0.4) return null;
  const days = -Math.log((share - 0.4) / 0.6 + 1 / 65_537) * 60;
  return new Date(SAMPLED_AT - Math.floor(days) * DAY_MS).toISOString();
}

function drawCreator(random: Random, pk: number): SampleCreator {
  const theme = random.pick(themes);
  const first = random.pick(firstNames);
  const last = random.pick(lastNames);
  const username = drawUsername(random, first.plain, last.plain, theme);
  const followers = drawFollowers(random);
  const place = drawPlace(random);
  return {
    pk,
    username,
    full_name: random.chance(0.05) ? null : `${first.name} ${last.name}`,
    follower_count: followers,
    engagement_rate: random.chance(0.15) ? null : Math.round(Math.exp(0.7 + 0.8 * random.normal()) * 100) / 100,
    category: random.chance(0.06) ? null : theme.category,
    biography: random.chance(0.05) ? null : drawBiography(random, theme),
    extracted_email: random.chance(0.62)
      ? null
      : `${username}@${random.pick(['example.com', 'example.org', 'mail.example'])}`,
    niches: drawNiches(random, theme),
    ...place,
    profile_pic_url: `https://pictures.example/${pk % 997}/${pk}.jpg`,
    is_verified: random.chance((followers ?? 0) > 500_000 ? 0.7 : 0.01),
    external_url: random.chance(0.6) ? null : `https://${first.plain}${last.plain}.example/${pk}`,
    following_count: Math.floor(Math.exp(6 + random.normal())),
    media_count: Math.floor(Math.exp(5 + random.normal())),
    gender: random.chance(0.2) ? null : random.chance(0.03) ? 'non-binary' : first.gender,
    age: random.chance(0.4) ? null : 18 + random.below(45),
    data_as_of: drawDataTime(pk),
  };
}

/** Sample creators. The same seed gives the same ones, and a larger sample starts with the smaller one. */
export function* generateCreators(count: number, seed: number): Generator<SampleCreator> {
  const random = seededRandom(seed);
  for (let row = 0; row < count; row += 1) yield drawCreator(random, toPk(row, seed));
}

const AT_ONCE = 1_000;

/** An import's source without a file. */
export function sampleSource(count: number, seed: number): Source {
  const file = `sample of ${formatNumber(count)} creators`;
  let row = 0;
  return {
    files: [file],
    identity: `sample of ${count} creators (seed ${seed})`,
    progress: () => row / count,
    async *read() {
      row = 0;
      let records: SourceRecord[] = [];
      for (const value of generateCreators(count, seed)) {
        row += 1;
        records.push({ file, line: row, text: '', value });
        if (records.length < AT_ONCE) continue;
        yield records;
        records = [];
      }
      yield records;
    },
  };
}
