import { z } from 'zod';
import { spliceCards } from '../../kit/engines/elastic/splice.ts';
import { listForms } from '../../kit/values/email.ts';
import type { Snapshot } from './counts.ts';
import type { Directory } from './directory.ts';
import { type NotFound, toUsername } from './look-up.shapes.ts';
import { type Clause, type Filter, LOOK_UP_FIELDS, toElasticQuery } from './query.ts';
import { serializeBody } from './request-body.ts';
import { parseTotal } from './search.ts';

/** The values by which creators are looked up. */
export interface LookUpValues {
  pks?: readonly number[] | undefined;
  usernames?: readonly string[] | undefined;
  emails?: readonly string[] | undefined;
}

/** The looked-up creators that match the filter, as the text inside a JSON array. */
export interface LookUpResult {
  cards: string;
  total: number;
  notFound: NotFound;
  /** True if the caller's part of the directory has any of the values, even if the filter excludes it. */
  hasFound: boolean;
}

const AGGREGATIONS = ',"aggregations":';
const Counts = z.object({ sought: z.object({ buckets: z.array(z.object({ doc_count: z.number() })) }) });

/**
 * One request: a match scores by its first value, and each value is counted beside the filter. Creators outside `bound`
 * count as missing.
 */
export async function lookUp(
  { elastic }: Directory,
  { index }: Snapshot,
  lookUpValues: LookUpValues,
  { filter, size, bound }: { filter?: Filter; size: number; bound: readonly Clause[] },
): Promise<LookUpResult> {
  const { pks = [], usernames = [], emails = [] } = lookUpValues;
  const values: Clause[] = [
    ...pks.map((value) => ({ term: { [LOOK_UP_FIELDS.pks]: value } })),
    ...usernames.map((value) => ({ term: { [LOOK_UP_FIELDS.usernames]: toUsername(value) } })),
    ...emails.map((value) => ({ terms: { [LOOK_UP_FIELDS.emails]: listForms(value) } })),
  ];
  const queries = values.map((value, i) => ({ constant_score: { filter: value, boost: values.length - i } }));
  const body = {
    size,
    track_total_hits: true,
    query: { bool: { must: [{ dis_max: { queries } }], filter: bound } },
    ...(filter ? { post_filter: toElasticQuery(filter, 'followers') } : {}),
    sort: [{ _score: 'desc' }, { 'card.follower_count': { order: 'desc', missing: '_last' } }, { 'card.pk': 'asc' }],
    aggs: { sought: { filters: { filters: values } } },
  };
  const bytes = await elastic.post(`/${index}/_search?allow_partial_search_results=false`, serializeBody(body));
  // Nothing after the hits is text, so the last occurrence is the key.
  const end = bytes.lastIndexOf(AGGREGATIONS);
  const counts = Counts.parse(JSON.parse(bytes.toString('latin1', end + AGGREGATIONS.length, bytes.length - 1)));
  const hasValue = counts.sought.buckets.map((bucket) => bucket.doc_count > 0);
  const lacks = <T>(list: readonly T[], offset: number) => list.filter((_, i) => hasValue[offset + i] !== true);
  return {
    cards: spliceCards(bytes),
    total: parseTotal(bytes),
    notFound: {
      pks: lacks(pks, 0),
      usernames: lacks(usernames, pks.length),
      emails: lacks(emails, pks.length + usernames.length),
    },
    hasFound: hasValue.includes(true),
  };
}
