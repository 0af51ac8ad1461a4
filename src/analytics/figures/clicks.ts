import { z } from 'zod';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { idSet, integer, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import { readClickTime } from '../../kit/values/click-token.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { UTM_NAMES } from '../../kit/values/utm.ts';
import { CLICK_KINDS } from '../../kit/values/visitor.ts';

const ListedClick = z.object({
  click_id: z.string(),
  link_id: z.string(),
  creator_id: z.string(),
  at: z.string(),
  kind: z.enum(CLICK_KINDS),
  country: z.string(),
  device: z.string(),
  referrer_host: z.string(),
  rule: z.string(),
  utm_source: z.string(),
  utm_medium: z.string(),
  utm_campaign: z.string(),
  utm_term: z.string(),
  utm_content: z.string(),
});
export type ListedClick = z.output<typeof ListedClick>;

export interface ClickWhere {
  from: Date;
  until: Date;
  /** The click after which the list continues. */
  after?: string | undefined;
  link?: string | undefined;
  kind?: string | undefined;
  country?: string | undefined;
  device?: string | undefined;
  referrer?: string | undefined;
  utm_source?: string | undefined;
  utm_medium?: string | undefined;
  utm_campaign?: string | undefined;
  utm_term?: string | undefined;
  utm_content?: string | undefined;
}

const FILTERS = [
  ['link', 'link_id = {link:String}'],
  ['kind', 'kind = {kind:String}'],
  ['country', 'country = {country:String}'],
  ['device', 'device = {device:String}'],
  ['referrer', 'referrer_host = {referrer:String}'],
  ...UTM_NAMES.map((name) => [name, `${name} = {${name}:String}`] as const),
] as const;

/** Days are read from the newest, a few at first, because a busy brand's page is full after one. */
const DAYS_AT_ONCE = [1, 7, 30, 60];

/** Clicks of any kind, newest first. */
export async function listClicks(
  clickhouse: ClickHouse,
  brandId: string,
  { from, until, after, ...only }: ClickWhere,
  limit: number,
): Promise<ListedClick[]> {
  const conditions = ['brand_id = {brand:String}'];
  const params: Record<string, string> = { brand: brandId };
  for (const [name, condition] of FILTERS) {
    const value = only[name];
    if (value === undefined) continue;
    conditions.push(condition);
    params[name] = value;
  }
  if (after !== undefined) {
    conditions.push("(at, click_id) < ({last:DateTime64(3, 'UTC')}, {after:String})");
    Object.assign(params, { after, last: tsvTime(readClickTime(after)) });
  }
  const sql = `SELECT click_id, link_id, creator_id, at, kind, country, device, referrer_host, rule,
      ${UTM_NAMES.join(', ')} FROM clicks_v1
    WHERE ${conditions.join(' AND ')} AND at >= {from:DateTime64(3, 'UTC')} AND at < {until:DateTime64(3, 'UTC')}
    ORDER BY at DESC, click_id DESC LIMIT {limit:UInt64}`;
  const clicks: ListedClick[] = [];
  let end = after === undefined ? until : new Date(Math.min(until.getTime(), readClickTime(after).getTime() + 1));
  for (const days of DAYS_AT_ONCE) {
    const start = new Date(Math.max(from.getTime(), end.getTime() - days * DAY_MS));
    if (start >= end) break;
    const window = { from: tsvTime(start), until: tsvTime(end), limit: limit - clicks.length };
    clicks.push(...(await queryInTime(clickhouse, ListedClick, sql, { ...params, ...window })));
    if (clicks.length >= limit) break;
    end = start;
  }
  return clicks;
}

const Referrer = z.object({ click_id: z.string(), referrer_host: z.string() });

/** The referrers of clicks. Clicks that are not stored yet are left out. */
export async function listReferrers(clickhouse: ClickHouse, brandId: string, clickIds: readonly string[]) {
  const times = clickIds.map((id) => readClickTime(id).getTime());
  return await queryInTime(
    clickhouse,
    Referrer,
    `SELECT click_id, referrer_host FROM clicks_v1
    WHERE brand_id = {brand:String} AND at >= {from:DateTime64(3, 'UTC')} AND at <= {to:DateTime64(3, 'UTC')}
      AND click_id IN ${idSet(clickIds)}`,
    { brand: brandId, from: tsvTime(new Date(Math.min(...times))), to: tsvTime(new Date(Math.max(...times))) },
  );
}

const Visits = z.object({ link_id: z.string(), visits: integer });

/** Counted clicks that came from these hosts, with or without `www`, by link. */
export async function listCouponVisits(
  clickhouse: ClickHouse,
  brandId: string,
  { from, until }: { from: Date; until: Date },
  hosts: readonly string[],
) {
  return await queryInTime(
    clickhouse,
    Visits,
    `SELECT link_id, count() AS visits FROM clicks_v1
    WHERE brand_id = {brand:String} AND at >= {from:DateTime64(3, 'UTC')} AND at < {until:DateTime64(3, 'UTC')}
      AND kind = 'counted' AND replaceRegexpOne(referrer_host, '^www\\\\.', '') IN {hosts:Array(String)}
    GROUP BY link_id ORDER BY link_id`,
    { brand: brandId, from: tsvTime(from), until: tsvTime(until), hosts },
  );
}
