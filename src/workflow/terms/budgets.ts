import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { currencyField } from '../../kit/values/fields.ts';
import { toMinor } from '../../kit/values/money.ts';
import { monthIn } from '../../kit/values/time-zone.ts';
import type { TermsPlace } from './places.ts';
import type { Terms } from './terms.shapes.ts';

const minor = z.number().int();

export const Budgets = z
  .array(
    z.object({
      currency: currencyField,
      per: z
        .enum(['month', 'ever'])
        .describe("`month`: the figures are of this month in the brand's time zone.")
        .meta({ example: 'month' }),
      limit_minor: minor.describe('The most that is paid, in minor units.').meta({ example: 500_000 }),
      used_minor: minor
        .describe('How much of it paid orders use: pending, approved and paid commissions.')
        .meta({ example: 120_000 }),
      left_minor: minor.describe('What is left; 0 when it is spent.').meta({ example: 380_000 }),
    }),
  )
  .describe('How much of the budget of its own terms is used, by currency; empty without a budget.')
  .meta({ example: [] });
type Budget = z.output<typeof Budgets>[number];

/** A commission in SQL named `one`, without what was taken back of it. */
export const NET_COMMISSION = sql`(one.commission_minor - coalesce((
  select sum(back.amount_minor) from commission_adjustments as back
  where back.brand_id = one.brand_id and back.commission_id = one.id), 0))`;

/** A place with the terms that it has. */
interface PlaceWithTerms {
  place: TermsPlace;
  placeId: string;
  terms: Terms | null;
}

/** Sums what paid orders that are not rejected pay, by place and currency: of this month and of all time. */
async function sumPlaces(db: Db, brandId: string, now: Date, places: readonly PlaceWithTerms[]) {
  const { start, end } = monthIn(await getTimeZone(db, brandId), now);
  const ids = places.map(({ placeId }) => placeId);
  const linkIds = places.flatMap(({ place, placeId }) => (place === 'link' ? [placeId] : []));
  const { rows } = await sql<{ placeId: string; currency: string; monthMinor: number; everMinor: number }>`
    select place_id, currency, sum(minor)::bigint as ever_minor,
      coalesce(sum(minor) filter (where occurred_at >= ${start} and occurred_at < ${end}), 0)::bigint as month_minor
    from (
      select version.place_id, one.currency, one.occurred_at, ${NET_COMMISSION} as minor
      from terms as version join commissions as one on one.brand_id = version.brand_id and one.terms_id = version.id
      where version.brand_id = ${brandId} and version.place_id = any(${ids}::text[])
        and one.paid_at is not null and one.status <> 'rejected'
      union all
      select one.link_id, one.currency, one.occurred_at, ${NET_COMMISSION} from commissions as one
      where one.brand_id = ${brandId} and one.link_id = any(${linkIds}::text[]) and one.terms_id is null
        and one.paid_at is not null and one.status <> 'rejected'
    ) as paid group by place_id, currency`.execute(db);
  return rows;
}

/** Lists the budgets of places by the places' ids. What orders of all versions of a place pay counts. */
export async function listBudgets(
  db: Db,
  brandId: string,
  now: Date,
  places: readonly PlaceWithTerms[],
): Promise<Map<string, Budget[]>> {
  const limitedPlaces = places.filter(({ terms }) => terms?.budget);
  const sums = limitedPlaces.length === 0 ? [] : await sumPlaces(db, brandId, now, limitedPlaces);
  const budgets = limitedPlaces.map(({ placeId, terms }): [string, Budget[]] => {
    const { per, amount } = terms?.budget ?? { per: 'ever', amount: {} };
    return [
      placeId,
      Object.entries(amount).map(([currency, limit]) => {
        const sum = sums.find((one) => one.placeId === placeId && one.currency === currency);
        const usedMinor = (per === 'month' ? sum?.monthMinor : sum?.everMinor) ?? 0;
        const limitMinor = toMinor(limit, currency) ?? 0;
        const leftMinor = Math.max(0, limitMinor - usedMinor);
        return { currency, per, limit_minor: limitMinor, used_minor: usedMinor, left_minor: leftMinor };
      }),
    ];
  });
  return new Map(budgets);
}
