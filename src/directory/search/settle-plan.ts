import type { Caller } from '../../kit/access/keys/callers.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Snapshot } from './counts.ts';
import type { Directory } from './directory.ts';
import { narrowPlan, readForcedClauses } from './forced-filters.ts';
import { findPlaceInText } from './place-in-text.ts';
import { getPlan, type Matching, type Plan, planInPlace, toMeta } from './plan.ts';
import { CountAnswer, type Filter, toElasticQuery } from './query.ts';
import { type CreatorSearchQuery, isLookUp } from './search.shapes.ts';
import { applyTimeFilters, type TimeFilters } from './time-filters.ts';

interface SettledPlan extends TimeFilters {
  plan: Plan;
}

type Searcher = Pick<Caller, 'brandId' | 'limits'>;

/** A moment of an index without a generation is counted anew each time. */
type IndexMoment = Pick<Snapshot, 'index'> & Partial<Snapshot>;

export async function countMatches(
  { counts }: Directory,
  { index, generation }: IndexMoment,
  filter: Filter,
): Promise<number> {
  const snapshot = generation === undefined ? undefined : { index, generation };
  const knownTotal = snapshot && counts.known(snapshot, filter);
  if (knownTotal !== undefined) return knownTotal;
  const body = { size: 0, track_total_hits: true, query: toElasticQuery(filter, 'followers') };
  const { hits } = await counts.ask(index, CountAnswer, body);
  if (snapshot) counts.keep(snapshot, filter, hits.total.value);
  return hits.total.value;
}

function withInterpretedQ(plan: Plan, more: object): Plan {
  const { q } = plan.interpretation;
  const interpretation = { ...plan.interpretation, q: q && { ...q, ...more } };
  return { ...plan, interpretation, meta: toMeta(interpretation) };
}

/**
 * The plan with all filters of the caller. A `q` that ends or begins with a place stays text as long as it finds anybody;
 * else it means its other words in that place. Pages, walks and previews decide alike, from the total of the text.
 */
export async function settlePlan(
  context: Context,
  caller: Searcher,
  query: CreatorSearchQuery,
  options: { snapshot: IndexMoment; ignored?: readonly string[]; matching?: Matching },
): Promise<SettledPlan> {
  const { snapshot, ignored = [], matching = 'places' } = options;
  const settle = async (base: Plan): Promise<SettledPlan> => {
    const plan = await narrowPlan(context.directory, caller, query, base);
    const bound = await readForcedClauses(context.directory, caller);
    return { plan, ...(await applyTimeFilters(context, query, plan.filter, bound)) };
  };
  const asText = await settle(getPlan(query, ignored, matching));
  const isText = matching === 'places' && query.q_as !== 'text' && asText.plan.interpretation.q?.read_as === 'text';
  const placeInText = isText && query.q !== undefined && !isLookUp(query) ? findPlaceInText(query.q) : undefined;
  if (!placeInText) return asText;
  if ((await countMatches(context.directory, snapshot, asText.filter)) > 0) {
    const offer = { q: placeInText.text, [placeInText.parameter]: placeInText.place };
    return { ...asText, plan: withInterpretedQ(asText.plan, { offer }) };
  }
  return await settle(planInPlace(query, ignored, placeInText));
}
