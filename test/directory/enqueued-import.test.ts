import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { enqueueImport, startImportWorker } from '../../src/directory/imports/indexing/import.jobs.ts';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { findImport, updateImport } from '../../src/directory/imports/indexing/records.ts';
import { generateCreators } from '../../src/directory/imports/indexing/sample.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { readStatus } from '../../src/directory/imports/indexing/status.ts';
import { systemClock } from '../../src/kit/values/clock.ts';
import { openRepeatedFailures } from '../../src/kit/values/repeated-failures.ts';
import { unique, until } from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';

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
    const file = await directory.file('enqueued.ndjson', ndjson([...generateCreators(5_000, 12)]));
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
      return live?.documents === 5_000;
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
