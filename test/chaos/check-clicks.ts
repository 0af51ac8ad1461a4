import { z } from 'zod';
import { integer, query } from '../../src/kit/engines/clickhouse/query.ts';
import type { Context } from '../../src/kit/operation/context.ts';
import type { ClickTally } from './clicks.ts';

const Stored = z.object({ click_id: z.string(), link_id: z.string(), kind: z.string(), times: integer });
type Stored = z.output<typeof Stored>;

const Rolled = z.object({ link_id: z.string(), clicks: integer });

export interface ClicksFound {
  stored: number;
  /** Of those that were not acknowledged. */
  unacknowledged: number;
  /** By link: those that count. */
  counted: Map<string, number>;
  differences: string[];
}

const EXAMPLES = 3;

/** A sentence for those that are not right, with a few of them. */
export function wrong(what: string, which: readonly string[]): string[] {
  return which.length === 0 ? [] : [`${which.length} ${what}: ${which.slice(0, EXAMPLES).join(', ')}`];
}

function compareEach(stored: readonly Stored[], { acknowledged, unsaid, broken }: ClickTally) {
  const found = new Map(stored.map((row) => [row.click_id, row]));
  const expected = [...acknowledged];
  const unknown = stored.filter(({ click_id }) => !acknowledged.has(click_id));
  const unheard = unknown.filter(({ click_id }) => !unsaid.has(click_id));
  const isOther = ([id, { linkId, kind }]: (typeof expected)[number]) => {
    const row = found.get(id);
    return row !== undefined && (row.link_id !== linkId || row.kind !== kind);
  };
  const ids = (rows: readonly (readonly [string, unknown])[]) => rows.map(([id]) => id);
  return {
    unacknowledged: unknown.length,
    differences: [
      ...wrong('acknowledged clicks are not stored', ids(expected.filter(([id]) => !found.has(id)))),
      ...wrong(
        'clicks are stored more than once',
        stored.filter(({ times }) => times > 1).map(({ click_id }) => click_id),
      ),
      ...wrong('clicks are stored as another kind or of another link', ids(expected.filter(isOther))),
      ...(unheard.length > broken ? [`${unheard.length} clicks nobody made, with ${broken} broken requests`] : []),
    ],
  };
}

async function compareRollup(context: Context, table: string, counted: ReadonlyMap<string, number>): Promise<string[]> {
  const sql = `SELECT link_id, sum(clicks) AS clicks FROM ${table} GROUP BY link_id HAVING clicks > 0`;
  const rolled = new Map((await query(context.clickhouse, Rolled, sql)).map((row) => [row.link_id, row.clicks]));
  const links = [...new Set([...counted.keys(), ...rolled.keys()])];
  const differing = links.filter((link) => counted.get(link) !== rolled.get(link));
  return wrong(
    `links differ in ${table}`,
    differing.map((link) => `${link} ${rolled.get(link) ?? 0} for ${counted.get(link) ?? 0}`),
  );
}

/** Every acknowledged click is in ClickHouse once and counted once, any other at most once. */
export async function checkClicks(context: Context, tally: ClickTally): Promise<ClicksFound> {
  const sql = `SELECT click_id, any(link_id) AS link_id, any(kind) AS kind, count() AS times FROM clicks_v1 GROUP BY click_id`;
  const stored = await query(context.clickhouse, Stored, sql);
  const counted = new Map<string, number>();
  for (const { link_id, kind } of stored) {
    if (kind === 'counted') counted.set(link_id, (counted.get(link_id) ?? 0) + 1);
  }
  const { unacknowledged, differences } = compareEach(stored, tally);
  for (const table of ['link_daily_v1', 'link_life_v1']) {
    differences.push(...(await compareRollup(context, table, counted)));
  }
  return { stored: stored.length, unacknowledged, counted, differences };
}
