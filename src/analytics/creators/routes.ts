import { read } from '../../kit/operation/kit.ts';
import { pageOf, paginationOf } from '../../kit/values/page.ts';
import { eachCreator, listCreators as findCreators } from '../../workflow/creators/queries.ts';
import { Creator, CreatorFilter, CreatorList } from '../../workflow/creators/schema.ts';
import { fresh, freshRows } from '../figures/queries.ts';
import { FRESHNESS } from '../figures/schema.ts';
import { creatorsOf, eachCreatorOf, ownerOf } from './actions.ts';

const listCreators = read({
  id: 'list_creators',
  path: '/v1/creators',
  tag: 'Creators',
  summary: "The brand's own creators",
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
    fresh(context, call, async () => {
      const [{ brandId }, page] = [call.caller, pageOf(call.query)];
      const [owner, { rows, total }] = await Promise.all([
        ownerOf(context.postgres, brandId),
        findCreators(context.postgres.db, brandId, call.query, page),
      ]);
      const data = await creatorsOf(context.clickhouse, owner, rows);
      return { data, pagination: paginationOf(page, total) };
    }),
  csv: {
    item: Creator,
    rows: (context, call) => {
      const { caller, query } = call;
      const creators = eachCreator(context.postgres.exports, caller.brandId, query);
      return freshRows(context, call, eachCreatorOf(context, caller.brandId, creators));
    },
  },
});

export const creatorOperations = [listCreators] as const;
