import type { SearchRecord } from '../../kit/operation/operation.ts';
import { type CreatorSearchQuery, isLookUp } from './search.shapes.ts';

/** Parameters that decide neither who matches nor how many. */
const BESIDES: ReadonlySet<string> = new Set([
  ...['page', 'limit', 'offset', 'sort', 'preview', 'walk', 'cursor', 'max_credits', 'directory_version', 'with'],
  ...['facets', 'stats', 'facet_size', 'facet_q'],
]);

/** A repeated request has the same query object. */
const known = new WeakMap<CreatorSearchQuery, SearchRecord>();

function getKind(query: CreatorSearchQuery): SearchRecord['kind'] {
  if (query.preview) return 'preview';
  if (query.walk) return 'walk';
  return isLookUp(query) ? 'look_up' : 'page';
}

/** What the record of calls keeps of a search. */
export function toSearchRecord(query: CreatorSearchQuery): SearchRecord {
  const before = known.get(query);
  if (before) return before;
  const given = Object.entries(query)
    .filter(([name, value]) => value !== undefined && !BESIDES.has(name) && !(name === 'q_as' && value === 'auto'))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const sought = { kind: getKind(query), filters: given.map(([name]) => name), text: JSON.stringify(given) };
  known.set(query, sought);
  return sought;
}
