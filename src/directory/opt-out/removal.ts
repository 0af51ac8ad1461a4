import { z } from 'zod';
import { postBulk } from '../../kit/engines/elastic/bulk.ts';
import { getMappingVersion, indexBehind, refreshIndex, wereLive } from '../../kit/engines/elastic/indices.ts';
import { ElasticsearchRefusal } from '../../kit/engines/elastic/nodes.ts';
import type { Elastic } from '../../kit/engines/elastic/open.ts';
import { listForms } from '../../kit/values/email.ts';
import type { DirectoryEngines } from '../imports/indexing/writer.ts';
import { MAPPING_VERSION } from '../search/document.ts';
import type { ForgottenSet } from './forgotten.ts';
import { KINDS, type Name, type NameFields } from './hashes.ts';
import { countTaken, listReadyIndices } from './opt-out.ts';

const PAGE = 5_000;
const FIELDS = ['card.pk', 'card.username', 'card.extracted_email'];

const Hits = z.object({
  hits: z.object({
    hits: z.array(
      z.object({
        _source: z.object({
          card: z.object({ pk: z.number(), username: z.string(), extracted_email: z.string().nullish() }),
        }),
      }),
    ),
  }),
});

/** Creators of an index by `pk`, one page at a time. */
async function* readNamed(elastic: Elastic, index: string, query: object): AsyncGenerator<NameFields[]> {
  const path = `/${index}/_search?filter_path=hits.hits._source&allow_partial_search_results=false`;
  for (let after = -1; ; ) {
    const body = {
      size: PAGE,
      track_total_hits: false,
      query,
      _source: FIELDS,
      sort: [{ 'card.pk': 'asc' }],
      search_after: [after],
    };
    const bytes = await elastic.post(path, JSON.stringify(body));
    // The path leaves an empty answer without its hits.
    const page = (Hits.safeParse(JSON.parse(bytes.toString('utf8'))).data?.hits.hits ?? []).map(
      ({ _source }) => _source.card,
    );
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.pk ?? after;
  }
}

async function gather(
  pages: AsyncGenerator<NameFields[]>,
  matches: (row: NameFields) => boolean,
): Promise<NameFields[]> {
  const matchingRows: NameFields[] = [];
  for await (const page of pages) matchingRows.push(...page.filter(matches));
  return matchingRows;
}

/** The creators of an index who opted out; every document is read. */
export const scan = (elastic: Elastic, index: string, forgotten: ForgottenSet): Promise<NameFields[]> =>
  gather(readNamed(elastic, index, { match_all: {} }), forgotten.has);

const listValues = ({ kind, value }: Name) => (kind === 'email' ? listForms(value) : [value]);

const FIELD = { pk: 'card.pk', username: 'card.username', email: 'card.extracted_email' } as const;

/** The creators of an index with one of these names; `forgotten` finds an email where the mapping cannot. */
export async function findNamed(
  elastic: Elastic,
  index: string,
  names: readonly Name[],
  forgotten: ForgottenSet,
): Promise<NameFields[]> {
  const hasEmail = names.some(({ kind }) => kind === 'email');
  if (hasEmail && (await getMappingVersion(elastic, index)) < MAPPING_VERSION) {
    return await scan(elastic, index, forgotten);
  }
  const should = KINDS.map((kind) => ({
    terms: { [FIELD[kind]]: names.flatMap((name) => (name.kind === kind ? listValues(name) : [])) },
  }));
  return await gather(readNamed(elastic, index, { bool: { filter: [{ bool: { should } }] } }), () => true);
}

/** Every version that is or may become live: the live one, those before it, and complete imports. */
export async function listVersions({ elastic, db, alias }: DirectoryEngines): Promise<string[]> {
  const [live, earlierIndices, ready] = [
    await indexBehind(elastic, alias),
    await wereLive(elastic, alias),
    await listReadyIndices(db, alias),
  ];
  return [...new Set([...(live === undefined ? [] : [live]), ...[...earlierIndices].sort().reverse(), ...ready])];
}

/** Removes creators from an index; searches no longer see them when this resolves. */
export async function takeOut(
  { elastic, db, clock }: DirectoryEngines,
  index: string,
  creators: readonly NameFields[],
  leastVersion: number,
): Promise<void> {
  if (creators.length === 0) return;
  // Above the version of every earlier write, so that a write that is still under way is rejected.
  const version = Math.max(clock.now().getTime() * 1_000, leastVersion);
  const lines = creators.map(
    ({ pk }) => `{"delete":{"_id":"${pk}","version":${version},"version_type":"external_gte"}}\n`,
  );
  for (let i = 0; i < lines.length; i += PAGE) await postBulk(elastic, index, lines.slice(i, i + PAGE).join(''));
  await refreshIndex(elastic, index);
  await countTaken(db, index, creators.length);
}

/** Tells if an index was removed in the meantime. */
export const isGone = (error: unknown): boolean => error instanceof ElasticsearchRefusal && error.status === 404;
