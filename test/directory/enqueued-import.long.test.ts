import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { findImport } from '../../src/directory/imports/indexing/records.ts';
import { generateCreators, sampleSource } from '../../src/directory/imports/indexing/sample.ts';
import { type RollcallProcess, startWorkerProcess, until } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';
import { FORCED, makeDirectory, type TestDirectory, watchSearches } from '../harness/directory/indexer.ts';

const ndjson = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

let directory: TestDirectory;
beforeAll(async () => {
  directory = await makeDirectory();
});
afterAll(() => directory.close());

describe('an enqueued import whose worker is killed with kill -9', () => {
  /** A fast worker has some five thousand rows at its first checkpoint, and is killed at two. */
  const count = 30_000;
  const running: RollcallProcess[] = [];
  let own: TestDirectory;

  beforeAll(async () => {
    // Jobs of its own: another test's worker would take one, not know its row, and drop it.
    own = await makeDirectory({ redis: ownRedis() });
  });
  afterAll(async () => {
    for (const worker of running) await worker.kill();
    await own?.close();
  });

  async function work(): Promise<RollcallProcess> {
    const worker = await startWorkerProcess(own.engines.alias, { ...own.env, WORKER_LOST_AFTER_MS: '1000' });
    running.push(worker);
    return worker;
  }

  const status = async () => (await own.run('status')).out;

  it('continues from its checkpoint in the next worker, and searches never see part of it', async () => {
    const creators = [...generateCreators(count, 2)];
    await importDirectory(own.engines, { source: sampleSource(1_000, 1), ...FORCED });
    const { seen, stop } = watchSearches(own);
    const file = await own.file('killed.ndjson', ndjson(creators));
    const id = (await own.run('import', file, '--enqueue')).out.trim();
    const row = () => findImport(own.engines.db, id);
    /** Elasticsearch numbers every write: were the first row sent again, it would get another number. */
    const firstWrite = async (index: string) =>
      (await own.elastic.client.get({ index, id: String(creators[0]?.pk) }))._seq_no;

    let position = 0;
    const writes = new Set<string>();
    for (const kill of ['first', 'second']) {
      const worker = await work();
      const isFurther = async () => ((await row())?.position ?? 0) > position;
      await until(`a new checkpoint before the ${kill} kill`, isFurther);
      await worker.kill();
      const checkpoint = await row();
      position = checkpoint?.position ?? 0;
      expect(checkpoint?.state).toBe('building');
      writes.add(`${checkpoint?.indexName} ${await firstWrite(checkpoint?.indexName ?? '')}`);
      expect(await status()).toMatch(new RegExp(`${id} stopped: [\\d,]+ rows, \\d+% of .+\nwriting   nobody`));
    }
    const last = await work();
    await until('the import to be live', async () => (await row())?.state === 'live');
    await until('a search of all of it', () => seen.has(count));
    await stop();
    await last.stop();
    const { indexName, position: end } = (await row()) ?? {};
    writes.add(`${indexName} ${await firstWrite(indexName ?? '')}`);
    expect([...writes]).toHaveLength(1);
    expect(end).toBe(count);
    expect([...seen]).toEqual([1_000, count]);
    expect(await status()).toMatch(
      new RegExp(`^live +${indexName}: 30,000 creators.+\nprevious.+\nwriting   nobody\n$`),
    );
    expect(await own.run('verify')).toMatchObject({ code: 0 });
  });
});
