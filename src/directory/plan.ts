import { plainClauses, plainInterpretation, withoutPlaces } from './plain.ts';
import { buildFilter, type Filter } from './query.ts';
import type { CreatorSearchQuery } from './search-schema.ts';
import { type Interpretation, interpretationOf, understand } from './understand.ts';

/** What follows from a search's parameters alone. */
export interface Plan {
  filter: Filter;
  interpretation: Interpretation;
  /** The answer's `meta`, as JSON in latin1 text of its UTF-8 bytes. */
  meta: string;
}

const plans = new WeakMap<CreatorSearchQuery, Plan>();

/** How places and gender are matched: as the current interface reads them, or plainly, as the older one does. */
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

/** The plan of a query, made once for each prepared request. */
export function planOf(query: CreatorSearchQuery, ignored: readonly string[], matching: Matching): Plan {
  const known = plans.get(query);
  if (known) return known;
  const { filter, interpretation } = madePlan(query, ignored, matching);
  const meta = Buffer.from(JSON.stringify({ interpretation })).toString('latin1');
  const plan = { filter, interpretation, meta };
  plans.set(query, plan);
  return plan;
}
