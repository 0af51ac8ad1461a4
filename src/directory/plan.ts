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

/** The plan of a query, made once for each prepared request. */
export function planOf(query: CreatorSearchQuery, ignored: readonly string[]): Plan {
  const known = plans.get(query);
  if (known) return known;
  const understood = understand(query);
  const interpretation = interpretationOf(query, understood, ignored);
  const meta = Buffer.from(JSON.stringify({ interpretation })).toString('latin1');
  const plan = { filter: buildFilter(query, understood), interpretation, meta };
  plans.set(query, plan);
  return plan;
}
