import { ignoreFailure } from '../../values/errors.ts';
import type { Elastic } from './open.ts';

/** As many as Elasticsearch returns at most. */
const PAGE = 10_000;
const SORTED = /"sort":\[(\d+),(-?\d+),(-?\d+)\]/g;
/** Elasticsearch sorts a missing value by this number. */
const MISSING = '9223372036854775807';
const LAST = { order: 'asc', unmapped_type: 'long', missing: '_last' };

/** Creators in the order of their `pk`. */
export interface HashPage {
  pks: number[];
  /** The hash of each one's content; null if the document has none. */
  hashes: (string | null)[];
  /** The time of each document's last change, in milliseconds since 1970; null if it has none. */
  changedAts: (number | null)[];
}

type Position = [pk: number, hash: string, changedAt: string];

async function readPage(elastic: Elastic, index: string, after: Position | undefined): Promise<HashPage> {
  const body = {
    size: PAGE,
    track_total_hits: false,
    _source: false,
    stored_fields: '_none_',
    // Values after the pk decide nothing; a sort value costs less than reading the document.
    sort: [{ 'card.pk': 'asc' }, { 'x.content_hash': LAST }, { 'x.changed_at': LAST }],
    ...(after ? { search_after: after } : {}),
  };
  const path = `/${index}/_search?filter_path=hits.hits.sort&allow_partial_search_results=false`;
  const bytes = await elastic.post(path, JSON.stringify(body));
  const page: HashPage = { pks: [], hashes: [], changedAts: [] };
  for (const [, pk, hash = MISSING, changedAt = MISSING] of bytes.toString('latin1').matchAll(SORTED)) {
    page.pks.push(Number(pk));
    page.hashes.push(hash === MISSING ? null : hash);
    page.changedAts.push(changedAt === MISSING ? null : Number(changedAt));
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
    const [hash, changedAt] = [page.hashes.at(-1) ?? MISSING, page.changedAts.at(-1)];
    reading = isLast ? undefined : readPage(elastic, index, [last, hash, changedAt ? String(changedAt) : MISSING]);
    reading?.catch(ignoreFailure('awaiting the page reports it'));
    yield page;
  }
}
