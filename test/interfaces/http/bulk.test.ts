import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBulk } from '../../../src/kit/engines/elastic/bulk.ts';
import {
  countDocuments,
  createQuietIndex,
  deleteIndex,
  refreshIndex,
} from '../../../src/kit/engines/elastic/indices.ts';
import { type Elastic, openElastic } from '../../../src/kit/engines/elastic/open.ts';
import { unique } from '../../harness/app.ts';
import { type Refusal, startBusyElastic } from '../../harness/kit/busy-elastic.ts';

let busy: Awaited<ReturnType<typeof startBusyElastic>>;
let elastic: Elastic;

beforeAll(async () => {
  busy = await startBusyElastic();
  elastic = openElastic(busy.url);
});
afterAll(async () => {
  await elastic?.close();
  await busy?.close();
});

/** Writes 20 documents in 4 bodies; returns how many are there, which rows were acknowledged, and what was said. */
async function write(refusals: readonly Refusal[], patienceMs?: number) {
  const index = unique('bulk');
  await createQuietIndex(elastic, index, { settings: { index: { number_of_replicas: 0 } }, mappings: {} });
  busy.refuseNext(refusals);
  const acknowledged: number[] = [];
  const reasons: string[] = [];
  const bulk = openBulk(elastic, index, {
    onAcknowledged: (row) => void acknowledged.push(row),
    onRetry: (reason) => void reasons.push(reason),
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });
  try {
    for (let row = 1; row <= 20; row += 1) {
      bulk.add(`{"index":{"_id":"${row}"}}\n{"row":${row}}\n`);
      if (row % 5 === 0) await bulk.send(row);
    }
    await bulk.drain();
    await refreshIndex(elastic, index);
    return { documents: await countDocuments(elastic, index), acknowledged, reasons };
  } finally {
    await deleteIndex(elastic, index);
  }
}

describe('a bulk body that a busy Elasticsearch rejects', () => {
  it.each<[string, Refusal[]]>([
    ['429', [429, 429, 429, 429, 429, 429]],
    ['503', [503, 503, 503]],
    ['200 with every document rejected', ['documents', 'documents']],
    ['now this, now that', [429, 'documents', 503, 'documents', 429]],
  ])('is sent again until all of it is accepted: %s', async (_, refusals) => {
    const before = busy.refused();
    const { documents, acknowledged } = await write(refusals);
    expect(busy.refused() - before).toBe(refusals.length);
    expect(documents).toBe(20);
    expect(acknowledged.at(-1)).toBe(20);
    expect(acknowledged).toEqual([...acknowledged].sort((a, b) => a - b));
  });

  it('reports why it retries, and gives up with the reason when its time is over', async () => {
    const always = Array.from({ length: 200 }, () => 503 as const);
    await expect(write(always, 300)).rejects.toThrow(/did not accept a batch for 0 s: .*queue is full/);
  });
});
