import type { SearchRecord } from '../../kit/operation/operation.ts';
import { type CreatorSearchQuery, isLookUp } from './search.shapes.ts';

/** Parameters that decide neither who matches nor how many. */
const BESIDES: ReadonlySet<string> = new Set([
  ...['page', 'limit', 'offset', 'sort', 'preview', 'walk', 'cursor', 'max_credits', 'directory_version', 'with'],
  ...['facets', 'stats', 'facet_size', 'facet_q'],
]);

/** A repeated request has the same query object. */
const recordsByQuery = new WeakMap<CreatorSearchQuery, SearchRecord>();

function getKind(query: CreatorSearchQuery): SearchRecord['kind'] {
  if (query.preview) return 'preview';
  if (query.walk) return 'walk';
  return isLookUp(query) ? 'look_up' : 'page';
}

/** Returns the part of a search that the record of calls keeps. */
export function toSearchRecord(query: CreatorSearchQuery): SearchRecord {
  const before = recordsByQuery.get(query);
  if (before) return before;
  const parameters = Object.entries(query)
    .filter(([name, value]) => value !== undefined && !BESIDES.has(name) && !(name === 'q_as' && value === 'auto'))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const record = { kind: getKind(query), filters: parameters.map(([name]) => name), text: JSON.stringify(parameters) };
  recordsByQuery.set(query, record);
  return record;
}
