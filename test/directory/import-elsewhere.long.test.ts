import { rm } from 'node:fs/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { enqueueImport, startImportWorker } from '../../src/directory/imports/indexing/import.jobs.ts';
import { findImport } from '../../src/directory/imports/indexing/records.ts';
import { systemClock } from '../../src/kit/values/clock.ts';
import { openRepeatedFailures } from '../../src/kit/values/repeated-failures.ts';
import { startWorkerProcess, unique, until } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';
import { creator } from '../harness/directory/directory.ts';
import { makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';
import { S3_BUCKET, S3_KEY, S3_SECRET, startS3, type TestS3 } from '../harness/kit/s3.ts';

let directory: TestDirectory;
let s3: TestS3;
beforeAll(async () => {
  [directory, s3] = await Promise.all([makeDirectory({ redis: ownRedis() }), startS3()]);
});
afterAll(async () => {
  await directory?.close();
  await s3?.close();
});

const ndjson = (count: number) =>
  Array.from({ length: count }, (_, i) => `${JSON.stringify(creator(i + 1))}\n`).join('');

/** An object of the test's S3, with the credentials that a worker finds in its environment. */
function putObject(key: string, content: string): { url: string; env: NodeJS.ProcessEnv } {
  s3.objects.set(key, { bytes: Buffer.from(content), type: 'application/x-ndjson' });
  const endpoint = new URL(s3.url).searchParams.get('endpoint') ?? '';
  return {
    url: `s3://${S3_BUCKET}/${key}?endpoint=${encodeURIComponent(endpoint)}&region=eu-central-1`,
    env: { AWS_ACCESS_KEY_ID: S3_KEY, AWS_SECRET_ACCESS_KEY: S3_SECRET },
  };
}

describe('An import from S3', () => {
  it('is enqueued by one machine and run by the worker of another', async () => {
    const { url, env } = putObject('exports/creators.ndjson', ndjson(500));
    Object.assign(directory.env, env);
    const { code, out, err } = await directory.start('import', url, '--enqueue').finished;
    expect([code, err]).toEqual([0, expect.stringContaining('Enqueued')]);
    const worker = await startWorkerProcess(directory.engines.alias, { ...directory.env, TMPDIR: directory.folder });
    const row = () => findImport(directory.engines.db, out.trim());
    await until('the import to be live', async () => (await row())?.state === 'live');
    await worker.stop();
    expect(await row()).toMatchObject({ documents: 500, files: [url], failure: null });
  });

  it('is refused if there is no such object, or if the URL holds credentials', async () => {
    const { url } = putObject('there.ndjson', ndjson(1));
    const missing = await directory.start('import', url.replace('there', 'elsewhere')).finished;
    expect([missing.code, missing.err]).toEqual([1, expect.stringMatching(/elsewhere\.ndjson.* does not exist/)]);
    const sealed = await directory.start('import', `s3://me:${'geheim'}@${S3_BUCKET}/there.ndjson`).finished;
    expect(sealed.err).toMatch(/holds credentials.*set AWS_ACCESS_KEY_ID/);
    expect(sealed.err).not.toContain('geheim');
    const bare = await directory.start('import', `s3://${S3_BUCKET}`).finished;
    expect(bare.err).toMatch(/names no object; it must be like s3:/);
  });
});

describe('An enqueued import whose file is on another machine', () => {
  function startWorker(at: { now: Date }) {
    const log = pino({ level: 'silent' });
    return startImportWorker(
      {
        ...{ log, failures: openRepeatedFailures(log, systemClock), elastic: directory.elastic },
        ...{ postgres: directory.postgres, clock: { now: () => at.now }, secrets: directory.engines.secrets() },
        config: readConfig({ DIRECTORY_ALIAS: directory.engines.alias }),
      },
      directory.env.REDIS_URL ?? '',
      { prefix: unique('queue') },
    );
  }

  it('waits for a worker that has the file, says so, and fails clearly after ten minutes without one', async () => {
    const { engines, env } = directory;
    const file = await directory.file('mine.ndjson', ndjson(3));
    const id = await enqueueImport(engines, env.REDIS_URL ?? '', { files: [file] }, { prefix: unique('lost') });
    await rm(file);
    const at = { now: new Date() };
    const worker = startWorker(at);
    const row = () => findImport(engines.db, id);
    await worker.sweep();
    await until(
      'the worker to leave it',
      async () => (await row())?.failure?.startsWith('Waiting for a worker') ?? false,
    );
    expect((await row())?.state).toBe('queued');
    expect((await directory.run('status')).out).toMatch(
      /queued: .*Waiting for a worker that has the file: .*mine\.ndjson/,
    );
    at.now = new Date(at.now.getTime() + 601_000);
    await until('the import to fail', async () => {
      await worker.sweep();
      return (await row())?.state === 'failed';
    });
    expect((await row())?.failure).toMatch(
      /^No worker had the file for ten minutes: .*mine\.ndjson.*s3:\/\/bucket\/key/,
    );
    await worker.close();
  });
});
