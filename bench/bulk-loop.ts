import { readDefinition } from '../src/directory/imports/indexing/index-definition.ts';
import { toDocument } from '../src/directory/search/document.ts';
import { createQuietIndex, deleteIndex } from '../src/kit/engines/elastic/indices.ts';
import { type Elastic, openElastic } from '../src/kit/engines/elastic/open.ts';
import { creatorsOf } from './directory-file.ts';

const INDEX = 'bench-bulk-loop';
const SLOWEST_BODY_MS = 60_000;

export interface BatchSize {
  documents: number;
  inFlight: number;
}

/** Bodies for `_bulk`, prepared in advance, so that the loop only sends. */
function prepareBodies(creators: number, documentsEach: number): Buffer[] {
  const bodies: Buffer[] = [];
  let lines: string[] = [];
  const flush = () => {
    if (lines.length > 0) bodies.push(Buffer.from(lines.join('')));
    lines = [];
  };
  for (const row of creatorsOf(creators)) {
    lines.push(`{"index":{"_id":"${row.pk}"}}\n${JSON.stringify(toDocument(row))}\n`);
    if (lines.length === documentsEach) flush();
  }
  flush();
  return bodies;
}

async function sendAll(elastic: Elastic, bodies: readonly Buffer[], inFlight: number): Promise<void> {
  const left = bodies.values();
  const work = async () => {
    for (const body of left) {
      const answer = await elastic.post(`/${INDEX}/_bulk?filter_path=errors`, body, {
        contentType: 'application/x-ndjson',
      });
      if (answer.toString() !== '{"errors":false}')
        throw new Error('Elasticsearch refused a document of the bulk loop.');
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
}

/** Documents per second of the minimal loop: prepared bodies into an index with the same mapping and sort. */
export async function bulkLoop(url: string, creators: number, size: BatchSize): Promise<number> {
  const elastic = openElastic(url, { timeoutMs: SLOWEST_BODY_MS });
  try {
    const bodies = prepareBodies(creators, size.documents);
    await deleteIndex(elastic, INDEX);
    await createQuietIndex(elastic, INDEX, (await readDefinition()).definition);
    const from = performance.now();
    await sendAll(elastic, bodies, size.inFlight);
    return (creators * 1000) / (performance.now() - from);
  } finally {
    await deleteIndex(elastic, INDEX);
    await elastic.close();
  }
}
