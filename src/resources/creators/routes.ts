import { nothing, operation } from '../../operation.ts';
import { pageOf, paginationOf } from '../../page.ts';
import { toWire } from '../../wire.ts';
import { eachCreator, listCreators as findCreators, type ListedCreator } from './queries.ts';
import { Creator, CreatorFilter, CreatorList } from './schema.ts';

const noPerformance = { clicks: 0, conversions: 0, revenue: 0, commissions_earned: 0 };

const creatorOf = ({ igHandle, ttHandle, ...row }: ListedCreator) => ({
  ...toWire(row),
  photo_app: igHandle,
  video_app: ttHandle,
  performance: noPerformance,
});

async function* creatorsOf(rows: AsyncIterable<ListedCreator>) {
  for await (const row of rows) yield creatorOf(row);
}

export const listCreators = operation({
  id: 'list_creators',
  method: 'GET',
  path: '/v1/creators',
  tag: 'Creators',
  summary: "The brand's own creators",
  description:
    'Everybody who is or was on the roster, with what they brought; latest first. One of them is read at `/v1/roster/{id}`.',
  callers: ['brand'],
  params: nothing,
  query: CreatorFilter,
  body: nothing,
  response: CreatorList,
  hints: { readOnly: true, idempotent: true, destructive: false },
  handler: async ({ postgres }, { caller, query }) => {
    const page = pageOf(query);
    const { rows, total } = await findCreators(postgres.db, caller.brandId, query, page);
    return { data: rows.map((row) => Creator.parse(creatorOf(row))), pagination: paginationOf(page, total) };
  },
  csv: {
    item: Creator,
    rows: ({ postgres }, { caller, query }) => creatorsOf(eachCreator(postgres.db, caller.brandId, query)),
  },
});
