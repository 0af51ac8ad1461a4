import { ignoreFailure } from '../../values/errors.ts';
import type { Elastic } from './open.ts';

/** As many as Elasticsearch returns at most. */
const PAGE = 10_000;
const PAIR = /"sort":\[(\d+),(-?\d+)\]/g;
/** What Elasticsearch sorts a missing value by. */
const MISSING = '9223372036854775807';

/** Creators in the order of their `pk`, with the hash of their content; null if the document has none. */
export interface HashPage {
  pks: number[];
  hashes: (string | null)[];
}

async function readPage(elastic: Elastic, index: string, after: [number, string] | undefined): Promise<HashPage> {
  const body = {
    ...{ size: PAGE, track_total_hits: false, _source: false, stored_fields: '_none_' },
    sort: [{ 'card.pk': 'asc' }, { 'x.content_hash': { order: 'asc', unmapped_type: 'long', missing: '_last' } }],
    ...(after ? { search_after: after } : {}),
  };
  const path = `/${index}/_search?filter_path=hits.hits.sort&allow_partial_search_results=false`;
  const bytes = await elastic.post(path, JSON.stringify(body));
  const page: HashPage = { pks: [], hashes: [] };
  for (const [, pk, hash = MISSING] of bytes.toString('latin1').matchAll(PAIR)) {
    page.pks.push(Number(pk));
    page.hashes.push(hash === MISSING ? null : hash);
  }
  return page;
}

/** Every creator of an index by `pk`, a page at a time; the next page is read ahead. */
export async function* readHashes(elastic: Elastic, index: string): AsyncGenerator<HashPage> {
  let reading: Promise<HashPage> | undefined = readPage(elastic, index, undefined);
  while (reading) {
    const page: HashPage = await reading;
    const last = page.pks.at(-1);
    const isLast = last === undefined || page.pks.length < PAGE;
    reading = isLast ? undefined : readPage(elastic, index, [last, page.hashes.at(-1) ?? MISSING]);
    reading?.catch(ignoreFailure('awaiting the page reports it'));
    yield page;
  }
}
