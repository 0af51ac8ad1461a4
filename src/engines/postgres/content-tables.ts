import type { ColumnType } from 'kysely';

export type ContentStatus = 'tracking' | 'refreshing';

/** Null: the platform does not report the metric. */
interface MetricColumns {
  views: number | null;
  likes: number | null;
  comments: number | null;
  shares: number | null;
  saves: number | null;
}

export interface ContentTable extends MetricColumns {
  id: string;
  brandId: string;
  url: string;
  canonicalKey: string;
  platform: string;
  type: string | null;
  creatorId: string | null;
  campaignId: string | null;
  followers: number | null;
  caption: string | null;
  postedAt: Date | null;
  paidPartnership: boolean | null;
  status: ContentStatus;
  trackedAt: ColumnType<Date, Date, never>;
  lastRefreshed: Date | null;
  /** When the brand last requested a refresh. Further requests do nothing for an hour. */
  refreshRequestedAt: Date | null;
  /** When the current refresh started. Either the brand or the schedule requested it. */
  refreshBeganAt: Date | null;
  refreshError: string | null;
  nextRefreshAt: Date | null;
  deletedAt: Date | null;
}

export interface ContentMetricsTable extends MetricColumns {
  contentId: string;
  /** `YYYY-MM-DD`, in UTC. */
  date: string;
}

/** A short link and the post that it leads to, both as canonical keys. */
export interface ContentShortLinksTable {
  brandId: string;
  shortKey: string;
  canonicalKey: string;
}

export interface ContentTables {
  contentShortLinks: ContentShortLinksTable;
  content: ContentTable;
  contentMetrics: ContentMetricsTable;
}
