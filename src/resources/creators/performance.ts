import type { Context } from '../../context.ts';
import { fromMinor } from '../../money.ts';
import { toWire } from '../../wire.ts';
import { getBrandCurrency } from '../brands/queries.ts';
import { byCreator } from '../figures/queries.ts';
import type { CurrencyFigures } from '../figures/schema.ts';
import type { ListedCreator } from './queries.ts';
import { Creator } from './schema.ts';

const CHUNK = 200;

const moneyOf = ({ currency, revenueMinor, commissionMinor }: CurrencyFigures) => ({
  revenue: fromMinor(revenueMinor, currency),
  commissions_earned: fromMinor(commissionMinor, currency),
});

/** Money in the brand's currency, and what came in others beside it. */
function performanceOf(figures: readonly CurrencyFigures[], currency: string): Creator['performance'] {
  const own = figures.find((one) => one.currency === currency);
  const others = figures.filter((one) => one !== own && (one.revenueMinor !== 0 || one.commissionMinor !== 0));
  return {
    clicks: figures.reduce((sum, { clicks }) => sum + clicks, 0),
    conversions: figures.reduce((sum, { conversions }) => sum + conversions, 0),
    ...(own ? moneyOf(own) : { revenue: 0, commissions_earned: 0 }),
    by_currency: others.map((one) => ({ currency: one.currency, ...moneyOf(one) })),
  };
}

/** Creators with what they brought over all time. */
export async function creatorsOf(
  { postgres, clickhouse }: Pick<Context, 'postgres' | 'clickhouse'>,
  brandId: string,
  rows: readonly ListedCreator[],
): Promise<Creator[]> {
  const ids = rows.map(({ id }) => id);
  const [currency, figures] = await Promise.all([
    getBrandCurrency(postgres.db, brandId),
    byCreator(clickhouse, brandId, ids),
  ]);
  return rows.map(({ igHandle, ttHandle, ...row }) =>
    Creator.parse({
      ...toWire(row),
      photo_app: igHandle,
      video_app: ttHandle,
      performance: performanceOf(figures.get(row.id) ?? [], currency),
    }),
  );
}

/** The same for a list of any length, some at a time. */
export async function* eachCreatorOf(
  context: Pick<Context, 'postgres' | 'clickhouse'>,
  brandId: string,
  rows: AsyncIterable<ListedCreator>,
): AsyncGenerator<Creator> {
  let chunk: ListedCreator[] = [];
  for await (const row of rows) {
    chunk.push(row);
    if (chunk.length < CHUNK) continue;
    yield* await creatorsOf(context, brandId, chunk);
    chunk = [];
  }
  yield* await creatorsOf(context, brandId, chunk);
}
