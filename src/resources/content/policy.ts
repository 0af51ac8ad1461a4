import { DAY_MS, HOUR_MS } from '../../values/duration.ts';

/** A request within this time of the previous one does nothing. Scheduled readings do not count as requests. */
const COOL_DOWN_MS = HOUR_MS;

/** From when a refresh has an effect; null for any time. */
export function refreshAvailableAt(requestedAt: Date | null, now: Date): Date | null {
  if (requestedAt === null) return null;
  const at = new Date(requestedAt.getTime() + COOL_DOWN_MS);
  return at > now ? at : null;
}

/** The next scheduled reading: daily for 30 days, then weekly for 90. Null: never again. */
export function nextRefreshAt(trackedAt: Date, now: Date): Date | null {
  const age = now.getTime() - trackedAt.getTime();
  if (age < 30 * DAY_MS) return new Date(now.getTime() + DAY_MS);
  if (age < 120 * DAY_MS) return new Date(now.getTime() + 7 * DAY_MS);
  return null;
}

export interface Reading {
  views: number | null;
  likes: number | null;
  comments: number | null;
  shares: number | null;
  saves: number | null;
  followers: number | null;
}

/** Rounded half to even, to two decimals. */
function roundHalfEven(numerator: number, denominator: number): number {
  const scaled = BigInt(numerator) * 10_000n;
  const divisor = BigInt(denominator);
  const whole = scaled / divisor;
  const twice = (scaled % divisor) * 2n;
  const up = twice > divisor || (twice === divisor && whole % 2n === 1n);
  return Number(up ? whole + 1n : whole) / 100;
}

/** In percent: engagements divided by views, or by followers if views are unknown or zero; null if neither is known. */
export function engagementRate({ views, likes, comments, shares, saves, followers }: Reading): number | null {
  const known = [likes, comments, shares, saves].filter((count) => count !== null);
  const reach = views || followers || 0;
  if (reach === 0 || known.length === 0) return null;
  return roundHalfEven(
    known.reduce((sum, count) => sum + count, 0),
    reach,
  );
}
