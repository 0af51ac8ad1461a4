import type { z } from 'zod';
import { type ListedClick, listClicks } from '../../analytics/figures/clicks/queries.ts';
import { fresh } from '../../analytics/figures/queries.ts';
import { endOf, FRESHNESS, startOf } from '../../analytics/figures/schema.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read } from '../../kit/operation/kit.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { type Click, ClickFilter, Clicks } from './schema.ts';

const KEPT_DAYS = 90;

const clickOf = ({ click_id, at, ...row }: ListedClick): z.input<typeof Click> => ({
  id: click_id,
  at: `${at.replace(' ', 'T')}Z`,
  ...{ kind: row.kind, link_id: row.link_id, creator_id: row.creator_id },
  ...{ country: row.country || null, device: row.device || null, referrer: row.referrer_host || null },
});

async function pageOfClicks(
  { clickhouse, clock }: Pick<Context, 'clickhouse' | 'clock'>,
  brandId: string,
  { from, to, limit, link_id: link, ...only }: ClickFilter,
) {
  const now = clock.now();
  const earliest = new Date(now.getTime() - KEPT_DAYS * DAY_MS);
  const start = from === undefined ? earliest : startOf(from);
  const where = {
    from: start > earliest ? start : earliest,
    until: to === undefined ? new Date(now.getTime() + DAY_MS) : endOf(to),
  };
  const rows = await listClicks(clickhouse, brandId, { ...only, ...where, link }, limit + 1);
  const page = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  return { data: page.map(clickOf), has_more: hasMore, next_after: hasMore ? (page.at(-1)?.click_id ?? null) : null };
}

export const clickOperations = [
  read({
    id: 'list_clicks',
    path: '/v1/clicks',
    tag: 'Clicks',
    summary: 'List clicks',
    description:
      'Clicks on the brand’s short links in the last 90 days, counted or not, newest first. Send `next_after` as `after` ' +
      `for older ones. ${FRESHNESS}`,
    // Agents have breakdowns.
    forAgents: false,
    query: ClickFilter,
    response: Clicks,
    handler: (context, call) => fresh(context, call, () => pageOfClicks(context, call.caller.brandId, call.query)),
  }),
] as const;
