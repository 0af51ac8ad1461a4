import type { Context } from '../kit/operation/context.ts';
import { read } from '../kit/operation/kit.ts';
import { noun } from '../kit/operation/noun.ts';
import { fromMinor } from '../kit/values/decimals.ts';
import { toPage, toPagination } from '../kit/values/page.ts';
import { mapInBatches, toWire } from '../kit/values/wire.ts';
import { getBrandCurrency } from '../platform/brands/brands.ts';
import { Creator, CreatorFilter, CreatorList } from '../workflow/creators/creators.shapes.ts';
import {
  eachCreator,
  listCreators as findCreators,
  type ListedCreator,
  listMerged,
} from '../workflow/creators/creators.ts';
import { withFreshness, withFreshRows } from './figures/freshness.ts';
import { type CurrencyFigures, FRESHNESS } from './figures/sums.ts';
import { listCreatorFigures, type MergedCreators } from './figures/totals.ts';

const toMoney = ({ currency, revenueMinor, commissionMinor }: CurrencyFigures) => ({
  revenue: fromMinor(revenueMinor, currency),
  commissions_earned: fromMinor(commissionMinor, currency),
});

/** Money in the brand's currency, and separately in others. */
function toPerformance(figures: readonly CurrencyFigures[], currency: string): Creator['performance'] {
  const own = figures.find((one) => one.currency === currency);
  const others = figures.filter((one) => one !== own && (one.revenueMinor !== 0 || one.commissionMinor !== 0));
  return {
    clicks: figures.reduce((sum, { clicks }) => sum + clicks, 0),
    conversions: figures.reduce((sum, { conversions }) => sum + conversions, 0),
    ...(own ? toMoney(own) : { revenue: 0, commissions_earned: 0 }),
    by_currency: others.map((one) => ({ currency: one.currency, ...toMoney(one) })),
  };
}

/** The brand of the creators and its currency. */
interface Owner {
  brandId: string;
  currency: string;
  merged: MergedCreators;
}

async function findOwner({ db }: Context['postgres'], brandId: string): Promise<Owner> {
  const [currency, mergedCreators] = await Promise.all([getBrandCurrency(db, brandId), listMerged(db, brandId)]);
  return { brandId, currency, merged: mergedCreators };
}

/** Creators with their all-time results. */
async function toCreators(
  clickhouse: Context['clickhouse'],
  { brandId, currency, merged }: Owner,
  rows: readonly ListedCreator[],
): Promise<Creator[]> {
  const figures = await listCreatorFigures(
    clickhouse,
    brandId,
    rows.map(({ id }) => id),
    merged,
  );
  return rows.map(({ igHandle, ttHandle, ...row }) => ({
    ...toWire(row),
    photo_app: igHandle,
    video_app: ttHandle,
    on_roster: row.rosterStatus !== 'removed',
    roster_id: row.entryId,
    performance: toPerformance(figures.get(row.id) ?? [], currency),
  }));
}

/** Streams creators with their results, for a list of any length. */
async function* eachCreatorResult(
  { postgres, clickhouse }: Pick<Context, 'postgres' | 'clickhouse'>,
  brandId: string,
  rows: AsyncIterable<ListedCreator>,
): AsyncGenerator<Creator> {
  // Read before the first row: from then on this call holds a connection, and waiting for a second one could deadlock.
  const owner = await findOwner(postgres, brandId);
  yield* mapInBatches(rows, (part) => toCreators(clickhouse, owner, part));
}

const listCreators = read({
  id: 'list_creators',
  path: '/v1/creators',
  tag: 'Creators',
  summary: 'List your creators',
  description:
    'Every creator who is or was on the roster, with their results, last added first. Read one at ' +
    `\`/v1/roster/{id}\`. ${FRESHNESS}`,
  forAgents: {
    description: 'Every creator who is or was on the roster, with their results, last added first.',
    example: { search: 'ana' },
  },
  query: CreatorFilter,
  response: CreatorList,
  handler: (context, call) =>
    withFreshness(context, call, async () => {
      const [{ brandId }, page] = [call.caller, toPage(call.query)];
      const [owner, { rows, total }] = await Promise.all([
        findOwner(context.postgres, brandId),
        findCreators(context.postgres.db, brandId, call.query, page),
      ]);
      const data = await toCreators(context.clickhouse, owner, rows);
      return { data, pagination: toPagination(page, total) };
    }),
  csv: {
    item: Creator,
    rows: (context, call) => {
      const { caller, query } = call;
      const creators = eachCreator(context.postgres.exports, caller.brandId, query);
      return withFreshRows(context, call, eachCreatorResult(context, caller.brandId, creators));
    },
  },
});

const creatorOperations = [listCreators] as const;

export const creatorsNoun = noun({
  name: 'creators',
  tag: {
    name: 'Creators',
    about: 'The creators that your brand works with or has worked with, and what they earned.',
  },
  ids: { creators: 'crt' },
  operations: creatorOperations,
});
