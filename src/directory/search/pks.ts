import { z } from 'zod';
import { toChunks } from '../../kit/values/chunks.ts';
import { foldAccents } from '../../kit/values/fold.ts';
import type { Snapshot } from './counts.ts';
import { DirectoryCreator } from './creator.shapes.ts';
import type { Directory } from './directory.ts';
import { toUsername } from './look-up.shapes.ts';
import { type Clause, CountAnswer, type Filter, toElasticQuery } from './query.ts';

/** Elasticsearch's most hits in one answer. */
const HITS = 10_000;
/** Few usernames differ only in accents. */
const NAMESAKES = 5;
const NAMES = HITS / NAMESAKES;

const Sorts = z.object({ hits: z.object({ hits: z.array(z.object({ sort: z.tuple([z.number()]) })) }).partial() });
const Names = z.object({
  hits: z.object({
    hits: z.array(z.object({ _source: z.object({ card: DirectoryCreator.pick({ pk: true, username: true }) }) })),
  }),
});
const Cards = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: z.object({ card: DirectoryCreator }) })) }),
});

/** Up to 10,000 pks of the matches above `after`, ascending. */
async function nextPks({ counts }: Directory, { index }: Snapshot, query: Clause, after: number): Promise<number[]> {
  const body = {
    size: HITS,
    track_total_hits: false,
    _source: false,
    query,
    sort: [{ 'card.pk': 'asc' }],
    search_after: [after],
  };
  const { hits } = await counts.ask(index, Sorts, body);
  return (hits.hits ?? []).map(({ sort: [pk] }) => pk);
}

/** The pks, ascending, of those that an earlier version of the directory that is still kept shows within `bound`. */
export async function findPksOfKept(
  directory: Directory,
  pks: readonly number[],
  bound: readonly Clause[],
): Promise<number[]> {
  const { kept, index: live } = await directory.live();
  const matchingPks = new Set<number>();
  for (const [index, generation] of kept) {
    if (index === live) continue;
    for (const some of toChunks(pks, HITS)) {
      const query = { bool: { filter: [{ terms: { 'card.pk': some } }, ...bound] } };
      for (const pk of await nextPks(directory, { index, generation }, query, -1)) matchingPks.add(pk);
    }
  }
  return [...matchingPks].sort((a, b) => a - b);
}

/** Returns the pks that the directory has. */
async function findKnownPks(directory: Directory, snapshot: Snapshot, pks: readonly number[]): Promise<Set<number>> {
  const knownPks = new Set<number>();
  for (const some of toChunks(pks, HITS)) {
    for (const pk of await nextPks(directory, snapshot, { terms: { 'card.pk': some } }, -1)) knownPks.add(pk);
  }
  return knownPks;
}

/** The pk by folded username; of namesakes, that of the creator with the most followers. */
async function findPksByUsername({ counts }: Directory, { index }: Snapshot, usernames: readonly string[]) {
  const pksByUsername = new Map<string, number>();
  for (const some of toChunks(usernames, NAMES)) {
    const body = {
      size: HITS,
      track_total_hits: false,
      _source: ['card.pk', 'card.username'],
      query: { terms: { 'card.username': some } },
    };
    const { hits } = await counts.ask(index, Names, body);
    for (const { _source } of hits.hits.reverse())
      pksByUsername.set(foldAccents(_source.card.username), _source.card.pk);
  }
  return pksByUsername;
}

export interface CreatorNames {
  pks: readonly number[];
  usernames: readonly string[];
}

/** The pks of named creators, without repeats, and the names that the directory lacks. */
export async function findPks(
  directory: Directory,
  { pks, usernames }: CreatorNames,
): Promise<{ pks: number[]; notFound: { pks: number[]; usernames: string[] } }> {
  const snapshot = await directory.snapshot();
  const knownPks = await findKnownPks(directory, snapshot, [...new Set(pks)]);
  const toKey = (name: string) => foldAccents(toUsername(name));
  const pksByUsername = await findPksByUsername(directory, snapshot, [...new Set(usernames.map(toKey))]);
  const missing = {
    pks: [...new Set(pks)].filter((pk) => !knownPks.has(pk)),
    usernames: [...new Set(usernames)].filter((name) => !pksByUsername.has(toKey(name))),
  };
  return { pks: [...new Set([...knownPks, ...pksByUsername.values()])], notFound: missing };
}

/** The pks of all matches if they are at most `most`; else only their number. */
export async function findMatchingPks(
  directory: Directory,
  snapshot: Snapshot,
  filter: Filter,
  most: number,
): Promise<{ total: number; pks: number[] }> {
  const query = toElasticQuery(filter, 'followers');
  const answer = await directory.counts.ask(snapshot.index, CountAnswer, { size: 0, track_total_hits: true, query });
  const total = answer.hits.total.value;
  const pks: number[] = [];
  if (total > most) return { total, pks };
  for await (const page of eachPage(directory, snapshot, filter)) for (const pk of page) pks.push(pk);
  return { total, pks };
}

/** The pks of all matches, ascending, in pages of up to 10,000. */
export async function* eachPage(directory: Directory, snapshot: Snapshot, filter: Filter): AsyncGenerator<number[]> {
  const query = toElasticQuery(filter, 'followers');
  for (let after = -1; ; ) {
    const page = await nextPks(directory, snapshot, query, after);
    if (page.length > 0) yield page;
    if (page.length < HITS) return;
    after = page.at(-1) ?? after;
  }
}

/** The usernames of up to 1,000 creators, by pk; `bound` narrows them. */
export async function findUsernames(
  { counts, snapshot }: Directory,
  pks: readonly number[],
  bound: readonly Clause[],
): Promise<Map<number, string>> {
  if (pks.length === 0) return new Map();
  const { index } = await snapshot();
  const body = {
    size: pks.length,
    track_total_hits: false,
    _source: ['card.pk', 'card.username'],
    query: { bool: { filter: [{ terms: { 'card.pk': pks } }, ...bound] } },
  };
  const { hits } = await counts.ask(index, Names, body);
  return new Map(hits.hits.map(({ _source: { card } }) => [card.pk, card.username]));
}

/** The cards of up to 100 creators, by pk. */
export async function findCards({ counts, snapshot }: Directory, pks: readonly number[]) {
  if (pks.length === 0) return new Map<number, DirectoryCreator>();
  const { index } = await snapshot();
  const body = { size: pks.length, track_total_hits: false, query: { terms: { 'card.pk': pks } } };
  const { hits } = await counts.ask(index, Cards, body);
  return new Map(hits.hits.map(({ _source: { card } }) => [card.pk, card]));
}
