import type { z } from 'zod';
import { foldAccents } from '../../kit/values/fold.ts';
import { parseHandleAddress } from '../../kit/values/handle-address.ts';
import type { Unchecked } from '../../kit/values/problems.ts';
import { LOOKED_UP_AT_MOST } from './look-up.shapes.ts';
import { findSeveralPlaces, readCity, readCountry, readLocation, readState } from './places.ts';

type Rule = (query: Unchecked<string>, context: z.RefinementCtx) => void;

function refuse(context: z.RefinementCtx, field: string, message: string, input: unknown): void {
  context.addIssue({ code: 'custom', path: [field], params: { code: 'contradiction' }, message, input });
}

/** Refuses a `state` that contradicts the state in `City, ST`. */
const assertOneState: Rule = (query, context) => {
  if (typeof query.state !== 'string') return;
  const state = readState(query.state);
  const stateCode = state.kind === 'state' ? state.state.code : state.text;
  for (const name of ['city', 'city_any']) {
    for (const value of splitValues(query[name])) {
      const city = readCity(value);
      if (city.kind === 'state' || !city.state || stateCode === city.state.code) continue;
      const message = `contradicts the state in ${name}: ${JSON.stringify(value)} is in ${city.state.code}, state says ${stateCode}`;
      refuse(context, 'state', message, query.state);
    }
  }
};

const RANGES = ['follower', 'engagement', 'age', 'posts'];

const assertOrder: Rule = (query, context) => {
  for (const name of RANGES) {
    const [least, most] = [query[`${name}_min`], query[`${name}_max`]];
    if (typeof least !== 'number' || typeof most !== 'number' || least <= most) continue;
    refuse(context, `${name}_min`, `must not be above ${name}_max (${most})`, least);
  }
};

/** A form that two values share if they mean the same. */
const READINGS: Readonly<Record<string, (value: string) => string>> = {
  category: foldAccents,
  niche: foldAccents,
  gender: foldAccents,
  city: (value) => JSON.stringify(readCity(value)),
  state: (value) => JSON.stringify({ ...readState(value), text: '' }),
  country: (value) => JSON.stringify(readCountry(value)),
};

const splitValues = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');

const assertSeveral: Rule = (query, context) => {
  for (const [name, readingOf] of Object.entries(READINGS)) {
    const [one, several, not] = [query[name], query[`${name}_any`], query[`not_${name}`]];
    if (one !== undefined && several !== undefined) {
      refuse(
        context,
        `${name}_any`,
        `must not be combined with ${name}: send one of the two`,
        splitValues(several).join('|'),
      );
    }
    const wantedValues = new Map(
      [...splitValues(one), ...splitValues(several)].map((value) => [readingOf(value), value]),
    );
    for (const value of splitValues(not)) {
      const same = wantedValues.get(readingOf(value));
      if (same === undefined) continue;
      const other = one === undefined ? `${name}_any` : name;
      refuse(context, `not_${name}`, `contradicts ${other}, which has ${JSON.stringify(same)}`, value);
    }
  }
};

const assertStates: Rule = (query, context) => {
  const { state_any } = query;
  if (state_any === undefined) return;
  for (const name of ['city', 'city_any']) {
    for (const value of splitValues(query[name])) {
      const city = readCity(value);
      if (city.kind === 'state' || !city.state) continue;
      const message = `must not be combined with a ${name} that names its state (${JSON.stringify(value)})`;
      refuse(context, 'state_any', message, splitValues(state_any).join('|'));
    }
  }
};

const assertWords: Rule = ({ q, q_as, typos, sort }, context) => {
  if (typos === true && q === undefined) refuse(context, 'typos', 'needs q: it applies to the words of q', 'true');
  if (sort !== 'relevance') return;
  if (q === undefined) refuse(context, 'sort', 'by relevance needs q', sort);
  else if (typeof q === 'string' && q_as !== 'text' && readLocation(q)) {
    refuse(context, 'sort', `by relevance needs a text, and q ${JSON.stringify(q)} is a place: add q_as=text`, sort);
  } else if (typeof q === 'string' && q_as !== 'text' && parseHandleAddress(q)?.handle) {
    refuse(context, 'sort', `by relevance needs a text, and q ${JSON.stringify(q)} is an address: add q_as=text`, sort);
  }
};

const assertLists: Rule = ({ in_list, not_in_list }, context) => {
  const includedIds = new Set(splitValues(in_list));
  for (const id of splitValues(not_in_list)) {
    if (includedIds.has(id)) refuse(context, 'not_in_list', `contradicts in_list, which has ${JSON.stringify(id)}`, id);
  }
};

const PREVIEWED = ['facets', 'stats', 'facet_size', 'facet_q'];

const assertPreviewed: Rule = (query, context) => {
  const { preview } = query;
  if (preview === true) return;
  for (const name of PREVIEWED) {
    const value = query[name];
    if (value !== undefined) refuse(context, name, 'needs preview=true, which has the facets', String(value));
  }
};

const SOUGHT = ['pks', 'usernames', 'emails'];

const assertLookUp: Rule = (query, context) => {
  const lookUpNames = SOUGHT.filter((name) => query[name] !== undefined);
  const [first] = lookUpNames;
  if (first === undefined) return;
  const count = lookUpNames.reduce((sum, name) => sum + (Array.isArray(query[name]) ? query[name].length : 0), 0);
  if (count > LOOKED_UP_AT_MOST) {
    refuse(
      context,
      lookUpNames.at(-1) ?? first,
      `${lookUpNames.join(', ')} must have at most ${LOOKED_UP_AT_MOST} values together`,
      String(count),
    );
  }
  for (const name of ['page', 'offset', 'sort']) {
    const value = query[name];
    if (value !== undefined)
      refuse(
        context,
        name,
        `must not be combined with ${first}, which returns one page in its own order`,
        String(value),
      );
  }
};

const assertSimilar: Rule = (query, context) => {
  if (query.similar_to === undefined) return;
  for (const name of ['sort', 'walk', ...SOUGHT]) {
    const value = query[name];
    if (value !== undefined && value !== false)
      refuse(context, name, 'must not be combined with similar_to, which orders by similarity', String(value));
  }
};

const assertWalk: Rule = (query, context) => {
  const { walk, cursor, preview } = query;
  if (walk !== true) {
    if (cursor !== undefined) refuse(context, 'cursor', 'needs walk=true', 'a cursor');
    return;
  }
  if (cursor !== undefined && preview === true)
    refuse(context, 'cursor', 'must not be combined with preview', 'a cursor');
  for (const name of ['page', 'limit', 'offset', 'with', ...SOUGHT]) {
    const value = query[name];
    if (value !== undefined)
      refuse(context, name, 'must not be combined with walk, which returns every match', String(value));
  }
};

/** Refuses two places in `city`, which would find nobody. The older interface matches them as text. */
export function assertOnePlace({ city }: Unchecked<string>, context: z.RefinementCtx): void {
  const places = typeof city === 'string' ? findSeveralPlaces(city) : undefined;
  if (!places) return;
  const message = `must be one place: for several, send city_any=${places.join('|')}`;
  context.addIssue({ code: 'custom', path: ['city'], params: { code: 'several_places' }, message, input: city });
}

/** Refuses two places in a value of a list of places: `city_any=NYC,LA` would be New York City in Louisiana. */
const assertOnePlaceEach: Rule = (query, context) => {
  for (const name of ['city_any', 'not_city']) {
    const values = splitValues(query[name]);
    const placesByValue = values.map((value) => findSeveralPlaces(value) ?? [value]);
    if (placesByValue.every((places) => places.length === 1)) continue;
    const message = `must have | between places: send ${name}=${placesByValue.flat().join('|')}`;
    context.addIssue({ code: 'custom', path: [name], params: { code: 'several_places' }, message });
  }
};

/** The rules across the parameters of a search; each message names both sides. */
export function assertSettled(query: Unchecked<string>, context: z.RefinementCtx): void {
  const rules = [
    assertOneState,
    assertOrder,
    assertSeveral,
    assertStates,
    assertWords,
    assertLists,
    assertPreviewed,
    assertLookUp,
    assertSimilar,
    assertWalk,
    assertOnePlaceEach,
  ];
  for (const rule of rules) rule(query, context);
}
