import { access, link, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EnqueueRequest, enqueueImport } from '../../src/directory/imports/indexing/import.jobs.ts';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { findImport, listUnfinished, updateImport } from '../../src/directory/imports/indexing/records.ts';
import { assertRejectsPlace, defaultRejectsFile } from '../../src/directory/imports/indexing/rejects.ts';
import { generateCreators } from '../../src/directory/imports/indexing/sample.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { readStatus } from '../../src/directory/imports/indexing/status.ts';
import { withWriterLock } from '../../src/directory/imports/indexing/writer.ts';
import { unique } from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';

const ndjson = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const linesIn = async (file: string) => (await readFile(file, 'utf8')).trim().split('\n').length;
const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

let directory: TestDirectory;
beforeAll(async () => {
  directory = await makeDirectory();
});
afterAll(() => directory.close());

let files = 0;
/** A file of 2,000 good rows after 10 bad ones: within the default limit, and more than is read at once. */
async function fileWithRejects(): Promise<string> {
  files += 1;
  const rows = ndjson([...generateCreators(2_000, 50 + files)]);
  return await directory.file(`rows-${files}.ndjson`, `${'{"pk":-1,"username":"x"}\n'.repeat(10)}${rows}`);
}

const inFolder = (name: string) => path.join(directory.folder, name);

/** An import of this file that was stopped after some rows. */
async function stopped(file: string, more: { maxRejects?: string; rejectsFile?: string } = {}): Promise<string> {
  const stopping = new AbortController();
  const begun = importDirectory(directory.engines, {
    source: await openFiles([file]),
    rejectsFile: inFolder('first.ndjson'),
    ...more,
    signal: stopping.signal,
    onProgress: () => stopping.abort(),
  });
  await expect(begun).rejects.toThrow('Stopped after row');
  const [row] = await listUnfinished(directory.engines.db, directory.engines.alias);
  return row?.id ?? '';
}

const enqueue = (file: string, more: Partial<EnqueueRequest> = {}) =>
  enqueueImport(
    directory.engines,
    directory.env.REDIS_URL ?? '',
    { files: [file], ...more },
    { prefix: unique('own') },
  );

async function discard(id: string): Promise<void> {
  await updateImport(directory.engines.db, id, { state: 'failed', updatedAt: new Date() });
}

describe('an import that is requested again', () => {
  it('uses the limit and rejects file of the newest command and keeps options it does not name', async () => {
    const file = await fileWithRejects();
    const id = await stopped(file);
    const strict = await directory.run('import', file, '--max-rejects', '5', '--rejects', 'second.ndjson');
    expect(strict).toMatchObject({ code: 1, err: expect.stringContaining('the limit is 5') });
    expect(await exists(inFolder('second.ndjson'))).toBe(true);
    expect(await findImport(directory.engines.db, id)).toMatchObject({ state: 'failed', maxRejects: '5' });

    await stopped(file);
    const { code, err } = await directory.run('import', file);
    expect([code, err]).toEqual([0, expect.stringContaining('rows were rejected; see')]);
    expect(err).toContain('first.ndjson');
    expect(await linesIn(inFolder('first.ndjson'))).toBe(10);
  });

  it('uses the new options if it was enqueued before', async () => {
    const file = await fileWithRejects();
    const id = await enqueue(file, { maxRejects: '50%', rejectsFile: inFolder('queued.ndjson') });
    const { code, err } = await directory.run('import', file, '--max-rejects', '5', '--rejects', 'now.ndjson');
    expect([code, err]).toEqual([1, expect.stringContaining('the limit is 5')]);
    expect(await exists(inFolder('now.ndjson'))).toBe(true);
    expect(await exists(inFolder('queued.ndjson'))).toBe(false);
    expect(await findImport(directory.engines.db, id)).toMatchObject({ state: 'failed', maxRejects: '5' });
  });

  it('uses the new options if it is enqueued', async () => {
    const file = await fileWithRejects();
    const id = await stopped(file);
    expect(await enqueue(file, { maxRejects: '5', rejectsFile: inFolder('third.ndjson') })).toBe(id);
    expect(await findImport(directory.engines.db, id)).toMatchObject({
      state: 'building',
      enqueued: true,
      maxRejects: '5',
      rejectsFile: inFolder('third.ndjson'),
    });
    const source = await openFiles([file]);
    await expect(importDirectory(directory.engines, { source, ...FORCED, isEnqueued: true })).rejects.toThrow(
      'the limit is 5',
    );
    expect(await exists(inFolder('third.ndjson'))).toBe(true);
  });

  it('starts from the first row in another index if it is enqueued with --restart', async () => {
    const file = await fileWithRejects();
    const id = await stopped(file);
    const before = await findImport(directory.engines.db, id);
    const { code, out } = await directory.run('import', file, '--enqueue', '--restart');
    expect([code, out.trim()]).toEqual([0, id]);
    expect(await findImport(directory.engines.db, id)).toMatchObject({ state: 'queued', position: 0, enqueued: true });
    const notices: string[] = [];
    const report = await importDirectory(directory.engines, {
      source: await openFiles([file]),
      isEnqueued: true,
      onNotice: (notice) => notices.push(notice),
    });
    expect(notices).toEqual([]);
    expect(report).toMatchObject({ id, documents: 2_000, rejected: 10 });
    expect(report.index).not.toBe(before?.indexName);
    const { live, previous } = await readStatus(directory.engines);
    expect([live?.name, ...previous.map(({ name }) => name)]).not.toContain(before?.indexName);
  });

  it('refuses new options while it runs', async () => {
    const file = await fileWithRejects();
    const id = await stopped(file);
    await withWriterLock(directory.engines, 'import', {}, async () => {
      await updateImport(directory.engines.db, id, { updatedAt: new Date(Date.now() + 1_000) });
      await expect(enqueue(file, { maxRejects: '5' })).rejects.toThrow('is already importing these files');
      await expect(enqueue(file, { restart: true })).rejects.toThrow('is already importing these files');
      expect(await enqueue(file)).toBe(id);
    });
    await discard(id);
  });
});

describe('the rejects file', () => {
  it('is never the file being read, under any name', async () => {
    const rows = ndjson([creator(1), { pk: -1, username: 'x' }]);
    const file = await directory.file('input.ndjson', rows);
    await symlink(file, inFolder('soft.ndjson'));
    await link(file, inFolder('hard.ndjson'));
    for (const rejects of [path.relative('.', file), inFolder('soft.ndjson'), inFolder('hard.ndjson')]) {
      await expect(assertRejectsPlace(rejects, ['-', file])).rejects.toThrow('it is the file being read');
    }
    // One after the other: there is one writer at a time.
    for (const command of ['upsert', 'delete', 'import']) {
      const { code, err } = await directory.run(command, file, '--rejects', 'input.ndjson');
      expect([code, err]).toEqual([1, expect.stringContaining('it is the file being read')]);
    }
    await expect(enqueue(file, { rejectsFile: file })).rejects.toThrow('it is the file being read');
    expect(await readFile(file, 'utf8')).toBe(rows);
  });

  it('causes an error before the first row if its folder is missing', async () => {
    const before = (await readStatus(directory.engines)).live?.name;
    const file = await directory.file('good.ndjson', ndjson([creator(1)]));
    for (const command of ['upsert', 'import']) {
      const { code, err } = await directory.run(command, file, '--rejects', 'nowhere/rejects.ndjson');
      expect([code, err]).toEqual([1, expect.stringMatching(/cannot be written to .*nowhere\/rejects\.ndjson/)]);
    }
    expect((await readStatus(directory.engines)).live?.name).toBe(before);
  });

  it('is in the working folder by default, or in the temporary folder with a message', async () => {
    const said: string[] = [];
    const say = (line: string) => said.push(line);
    expect(await defaultRejectsFile('r.ndjson', say, directory.folder)).toBe(inFolder('r.ndjson'));
    expect(said).toEqual([]);
    const file = await defaultRejectsFile('r.ndjson', say, inFolder('nowhere'));
    expect(path.dirname(file)).not.toBe(inFolder('nowhere'));
    expect(said).toEqual([`${inFolder('nowhere')} is not writable: rejected rows, if any, go to ${file}`]);
  });

  it('may be a device, which is not replaced', async () => {
    const file = await directory.file('device.ndjson', ndjson([creator(1), { pk: -1, username: 'x' }]));
    const { code } = await directory.run('import', file, '--max-rejects', '1', '--rejects', '/dev/null');
    expect(code).toBe(0);
    expect(await readFile('/dev/null', 'utf8')).toBe('');
  });
});

it('a rejected row says in good English what its field must be', async () => {
  const file = await directory.file('english.ndjson', ndjson([{ pk: 1.5, username: 'ana' }]));
  await directory.run('import', file, '--rejects', 'english-rejects.ndjson');
  const [reject] = (await readFile(inFolder('english-rejects.ndjson'), 'utf8')).split('\n');
  expect(reject).toContain('must be a whole number');
});
