import { z } from 'zod';
import { drainClicks } from '../../../src/interfaces/links-host/jobs.ts';
import { type ClickedLink, listChangedLinks } from '../../../src/interfaces/links-host/waiting-clicks.ts';
import { integer, query } from '../../../src/kit/engines/clickhouse/query.ts';
import { type TestApp, unique } from '../app.ts';
import type { Desk } from './affiliates.ts';

export const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';

export interface TrackedLink {
  id: string;
  slug: string;
}

export async function makeLink(desk: Desk, destination: string, more: object = {}): Promise<TrackedLink> {
  const { id, url } = await desk.made({ type: 'link', value: unique('l'), destination_url: destination, ...more });
  return { id, slug: url.slice(url.lastIndexOf('/') + 1) };
}

export interface Click {
  status: number;
  location: URL | undefined;
  clickId: string;
  /** The cookie that was set, as it is sent back. */
  cookie: string | undefined;
  headers: Headers;
  text: string;
}

/** Clicks as a phone's browser does, unless told otherwise. */
export async function click(
  app: { links: string },
  slug: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Click> {
  const sent = { 'user-agent': PHONE, ...headers };
  const answer = await fetch(`${app.links}/r/${slug}`, { method, redirect: 'manual', headers: sent });
  const location = answer.headers.get('location');
  const url = location === null ? undefined : new URL(location);
  return {
    status: answer.status,
    location: url,
    clickId: url?.searchParams.get('click_id') ?? '',
    cookie: answer.headers.get('set-cookie')?.split(';', 1)[0],
    headers: answer.headers,
    text: await answer.text(),
  };
}

const Stored = z.object({
  click_id: z.string(),
  brand_id: z.string(),
  creator_id: z.string(),
  currency: z.string(),
  at: z.string(),
  kind: z.string(),
  visitor: z.string(),
  country: z.string(),
  device: z.string(),
  referrer_host: z.string(),
});

/** What ClickHouse holds of a link once everything is drained, oldest first. */
export async function storedClicks({ context }: TestApp, linkId: string): Promise<z.output<typeof Stored>[]> {
  await drainClicks(context);
  const sql = `SELECT * EXCEPT (link_id) FROM clicks_v1 WHERE link_id = {link:String} ORDER BY at, click_id`;
  return await query(context.clickhouse, Stored, sql, { link: linkId });
}

/** How the link's clicks stand in the figures: counted ones, by the rollup. */
export async function countedClicks({ context }: TestApp, linkId: string): Promise<number> {
  const sql = 'SELECT sum(clicks) AS clicks FROM link_daily_v1 WHERE link_id = {link:String}';
  const [row] = await query(context.clickhouse, z.object({ clicks: integer }), sql, { link: linkId });
  return row?.clicks ?? 0;
}

/** What one scrape says. */
export async function metricsOf({ url }: TestApp, names: readonly string[]): Promise<number[]> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  return names.map((name) => Number(lines.find((one) => one.startsWith(`${name} `))?.split(' ')[1]));
}

export const metricOf = async (app: TestApp, name: string): Promise<number> =>
  (await metricsOf(app, [name]))[0] ?? Number.NaN;

/** The link that a short URL leads to, as the redirect finds it. */
export async function linkBySlug({ context }: TestApp, requested = ''): Promise<ClickedLink | undefined> {
  const slug = requested.toLowerCase();
  return (await listChangedLinks(context.postgres.db, new Map([[slug, { version: null }]]))).get(slug);
}
