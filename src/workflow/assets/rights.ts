import { DAY_MS } from '../../kit/values/duration.ts';
import { timeIn, toInstant } from '../../kit/values/time-zone.ts';
import type { AssetSource, UsageTerms } from './assets.ts';

/** Days before the end of an asset's rights on which its brand is notified. */
const NOTICE_DAYS = [14, 3, 0] as const;
/** An asset is expiring if its rights end within this many days. */
export const EXPIRING_DAYS = 14;

export const daysAfter = (time: Date, days: number): Date => new Date(time.getTime() + days * DAY_MS);

/** The moments from which the days of rights may count, and the zone of the brand's days. */
interface RightsStart {
  signedAt: Date | null;
  postedAt: Date | null;
  timeZone: string;
}

/**
 * The end of the rights in agreed terms. Without `days` they never end; before they start, the end is unknown. Days from
 * `starts_on` are days of the brand's zone.
 */
export function computeRightsEnd(
  { days, starts, starts_on: startsOn }: UsageTerms,
  { signedAt, postedAt, timeZone }: RightsStart,
): Date | null {
  if (days === null) return null;
  if (startsOn) return new Date(toInstant(timeZone, Date.parse(startsOn) + days * DAY_MS));
  const start = starts === 'posted' ? postedAt : signedAt;
  return start === null ? null : daysAfter(start, days);
}

/** The end that terms have by themselves; null unless they begin on a fixed day. */
export const computeFixedEnd = (terms: UsageTerms | null, timeZone: string): Date | null =>
  terms && computeRightsEnd(terms, { signedAt: null, postedAt: null, timeZone });

export const REASONS = [
  'no_limit',
  'within_terms',
  'not_begun',
  'expired',
  'channel_not_included',
  'no_terms',
] as const;

export interface RightsAnswer {
  allowed: boolean;
  reason: (typeof REASONS)[number];
  until: Date | null;
}

interface AssetTerms {
  source: AssetSource;
  usageRights: string | null;
  rights: UsageTerms | null;
  rightsExpiresAt: Date | null;
}

/** Decides if an asset may be used at a time, on a channel if one is named. */
export function mayUse(
  { source, usageRights, rights, rightsExpiresAt }: AssetTerms,
  { on, channel, timeZone }: { on: Date; channel: string | undefined; timeZone: string },
): RightsAnswer {
  const until = rightsExpiresAt ?? computeFixedEnd(rights, timeZone);
  if (until && on >= until) return { allowed: false, reason: 'expired', until };
  const begins = rights?.starts_on;
  if (begins && on < timeIn(timeZone, begins)) return { allowed: false, reason: 'not_begun', until };
  const channels = rights?.channels ?? [];
  if (
    channel !== undefined &&
    channels.length > 0 &&
    !channels.some((one) => one.toLowerCase() === channel.toLowerCase())
  ) {
    return { allowed: false, reason: 'channel_not_included', until };
  }
  if (rights === null && usageRights === null && until === null) {
    // A brand owns its uploads. A creator's files may not be used before rights are agreed.
    const isOwn = source === 'upload';
    return { allowed: isOwn, reason: isOwn ? 'no_limit' : 'no_terms', until };
  }
  // The days count from a post that has not been published yet.
  if (until === null && rights !== null && rights.days !== null) return { allowed: true, reason: 'not_begun', until };
  return { allowed: true, reason: 'within_terms', until };
}

/** The latest notice that is due at this time; undefined if none is. */
export function noticeDueAt(rightsExpiresAt: Date, now: Date): (typeof NOTICE_DAYS)[number] | undefined {
  return NOTICE_DAYS.findLast((days) => rightsExpiresAt <= daysAfter(now, days));
}
