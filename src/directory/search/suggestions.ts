import type { Caller } from '../../kit/access/keys/callers.ts';
import type { Context } from '../../kit/operation/context.ts';
import { fold } from '../../kit/values/fold.ts';
import type { Snapshot } from './counts.ts';
import type { Interpretation } from './interpretation.ts';
import { toLatinLetters } from './latin-letters.ts';
import type { CreatorSearchQuery, Suggestion } from './search.shapes.ts';
import { countMatches, settlePlan } from './settle-plan.ts';
import { findTypos } from './typos.ts';

const MOST_SUGGESTIONS = 3;
const MOST_COUNTS = 4;

interface Candidate extends Omit<Suggestion, 'total'> {
  query: CreatorSearchQuery;
}

/** Filters by text, the likeliest mistakes first. */
const TEXTS = ['q', 'city', 'state', 'country', 'niche', 'category', 'gender'] as const;
const FILTERS = [
  ...(['follower_min', 'follower_max', 'engagement_min', 'has_email', 'is_verified', 'has_url'] as const),
  ...(['age_min', 'age_max', 'posts_min', 'fresh_within_days'] as const),
];

/** The text with the nearest word of the directory for each word that it lacks. */
async function correctWords({ directory }: Context, snapshot: Snapshot, q: string): Promise<string | undefined> {
  let corrected = q.toLowerCase();
  for (const { word, matched } of await findTypos(directory.counts, snapshot, q, 'missing')) {
    const [nearest] = matched;
    if (nearest) corrected = corrected.replace(word, nearest);
  }
  return corrected === q.toLowerCase() ? undefined : corrected;
}

async function findSpelling(
  context: Context,
  snapshot: Snapshot,
  parameter: (typeof TEXTS)[number],
  value: string,
  interpretation: Interpretation,
): Promise<string | undefined> {
  if (parameter === 'city' || parameter === 'state' || parameter === 'country') {
    return interpretation[parameter]?.did_you_mean ?? undefined;
  }
  if (parameter !== 'q') return undefined;
  const latin = toLatinLetters(fold(value));
  if (latin !== undefined) return latin;
  return interpretation.q?.read_as === 'text' ? await correctWords(context, snapshot, value) : undefined;
}

async function* listCandidates(
  context: Context,
  snapshot: Snapshot,
  query: CreatorSearchQuery,
  interpretation: Interpretation,
): AsyncGenerator<Candidate> {
  for (const parameter of TEXTS) {
    const value = query[parameter];
    if (value === undefined) continue;
    const instead = await findSpelling(context, snapshot, parameter, value, interpretation);
    if (instead !== undefined) yield { parameter, value, instead, query: { ...query, [parameter]: instead } };
  }
  const sent = [...TEXTS, ...FILTERS].filter((parameter) => query[parameter] !== undefined);
  // The search without its only filter is the whole directory.
  if (sent.length < 2) return;
  for (const parameter of sent) {
    yield { parameter, value: String(query[parameter]), instead: null, query: { ...query, [parameter]: undefined } };
  }
}

/** Searches near one that finds nobody, each counted. */
export async function suggest(
  context: Context,
  caller: Pick<Caller, 'brandId' | 'limits'>,
  query: CreatorSearchQuery,
  { snapshot, interpretation }: { snapshot: Snapshot; interpretation: Interpretation },
): Promise<Suggestion[]> {
  const suggestions: Suggestion[] = [];
  let counted = 0;
  for await (const { query: other, ...candidate } of listCandidates(context, snapshot, query, interpretation)) {
    if (counted >= MOST_COUNTS || suggestions.length >= MOST_SUGGESTIONS) break;
    const { filter } = await settlePlan(context, caller, other, { snapshot });
    const total = await countMatches(context.directory, snapshot, filter);
    counted += 1;
    if (total > 0) suggestions.push({ ...candidate, total });
  }
  return suggestions;
}
