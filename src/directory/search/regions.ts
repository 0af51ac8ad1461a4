/** Regions of the result order: value descending, creators without the value last, then pk ascending. */

export interface RegionBounds {
  gte?: number;
  lt?: number;
  missing?: true;
  pkGte?: number;
  pkLt?: number;
}

/** A section of the order divided into regions, with the number of matches before each. */
export interface Level {
  regions: readonly RegionBounds[];
  /** before[i] matches precede region i; before[regions.length] is the level's total. */
  before: Uint32Array;
  /** Regions too large for one window, cut further; filled on demand, once for all who wait. */
  finer: Map<number, Promise<Level>>;
}

export interface Cover {
  regions: RegionBounds[];
  /** Matches of the first region that come before the page. */
  from: number;
}

/** A window of this many plus a page stays under Elasticsearch's max_result_window of 10,000. */
export const MAX_REGION = 5_000;

const view = new DataView(new ArrayBuffer(8));

/** The smallest double greater than `value`: `[value, nextUp(value))` holds exactly one value. */
export function nextUp(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return view.getFloat64(0);
}

/** The values at which a range is divided, without its ends. */
export function valuesWithin(values: readonly number[], { gte, lt }: Pick<RegionBounds, 'gte' | 'lt'>): number[] {
  return values.filter((value) => (gte === undefined || value > gte) && (lt === undefined || value < lt));
}

/** Divides `within` at the given values, highest first. A repeated value is a tie and gets its own region. */
export function cutByValues(values: readonly number[], within: RegionBounds = {}): RegionBounds[] {
  const ties = values.filter((value, i) => values.indexOf(value) < i).map(nextUp);
  const cuts = valuesWithin([...new Set([...values, ...ties])], within).sort((a, b) => b - a);
  const upper = [within.lt, ...cuts];
  const lower = [...cuts, within.gte];
  return lower.map((from, i) => {
    const to = upper[i];
    return { ...(from === undefined ? {} : { gte: from }), ...(to === undefined ? {} : { lt: to }) };
  });
}

/** Divides `within`, whose matches share one value or have none, at the given pks, lowest first. */
export function cutByPks(pks: readonly number[], within: RegionBounds): RegionBounds[] {
  const { pkGte = Number.NEGATIVE_INFINITY, pkLt = Number.POSITIVE_INFINITY } = within;
  const cuts = [...new Set(pks.map(Math.floor))].filter((pk) => pk > pkGte && pk < pkLt).sort((a, b) => a - b);
  const lower = [within.pkGte, ...cuts];
  const upper = [...cuts, within.pkLt];
  const { pkGte: _gte, pkLt: _lt, ...same } = within;
  return lower.map((from, i) => {
    const to = upper[i];
    return { ...same, ...(from === undefined ? {} : { pkGte: from }), ...(to === undefined ? {} : { pkLt: to }) };
  });
}

export function toLevel(regions: readonly RegionBounds[], counts: readonly number[]): Level {
  const before = new Uint32Array(regions.length + 1);
  for (let i = 0; i < regions.length; i += 1) before[i + 1] = (before[i] ?? 0) + (counts[i] ?? 0);
  return { regions, before, finer: new Map() };
}

export const getTotal = (level: Level): number => level.before[level.regions.length] ?? 0;

/** The matches that have the value: those without it are in the last region. */
export const countValued = (level: Level): number => level.before[level.regions.length - 1] ?? 0;

/** The region that holds the match at `offset`. */
function findRegion(level: Level, offset: number): number {
  let low = 0;
  let high = level.regions.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((level.before[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function refineOnce(level: Level, region: number, refine: () => Promise<Level>): Promise<Level> {
  const finer = level.finer.get(region) ?? refine();
  level.finer.set(region, finer);
  try {
    return await finer;
  } catch (error) {
    level.finer.delete(region);
    throw error;
  }
}

/**
 * The fewest regions that contain the matches `start` to `end` (exclusive) of the order. `refine` first divides regions
 * that are too large for one window. The result contains at most one page of matches plus one region.
 */
export async function cover(
  level: Level,
  start: number,
  end: number,
  refine: (region: RegionBounds) => Promise<Level>,
): Promise<Cover> {
  const last = Math.min(end, getTotal(level));
  const coverage: Cover = { regions: [], from: 0 };
  if (start >= last) return coverage;
  for (let i = findRegion(level, start); i < level.regions.length && (level.before[i] ?? 0) < last; i += 1) {
    const region = level.regions[i];
    const before = level.before[i] ?? 0;
    const count = (level.before[i + 1] ?? 0) - before;
    if (region === undefined || count === 0) continue;
    const inner = Math.max(0, start - before);
    if (count <= MAX_REGION) {
      if (coverage.regions.length === 0) coverage.from = inner;
      coverage.regions.push(region);
      continue;
    }
    const within = await cover(await refineOnce(level, i, () => refine(region)), inner, last - before, refine);
    if (coverage.regions.length === 0) coverage.from = within.from;
    coverage.regions.push(...within.regions);
  }
  return { ...coverage, regions: mergeNeighbours(coverage.regions) };
}

/** Joins adjacent ranges of values into one range: one clause instead of several. */
function mergeNeighbours(regions: readonly RegionBounds[]): RegionBounds[] {
  const mergedRegions: RegionBounds[] = [];
  const isValues = (region: RegionBounds) => !region.missing && region.pkGte === undefined && region.pkLt === undefined;
  for (const region of regions) {
    const before = mergedRegions.at(-1);
    if (!before || !isValues(before) || !isValues(region)) {
      mergedRegions.push(region);
      continue;
    }
    const isAscending = before.lt !== undefined && region.gte !== undefined && before.lt <= region.gte;
    const [{ gte }, { lt }] = isAscending ? [before, region] : [region, before];
    mergedRegions[mergedRegions.length - 1] = {
      ...(gte === undefined ? {} : { gte }),
      ...(lt === undefined ? {} : { lt }),
    };
  }
  return mergedRegions;
}
