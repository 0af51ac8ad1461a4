import { type Random, seededRandom } from '../../src/directory/imports/indexing/random.ts';
import { generateCreators } from '../../src/directory/imports/indexing/sample.ts';
import { call, keysInTurn, makeBrand, startApp, unique } from '../harness/app.ts';
import { putDirectory } from '../harness/directory/directory.ts';
import { type OracleQuery, type OracleRow, oracleSearch, oracleStats } from '../harness/directory/directory-oracle.ts';

const KEYS = 60;
const LIMIT = 40;

type Draw = (random: Random) => string;

const pick = (text: string): Draw => {
  const values = text.split(',');
  return (random) => random.pick(values);
};
const several =
  (one: Draw): Draw =>
  (random) =>
    Array.from({ length: 1 + random.below(4) }, () => one(random)).join('|');

const category = pick('Food,baking,GAMING,Fitness,Beauty,Music,nothing');
const niche = pick('vegan,running,jazz,Yoga,cooking,gravel,wine,hip hop');
const country = pick('US,Canada,brasil,DE,united kingdom,India,land,Mexico');
const state = pick('CA,texas,New York,FL,ontario,nj');
const city = pick('NYC,LA,bay area,London,san,Paris,chicago,SF,Houston');
const gender = pick('female,MALE,non-binary');
const number =
  (most: number): Draw =>
  (random) =>
    String(Math.floor(most * random.next() ** 3));
const truth = pick('true,false');

const DRAWS: Readonly<Record<string, Draw>> = {
  category,
  niche,
  country,
  state,
  city,
  gender,
  has_email: truth,
  has_url: truth,
  is_verified: truth,
  follower_min: number(100_000),
  engagement_max: (random) => String(3 + random.below(600) / 100),
  engagement_min: (random) => String(random.below(300) / 100),
  age_min: (random) => String(18 + random.below(12)),
  age_max: (random) => String(30 + random.below(40)),
  posts_min: number(299),
  posts_max: (random) => String(300 + random.below(1_000)),
  following_max: (random) => String(100 + random.below(2_000)),
  category_any: several(category),
  niche_any: several(niche),
  country_any: several(country),
  state_any: several(state),
  city_any: several(city),
  gender_any: several(gender),
  not_category: several(category),
  not_niche: several(niche),
  not_country: several(country),
  not_city: several(city),
  q: pick('vegan,coffee,recpies,Anna,photograhpy,vinyl stages,obsessed with,marathn,salsa,brown,LA,Texas,trail maps'),
};
const SORTS = pick('followers,engagement,followers_asc,engagement_asc,posts,recent,followers');

/** Random parameters that do not contradict each other. */
export function drawQuery(random: Random): Record<string, string> {
  const query: Record<string, string> = { sort: SORTS(random) };
  const names = Object.keys(DRAWS);
  for (let left = random.below(5); left >= 0; left -= 1) {
    const name = random.pick(names);
    query[name] = DRAWS[name]?.(random) ?? '';
  }
  for (const name of ['category', 'niche', 'country', 'state', 'city', 'gender']) {
    if (query[name] !== undefined) delete query[`${name}_any`];
    const wanted = (query[name] ?? query[`${name}_any`] ?? '').toLowerCase().split('|');
    const not = (query[`not_${name}`] ?? '').split('|').filter((value) => !wanted.includes(value.toLowerCase()));
    if (not.length === 0 || not[0] === '') delete query[`not_${name}`];
    else query[`not_${name}`] = not.join('|');
  }
  if (query.q !== undefined && random.chance(0.6)) query.typos = 'true';
  return query;
}

/** A directory of generated creators behind the API, and the comparison of one random search with the oracle. */
export async function openCases(creators: number, seed: number) {
  const alias = unique('cases');
  const app = await startApp({ alias });
  const rows: OracleRow[] = [...generateCreators(creators, seed)].map((row) => ({
    ...row,
    is_verified: row.pk % 9 === 0 ? null : row.is_verified,
    external_url: row.pk % 11 === 0 ? ' ' : row.external_url,
    media_count: row.pk % 13 === 0 ? null : row.media_count,
    following_count: row.pk % 17 === 0 ? null : row.following_count,
  }));
  await putDirectory(app.context.elastic, alias, rows);
  const brand = await makeBrand(app.context);
  const nextKey = await keysInTurn(brand, KEYS);
  const ask = async (query: OracleQuery) => {
    const { status, body } = await call(`${app.url}/v1/creators/search?${new URLSearchParams(query)}`, nextKey());
    if (status !== 200) throw new Error(`${JSON.stringify(query)}: ${JSON.stringify(body)}`);
    return body;
  };

  async function differenceOf(random: Random): Promise<string | undefined> {
    const query = drawQuery(random);
    const expected = oracleSearch(rows, query);
    const page = 1 + random.below(Math.ceil(expected.length / LIMIT) + 1);
    const { data, pagination } = await ask({ ...query, limit: String(LIMIT), page: String(page) });
    const wanted = expected.slice((page - 1) * LIMIT, page * LIMIT).map(({ pk }) => pk);
    const found = data.map(({ pk }: { pk: number }) => pk);
    const [a, b] = [JSON.stringify([expected.length, wanted]), JSON.stringify([pagination.total, found])];
    if (a !== b) return `${JSON.stringify(query)} page ${page}\nwanted ${a}\nfound  ${b}`;
    return random.chance(0.05) ? await previewDifference(query, expected) : undefined;
  }

  async function previewDifference(query: OracleQuery, expected: OracleRow[]): Promise<string | undefined> {
    const names = 'category,followers,age,is_verified';
    const { preview, pagination } = await ask({
      ...query,
      preview: 'true',
      facets: names,
      facet_q: 'f',
      stats: 'true',
    });
    const categories = expected.filter(({ category: name }) => name?.toLowerCase().startsWith('f'));
    const counted = (rows: readonly { count: number }[]) => rows.reduce((sum, { count }) => sum + count, 0);
    const { facets, stats } = preview;
    const spread = oracleStats(expected, (row) => row.follower_count);
    const under5k = expected.filter(({ follower_count: n }) => n !== null && n >= 1_000 && n < 5_000);
    const isMean = Math.abs((stats.followers.mean ?? 0) - (spread.mean ?? 0)) <= 1e-4;
    const known = expected.filter(({ is_verified }) => is_verified !== null);
    const a = [expected.length, categories.length, under5k.length, known.length, spread.p10, spread.p50, spread.p90];
    const { p10, p50, p90 } = stats.followers;
    const range = facets.followers[1];
    const b = [pagination.total, counted(facets.category), range.count, counted(facets.is_verified), p10, p50, p90];
    if (JSON.stringify(a) === JSON.stringify(b) && isMean) return undefined;
    return `preview of ${JSON.stringify(query)}\nwanted ${JSON.stringify(a)}\nfound  ${JSON.stringify(b)}`;
  }

  return {
    /** What differs in this many random searches. */
    differences: async (count: number, caseSeed: number): Promise<string[]> => {
      const random = seededRandom(caseSeed);
      const found: string[] = [];
      for (let i = 0; i < count; i += 1) {
        const difference = await differenceOf(random);
        if (difference !== undefined) found.push(difference);
      }
      return found;
    },
    rows,
    ask,
    app,
    brand,
    nextKey,
    close: () => app.close(),
  };
}
