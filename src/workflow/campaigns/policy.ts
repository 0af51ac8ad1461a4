import { DAY_MS } from '../../kit/values/duration.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import type { CampaignRow } from './queries.ts';

/** A date arrives as midnight UTC, so a deadline at midnight UTC means the whole day. */
export const isWholeDay = (deadline: Date): boolean => deadline.getTime() % DAY_MS === 0;

interface Closing extends Pick<CampaignRow, 'deadline'> {
  /** Of the brand. */
  timeZone: string;
}

/** Whether the campaign's deadline has passed: a whole day ends with its last moment in the brand's time zone. */
export function isPastDeadline({ deadline, timeZone }: Closing, now: Date): boolean {
  if (deadline === null) return false;
  return isWholeDay(deadline) ? dayIn(timeZone, now) > deadline.toISOString().slice(0, 10) : now >= deadline;
}

/** Whether creators may apply to the campaign now. */
export const takesApplications = (campaign: Closing & Pick<CampaignRow, 'status'>, now: Date): boolean =>
  campaign.status === 'active' && !isPastDeadline(campaign, now);
