import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { enqueueImport, startImportWorker } from '../../src/directory/imports/indexing/jobs.ts';
import { findImport, updateImport } from '../../src/directory/imports/indexing/queries.ts';
import { generateCreators, sampleSource } from '../../src/directory/imports/indexing/sample.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { readStatus } from '../../src/directory/imports/indexing/status.ts';
import { systemClock } from '../../src/kit/values/clock.ts';
import { openRepeatedFailures } from '../../src/kit/values/repeated-failures.ts';
import { type RollcallProcess, startWorkerProcess, unique, until } from '../harness/app.ts';
import { ownRedis } from '../harness/clicks.ts';
import { creator } from '../harness/directory.ts';
import { FORCED, makeDirectory, type TestDirectory, watchSearches } from '../harness/indexer.ts';

const ndjson = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

let directory: TestDirectory;
beforeAll(async () => {
  directory = await makeDirectory();
});
afterAll(() => directory.close());

describe('an enqueued import', () => {
  /** A worker in this process, on a queue of its own. */
  async function startImports() {
    const log = pino({ level: 'silent' });
    const context = {
      log,
      failures: openRepeatedFailures(log, systemClock),
      elastic: directory.elastic,
      postgres: directory.postgres,
      clock: directory.engines.clock,
      secrets: directory.engines.secrets(),
      config: readConfig({ DIRECTORY_ALIAS: directory.engines.alias }),
    };
    const worker = startImportWorker(context, directory.env.REDIS_URL ?? '', { prefix: unique('queue') });
    await worker.sweep();
    return worker;
  }

  it('is run by a worker, shows its progress in the status, and survives a lost queue', async () => {
    const { engines, env } = directory;
    const file = await directory.file('enqueued.ndjson', ndjson([...generateCreators(30_000, 12)]));
    // The queue of another prefix: this worker never gets the job itself and must make it again from the row.
    const id = await enqueueImport(
      engines,
      env.REDIS_URL ?? '',
      { files: [file], ...FORCED },
      { prefix: unique('lost') },
    );
    const waiting = await directory.run('status');
    expect(waiting.out).toContain(`${id} queued: 0 rows`);
    const worker = await startImports();
    const shares = new Set<number | null>();
    await until('the enqueued import to be live', async () => {
      const { imports, live } = await readStatus(engines);
      for (const row of imports) if (row.state === 'building') shares.add(row.progress);
      return live?.documents === 30_000;
    });
    expect([...shares].some((share) => share !== null && share > 0)).toBe(true);
    await until('the import to be recorded', async () => (await findImport(engines.db, id))?.state === 'live');
    await worker.close();
  });

  it('is live and not rebuilt if its worker died before recording the swap', async () => {
    const { engines, env } = directory;
    const file = await directory.file('swapped.ndjson', ndjson([creator(1)]));
    const id = await enqueueImport(
      engines,
      env.REDIS_URL ?? '',
      { files: [file], ...FORCED },
      { prefix: unique('lost') },
    );
    const { index } = await importDirectory(engines, { source: await openFiles([file]), ...FORCED });
    await updateImport(engines.db, id, { state: 'verified', swappedAt: null, updatedAt: engines.clock.now() });
    const worker = await startImports();
    await until('the import to be recorded', async () => (await findImport(engines.db, id))?.state === 'live');
    await worker.close();
    expect(await readStatus(engines)).toMatchObject({ live: { name: index }, imports: [], writer: undefined });
  });

  it('goes live even if its worker died before creating the index', async () => {
    const { engines, env } = directory;
    const file = await directory.file('unmade.ndjson', ndjson([creator(1), creator(2)]));
    const id = await enqueueImport(
      engines,
      env.REDIS_URL ?? '',
      { files: [file], ...FORCED },
      { prefix: unique('lost') },
    );
    const indexName = `${engines.alias}-20260101-00000000`;
    await updateImport(engines.db, id, { state: 'building', indexName, updatedAt: engines.clock.now() });
    const worker = await startImports();
    await until('the import to be live', async () => (await findImport(engines.db, id))?.state === 'live');
    await worker.close();
    expect(await readStatus(engines)).toMatchObject({ live: { documents: 2 }, imports: [] });
  });

  it('is refused for standard input, and prints its id otherwise', async () => {
    expect(await directory.run('import', '-', '--enqueue')).toMatchObject({ code: 1, out: '' });
    const file = await directory.file('later.ndjson', ndjson([creator(1)]));
    const { code, out } = await directory.run('import', file, '--enqueue');
    expect([code, out]).toEqual([0, expect.stringMatching(/^imp_\w+\n$/)]);
  });
});

describe('an enqueued import whose worker is killed with kill -9', () => {
  const count = 60_000;
  const running: RollcallProcess[] = [];
  let own: TestDirectory;

  beforeAll(async () => {
    // Jobs of its own: another test's worker would take one, not know its row, and drop it.
    own = await makeDirectory({ redis: ownRedis('enqueued-import') });
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
      new RegExp(`^live +${indexName}: 60,000 creators.+\nprevious.+\nwriting   nobody\n$`),
    );
    expect(await own.run('verify')).toMatchObject({ code: 0 });
  });
});
