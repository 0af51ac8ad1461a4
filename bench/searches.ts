import { z } from 'zod';
import { toSort } from '../src/directory/search/order.ts';
import { buildFilter, toElasticQuery } from '../src/directory/search/query.ts';
import { fetchPage } from '../src/directory/search/search.ts';
import { CreatorSearchQuery, pageOfQuery, sortOfQuery } from '../src/directory/search/search.shapes.ts';
import { readPlaces } from '../src/directory/search/interpretation.ts';
import type { Elastic } from '../src/kit/engines/elastic/open.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { readJson, type Shot, type Target } from './load.ts';
import type { Kind, Parameters } from './queries.ts';

/** One query, as each side of a comparison sends it. */
export interface Search {
  kind: string;
  isDeep: boolean;
  parameters: Parameters;
  api: Shot;
  /** What a caller of Elasticsearch would send: `from` and `size`, an exact total, no request cache. */
  raw: Shot;
  /** What the API itself sends for the page, byte for byte. */
  same: Shot;
}

export interface Bodies {
  api: Shot[];
  raw: Shot[];
  same: Shot[];
}

function rawShot(index: string, parameters: Parameters): Shot {
  const query = CreatorSearchQuery.parse(parameters);
  const { offset, limit } = pageOfQuery(query);
  const body = {
    query: toElasticQuery(buildFilter(query, readPlaces(query)), sortOfQuery(query)),
    sort: toSort(sortOfQuery(query)),
    from: offset,
    size: limit,
    track_total_hits: true,
  };
  const path = `/${index}/_search?request_cache=false&filter_path=hits.total.value,hits.hits._source.card`;
  return { method: 'POST', path, body: JSON.stringify(body) };
}

/** Runs the API's own search code and records its last request, which is for the page. */
async function recordedShot({ directory }: Context, parameters: Parameters): Promise<Shot> {
  const query = CreatorSearchQuery.parse(parameters);
  let recorded: Shot | undefined;
  const elastic: Elastic = {
    ...directory.elastic,
    post: async (path, body, type) => {
      recorded = { method: 'POST', path, body: body.toString() };
      return await directory.elastic.post(path, body, type);
    },
  };
  const filter = buildFilter(query, readPlaces(query));
  const snapshot = await directory.snapshot();
  await fetchPage(elastic, directory.counts, snapshot, filter, sortOfQuery(query), pageOfQuery(query));
  if (!recorded) throw new Error(`The API requests no page for ${JSON.stringify(parameters)}.`);
  return recorded;
}

export async function prepareSearches(context: Context, kinds: readonly Kind[]): Promise<Search[]> {
  const { index } = await context.directory.snapshot();
  const searches: Search[] = [];
  for (const { name, isDeep, variants } of kinds) {
    for (const parameters of variants) {
      searches.push({
        kind: name,
        isDeep,
        parameters,
        api: { method: 'GET', path: `/v1/creators/search?${new URLSearchParams(parameters)}` },
        raw: rawShot(index, parameters),
        same: await recordedShot(context, parameters),
      });
    }
  }
  return searches;
}

const ApiAnswer = z.object({
  data: z.array(z.object({ pk: z.number() })),
  pagination: z.object({ total: z.number() }),
});
const RawAnswer = z.object({
  hits: z.object({
    total: z.object({ value: z.number() }),
    hits: z.array(z.object({ _source: z.object({ card: z.object({ pk: z.number() }) }) })).default([]),
  }),
});

/** Throws unless the API returns the same creators in the same order, and the same total, as Elasticsearch itself. */
export async function assertSameAnswers(api: Target, elastic: Target, searches: readonly Search[]): Promise<void> {
  for (const search of searches) {
    const answer = ApiAnswer.parse(await readJson(api, search.api));
    const { hits } = RawAnswer.parse(await readJson(elastic, search.raw));
    const ours = [answer.pagination.total, ...answer.data.map((creator) => creator.pk)];
    const theirs = [hits.total.value, ...hits.hits.map((hit) => hit._source.card.pk)];
    if (ours.length === 1) throw new Error(`${search.api.path} finds nothing.`);
    if (ours.join() !== theirs.join()) {
      throw new Error(`${search.api.path} answers ${ours.slice(0, 5)}…, Elasticsearch ${theirs.slice(0, 5)}….`);
    }
  }
}
