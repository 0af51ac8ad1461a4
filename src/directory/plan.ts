import { plainClauses, plainInterpretation, withoutPlaces } from './plain.ts';
import { buildFilter, type Filter } from './query.ts';
import type { CreatorSearchQuery } from './search-schema.ts';
import { type Interpretation, interpretationOf, understand } from './understand.ts';

/** Everything that depends only on the parameters of a search. */
export interface Plan {
  filter: Filter;
  interpretation: Interpretation;
  /** `meta` of the response as JSON, UTF-8 bytes held as latin1 text. */
  meta: string;
}

const plans = new WeakMap<CreatorSearchQuery, Plan>();

/** How places and gender match: as places (current interface) or as plain text (older interface). */
export type Matching = 'places' | 'plain';

function madePlan(query: CreatorSearchQuery, ignored: readonly string[], matching: Matching) {
  if (matching === 'places') {
    const understood = understand(query);
    return { filter: buildFilter(query, understood), interpretation: interpretationOf(query, understood, ignored) };
  }
  const rest = withoutPlaces(query);
  const understood = understand(rest);
  const { clauses, ranges } = buildFilter(rest, understood);
  return {
    filter: { clauses: [...clauses, ...plainClauses(query)], ranges },
    interpretation: plainInterpretation(query, interpretationOf(rest, understood, ignored)),
  };
}

/** The plan of a query, built once per prepared request. */
export function planOf(query: CreatorSearchQuery, ignored: readonly string[], matching: Matching): Plan {
  const known = plans.get(query);
  if (known) return known;
  const { filter, interpretation } = madePlan(query, ignored, matching);
  const meta = Buffer.from(JSON.stringify({ interpretation })).toString('latin1');
  const plan = { filter, interpretation, meta };
  plans.set(query, plan);
  return plan;
}
