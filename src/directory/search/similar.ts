import { z } from 'zod';
import { validationError } from '../../kit/values/errors.ts';
import { foldAccents } from '../../kit/values/fold.ts';
import type { Page } from '../../kit/values/page.ts';
import type { Snapshot } from './counts.ts';
import { DirectoryCreator } from './creator.shapes.ts';
import type { Directory } from './directory.ts';
import { FIELD } from './order.ts';
import { type Clause, type Filter, toElasticQuery } from './query.ts';
import { SIMILAR_AT_MOST, type Similarity } from './search.shapes.ts';
import { countWords } from './word-counts.ts';

const texts = z.array(z.string()).default([]);
const Source = z.object({
  card: DirectoryCreator,
  // Absent if none of the fields is known.
  x: z
    .object({
      niches: texts,
      metros: texts,
      state_code: z.string().optional(),
      country_code: z.string().optional(),
    })
    .default({ niches: [], metros: [] }),
});
type Creator = z.infer<typeof Source>;
const Hits = z.object({
  hits: z.object({
    total: z.object({ value: z.number() }).optional(),
    max_score: z.number().nullish(),
    hits: z.array(z.object({ _source: Source, _score: z.number().nullish() })).default([]),
  }),
});

const SOURCE = ['card', 'x.niches', 'x.metros', 'x.state_code', 'x.country_code'];

/** The traits that similar creators may share, in the order in which they are shown. */
interface Traits {
  niche: string[];
  category: string[];
  metro: string[];
  state: string[];
  country: string[];
}
const TRAITS = ['niche', 'category', 'metro', 'state', 'country'] as const;
const FIELDS: Record<keyof Traits, string> = {
  niche: 'x.niches',
  category: 'card.category',
  metro: 'x.metros',
  state: 'x.state_code',
  country: 'x.country_code',
};
/** Measured on the sample: what a creator is about must outweigh where they live. */
const BOOSTS: Record<keyof Traits, number> = { niche: 8, category: 12, metro: 2, state: 1, country: 1 };
const WORDS_BOOST = 0.4;
/** A following within these factors of one of the others is as good as another of these bands each. */
const BANDS = [2, 5, 20];
const BAND_BOOST = 1;

const toTraitValues = (value: string | null | undefined) =>
  value === null || value === undefined ? [] : [foldAccents(value)];

/** States and countries are codes. */
const toTraits = ({ card, x }: Creator): Traits => ({
  niche: x.niches.map(foldAccents),
  category: toTraitValues(card.category),
  metro: x.metros,
  state: x.state_code === undefined ? [] : [x.state_code],
  country: x.country_code === undefined ? [] : [x.country_code],
});

/** Creators who are similar to others, as a filter and what ranks them. */
export interface Likeness {
  filter: Filter;
  ranking: Clause[];
  /** The traits they may share, with the kind before each value. */
  traits: ReadonlySet<string>;
}

const WORDS_AT_MOST = 20;
/** A word of the seeds alone finds nobody else. */
const WORD_CREATORS = 2;
/** Fewer characters than the analysis of one text takes. */
const ANALYZED = 20_000;
const Tokens = z.object({ tokens: z.array(z.object({ token: z.string() })) });

const constant = (filter: Clause, boost: number): Clause => ({ constant_score: { filter, boost } });
const listLabels = (creator: Creator): string[] => {
  const traits = toTraits(creator);
  return TRAITS.flatMap((kind) => traits[kind].map((value) => `${kind}:${value}`));
};

/** The creators with these keys, in the same version. Throws VALIDATION_ERROR for one that the caller cannot find. */
async function readSeeds(
  { counts }: Directory,
  { index }: Snapshot,
  pks: readonly number[],
  bound: readonly Clause[],
): Promise<Creator[]> {
  const query = { bool: { filter: [{ terms: { 'card.pk': [...pks] } }, ...bound] } };
  const sort = [{ 'card.pk': 'asc' }];
  const { hits } = await counts.ask(index, Hits, { size: pks.length, _source: SOURCE, query, sort });
  const creators = hits.hits.map(({ _source }) => _source);
  const unknown = pks.filter((pk) => creators.every(({ card }) => card.pk !== pk));
  if (unknown.length > 0) {
    const message = `names ${unknown.join(', ')}, which no creator in the directory has.`;
    throw validationError([{ field: 'similar_to', code: 'not_found', message }]);
  }
  return creators;
}

const toFollowerBands = (followers: number): Clause => ({
  bool: {
    should: BANDS.map((factor) =>
      constant({ range: { [FIELD.followers]: { gte: followers / factor, lte: followers * factor } } }, BAND_BOOST),
    ),
  },
});

/**
 * A clause for the words of texts that say most, weighed by how rare they are among the creators within `bound` alone: the
 * statistics of the index would tell of the others. Three in ten of the words must match.
 */
async function toWordsClause(
  { elastic, counts }: Directory,
  snapshot: Snapshot,
  texts: readonly string[],
  bound: readonly Clause[],
): Promise<Clause[]> {
  const text = texts.join('. ').slice(0, ANALYZED);
  if (text === '') return [];
  const analysis = await elastic.post(`/${snapshot.index}/_analyze`, JSON.stringify({ field: 'q_all', text }));
  const { tokens } = Tokens.parse(JSON.parse(analysis.toString('utf8')));
  const uses = new Map<string, number>();
  for (const { token } of tokens) uses.set(token, (uses.get(token) ?? 0) + 1);
  const { total, creators } = await countWords(counts, snapshot, new Set(uses.keys()), bound);
  const words = [...creators]
    .filter(([, count]) => count >= WORD_CREATORS)
    .map(([word, count]) => ({ word, rarity: Math.log(1 + (total - count + 0.5) / (count + 0.5)) }))
    .map(({ word, rarity }) => ({ word, rarity, weight: rarity * (uses.get(word) ?? 0) }))
    .sort((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1))
    .slice(0, WORDS_AT_MOST);
  if (words.length === 0) return [];
  const should = words.map(({ word, rarity }) => constant({ term: { q_all: word } }, WORDS_BOOST * rarity));
  return [{ bool: { should, minimum_should_match: '30%' } }];
}

/**
 * Reads who the others are. A creator is similar by words of the biography and niches, by a niche or by the category; place
 * and following only rank.
 */
export async function measureLikeness(
  directory: Directory,
  snapshot: Snapshot,
  { pks, filter, bound }: { pks: readonly number[]; filter: Filter; bound: readonly Clause[] },
): Promise<Likeness> {
  const seeds = await readSeeds(directory, snapshot, pks, bound);
  const like = seeds.map(({ card }) => [card.niches, card.biography].filter(Boolean).join('. ')).filter(Boolean);
  const words = await toWordsClause(directory, snapshot, like, bound);
  const traits = new Set(seeds.flatMap(listLabels));
  const byKind = Map.groupBy(traits, (label) => label.slice(0, label.indexOf(':')));
  const toTraitClauses = (kind: keyof Traits) =>
    (byKind.get(kind) ?? []).map((label) =>
      constant({ term: { [FIELDS[kind]]: label.slice(kind.length + 1) } }, BOOSTS[kind]),
    );
  const about = [...words, ...toTraitClauses('niche'), ...toTraitClauses('category')];
  const followings = seeds.flatMap(({ card }) => card.follower_count ?? []);
  const around = followings.length === 0 ? [] : [{ dis_max: { queries: followings.map(toFollowerBands) } }];
  return {
    filter: {
      ...filter,
      clauses: [
        ...filter.clauses,
        about.length === 0 ? { match_none: {} } : { bool: { should: about, minimum_should_match: 1 } },
        { bool: { must_not: [{ terms: { 'card.pk': [...pks] } }] } },
      ],
    },
    ranking: [
      ...about,
      ...toTraitClauses('metro'),
      ...toTraitClauses('state'),
      ...toTraitClauses('country'),
      ...around,
    ],
    traits,
  };
}

const toRankedQuery = ({ filter, ranking }: Likeness) => ({
  query: { bool: { filter: [toElasticQuery(filter, 'followers')], should: ranking } },
  sort: [{ _score: 'desc' }, { 'card.pk': 'asc' }],
});

const Sorts = z.object({ hits: z.object({ hits: z.array(z.object({ sort: z.tuple([z.number(), z.number()]) })) }) });

/** The keys of all similar creators, best first. */
export async function similarPks({ counts }: Directory, { index }: Snapshot, likeness: Likeness): Promise<number[]> {
  const body = { size: SIMILAR_AT_MOST, track_total_hits: false, _source: false, ...toRankedQuery(likeness) };
  const { hits } = await counts.ask(index, Sorts, body, 'relevance');
  return hits.hits.map(({ sort: [, pk] }) => pk);
}

/** A page of similar creators, best first, with what makes each similar. */
export async function findSimilar(
  { elastic }: Directory,
  { index }: Snapshot,
  likeness: Likeness,
  { limit, offset }: Page,
): Promise<{ cards: string; total: number; similarity: Similarity }> {
  const size = Math.max(0, Math.min(limit, SIMILAR_AT_MOST - offset));
  const body = {
    from: size === 0 ? 0 : offset,
    size,
    track_total_hits: SIMILAR_AT_MOST,
    _source: SOURCE,
    ...toRankedQuery(likeness),
    track_scores: true,
  };
  const fields = 'hits.total.value,hits.max_score,hits.hits._score,hits.hits._source';
  // Scores of several shards compare only if each counts words over all of them.
  const path = `/${index}/_search?filter_path=${fields}&allow_partial_search_results=false&search_type=dfs_query_then_fetch`;
  const bytes = await elastic.post(path, JSON.stringify(body));
  const { hits } = Hits.parse(JSON.parse(bytes.toString('utf8')));
  const best = hits.max_score ?? 1;
  const cards = hits.hits.map(({ _source }) => JSON.stringify(_source.card)).join(',');
  return {
    cards: Buffer.from(cards).toString('latin1'),
    total: Math.min(hits.total?.value ?? 0, SIMILAR_AT_MOST),
    similarity: hits.hits.map(({ _source, _score }) => ({
      pk: _source.card.pk,
      score: Math.round(((_score ?? 0) / best) * 10_000) / 10_000,
      shared: listLabels(_source).filter((label) => likeness.traits.has(label)),
    })),
  };
}
