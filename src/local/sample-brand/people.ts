import { seededRandom } from '../../directory/imports/indexing/random.ts';
import { generateCreators } from '../../directory/imports/indexing/sample.ts';
import { foldAccents } from '../../kit/values/fold.ts';

/** A creator of the sample directory, as the brand knows them. */
export interface Person {
  /** In the sample directory. */
  pk: number;
  name: string;
  firstName: string;
  /** Their discount code and link begin with it, such as `sofial`. */
  nickname: string;
  email: string;
  handle: string;
  /** Also the handle on TikTok, for half of them. */
  tiktok: string | null;
  followers: number;
  engagementRate: number;
  picture: string;
  tags: string[];
}

const BACKGROUNDS = ['#f4c7ab', '#cfe3d4', '#cddafd', '#f6d6e8', '#fde2a8', '#d8d4f2'] as const;
const SKINS = ['#f2c9a7', '#d9a066', '#a86b3c', '#7b4a2d', '#ecb98f'] as const;
const HAIRS = ['#2b1d16', '#5b3a21', '#8a5a2b', '#c99a4b', '#1f2430', '#7c2f2b'] as const;
const SHIRTS = ['#33658a', '#9a3b5b', '#2f7d5d', '#6b4e9b', '#b8552e', '#39424e'] as const;

/** A small drawn portrait, as an address that needs no network. */
function drawPortrait(seed: number): string {
  const random = seededRandom(seed);
  const hair = random.pick(HAIRS);
  const long = random.chance(0.5) ? `<path d="M11 20q0-13 9-13t9 13v13H11z" fill="${hair}"/>` : '';
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" fill="${random.pick(BACKGROUNDS)}"/>${long}<ellipse cx="20" cy="41" rx="14" ry="12" fill="${random.pick(SHIRTS)}"/><circle cx="20" cy="19" r="8" fill="${random.pick(SKINS)}"/><path d="M12 18q0-10 8-10t8 10q-4-5-8-5t-8 5z" fill="${hair}"/></svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}

const TAGS = ['skin care', 'vip', 'ugc', 'summer', 'micro', 'paris', 'reels'] as const;
const SEED = 29;
const CONSIDERED = 8_000;
/** The brand sells skin care. */
const CATEGORY = 'Beauty';

/** The first creators for skin care of the sample directory that have what a roster shows. No two share a code. */
export function drawPeople(count: number): Person[] {
  const random = seededRandom(SEED);
  const names = new Set<string>();
  const people: Person[] = [];
  for (const creator of generateCreators(CONSIDERED, 1)) {
    const { pk, full_name: name, username, follower_count: followers, engagement_rate: rate, category } = creator;
    if (category !== CATEGORY) continue;
    if (name === null || followers === null || followers < 2_500 || followers > 900_000 || rate === null) continue;
    const [firstName = name, lastName = ''] = name.split(' ');
    const nickname = `${foldAccents(firstName)}${foldAccents(lastName).slice(0, 1)}`;
    if (names.has(nickname)) continue;
    names.add(nickname);
    const mailbox = foldAccents(name).replaceAll(/[^a-z0-9]+/g, '.');
    people.push({
      pk,
      name,
      firstName,
      nickname,
      handle: username,
      email: `${mailbox}@creators.example`,
      followers,
      engagementRate: rate,
      tiktok: random.chance(0.5) ? `${foldAccents(name).replaceAll(/[^a-z0-9]+/g, '')}.tok` : null,
      picture: drawPortrait(people.length + 1),
      tags: random.chance(0.6) ? [random.pick(TAGS)] : [],
    });
    if (people.length === count) return people;
  }
  throw new Error(`The sample directory has only ${people.length} creators for a roster.`);
}
