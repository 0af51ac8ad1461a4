import { DAY_MS } from '../../values/duration.ts';
import type { CampaignRow } from './queries.ts';

/** A date arrives as midnight UTC, so a deadline at midnight UTC means the whole day. */
export const isWholeDay = (deadline: Date): boolean => deadline.getTime() % DAY_MS === 0;

/** Whether the campaign's deadline has passed: a whole day ends with its last moment in UTC. */
export function isPastDeadline({ deadline }: Pick<CampaignRow, 'deadline'>, now: Date): boolean {
  if (deadline === null) return false;
  const endMs = deadline.getTime() + (isWholeDay(deadline) ? DAY_MS : 0);
  return now.getTime() >= endMs;
}

/** Whether creators may apply to the campaign now. */
export const takesApplications = (campaign: Pick<CampaignRow, 'status' | 'deadline'>, now: Date): boolean =>
  campaign.status === 'active' && !isPastDeadline(campaign, now);
