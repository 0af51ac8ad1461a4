import { sql } from 'kysely';
import { insertOnce } from '../../../src/kit/engines/clickhouse/insert.ts';
import { newId } from '../../../src/kit/values/ids.ts';
import type { Assignment } from '../analytics/figures.ts';
import { type TestApp, unique } from '../app.ts';

const FIRST = Date.UTC(2026, 0, 1);
const COLUMNS = ['click_id', 'brand_id', 'link_id', 'creator_id', 'currency', 'at', 'kind'];

/** When the link in this place of `putManyLinks` was made. */
export const madeAt = (index: number): Date => new Date(FIRST + index);

/** Codes of the creators by turns, each made a millisecond after the one before and clicked once; every third in euros. */
export async function putManyLinks(
  { context }: TestApp,
  brandId: string,
  creators: readonly { id: string; email: string }[],
  count: number,
): Promise<Assignment[]> {
  const links = Array.from({ length: count }, (_, index) => {
    const { id: creatorId = '', email = '' } = creators[index % creators.length] ?? {};
    const currency = index % 3 === 0 ? 'EUR' : 'USD';
    return { brandId, creatorId, linkId: newId('lnk', FIRST + index), currency, email, value: unique('CODE') };
  });
  const times = links.map((_, index) => madeAt(index).toISOString());
  await sql`
    insert into links (id, brand_id, creator_id, type, value, commission_rate_ppm, hold_days, attribution_days, currency,
      active, created_at)
    select id, ${brandId}, creator_id, 'discount_code', value, 100000, 30, 30, currency, true, created_at
    from unnest(${links.map(({ linkId }) => linkId)}::text[], ${links.map(({ creatorId }) => creatorId)}::text[],
      ${links.map(({ value }) => value)}::text[], ${links.map(({ currency }) => currency)}::text[],
      ${times}::timestamptz[]) as given (id, creator_id, value, currency, created_at)`.execute(context.postgres.db);
  const clicks = links.map(({ linkId, creatorId, currency }) => {
    const at = '2026-02-01 12:00:00.000';
    return `${[newId('clk', FIRST), brandId, linkId, creatorId, currency, at, 'counted'].join('\t')}\n`;
  });
  await insertOnce(context.clickhouse, 'clicks_v1', COLUMNS, clicks.join(''), unique('clicks'));
  return links;
}
