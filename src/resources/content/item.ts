import type { z } from 'zod';
import { toWire } from '../../values/wire.ts';
import { engagementRate, refreshAvailableAt } from './policy.ts';
import type { ContentRow } from './queries.ts';
import { Content } from './schema.ts';

const metricsOf = (row: ContentRow) => {
  const { views, likes, comments, shares, saves } = row;
  return { views, likes, comments, shares, saves, engagement_rate: engagementRate(row) };
};

/** The wire shape of a tracked post; `now` decides whether a refresh would do something. */
export function contentOf(row: ContentRow, now: Date): z.infer<typeof Content> {
  const nextRefreshAvailable = refreshAvailableAt(row.refreshRequestedAt, now);
  return Content.parse({ ...toWire({ ...row, nextRefreshAvailable }), metrics: metricsOf(row) });
}

/** A post as it is answered when its tracking begins: its metrics start at zero, and are unknown until the first reading. */
export function startingWith(row: ContentRow, now: Date): z.infer<typeof Content> {
  const metrics = { views: 0, likes: 0, comments: 0, shares: 0, saves: 0, engagement_rate: null };
  return { ...contentOf(row, now), metrics };
}
