import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { listUnfinished } from '../../src/directory/imports/indexing/records.ts';
import { generateCreators, sampleSource } from '../../src/directory/imports/indexing/sample.ts';
import { readStatus } from '../../src/directory/imports/indexing/status.ts';
import { until } from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import {
  FORCED,
  makeDirectory,
  runWithInput,
  type TestDirectory,
  watchSearches,
} from '../harness/directory/indexer.ts';

const ndjson = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

async function liveCount(directory: TestDirectory): Promise<number> {
  return (await directory.elastic.client.count({ index: directory.engines.alias })).count;
}

const rejectsOf = async (file: string) =>
  (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

let directory: TestDirectory;
beforeAll(async () => {
  directory = await makeDirectory();
});
afterAll(() => directory.close());

describe('import', () => {
  const rows = [
    creator(3, { biography: 'Commas, "quotes"\nand lines — Zoë ✨', engagement_rate: 2.75, is_verified: true }),
    creator(1, { city: 'São Paulo', country: 'Brazil', niches: null, follower_count: null }),
    creator(2, { username: '007', full_name: 'true', state: '12', age: null }),
  ];

  it('reads standard input', async () => {
    const { code } = await runWithInput(directory, gzipSync(ndjson(rows.slice(0, 2))), 'import', '-');
    expect(code).toBe(0);
    expect(await liveCount(directory)).toBe(2);
  });
});

describe('an import that is killed', () => {
  /** So many that a signal meets the import in the middle, also on a fast machine. */
  const count = 25_000;

  it('continues from its checkpoint and ends with exactly the creators of the file', async () => {
    const content = `${'{"pk":-1,"username":"bad"}\n'.repeat(10)}${ndjson([...generateCreators(count, 3)])}`;
    const file = await directory.file('large.ndjson', content);
    const killed = directory.start('import', file, '--rejects', 'killed.ndjson');
    await until('a checkpoint past the first rows', async () => {
      const [row] = await listUnfinished(directory.engines.db, directory.engines.alias);
      return (row?.position ?? 0) > 0;
    });
    killed.child.kill('SIGKILL');
    expect((await killed.finished).signal).toBe('SIGKILL');

    const [checkpoint] = await listUnfinished(directory.engines.db, directory.engines.alias);
    expect(checkpoint?.position).toBeLessThan(count);
    const { code, err, out } = await directory.run('import', file);
    expect(err).toContain(`resuming at row ${((checkpoint?.position ?? 0) + 1).toLocaleString('en')} of large.ndjson`);
    expect(err).toContain('10 rows were rejected');
    expect(code).toBe(0);
    expect(out.trim()).toBe(checkpoint?.indexName);
    expect(await liveCount(directory)).toBe(count);
    expect(await rejectsOf(`${directory.folder}/killed.ndjson`)).toHaveLength(10);
    expect((await directory.run('verify')).code).toBe(0);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    'by %s finishes the requests in flight, says how to resume and exits with %i; --restart starts over',
    async (signal, exit) => {
      const file = await directory.file(`${signal}.ndjson`, ndjson([...generateCreators(count, exit)]));
      const stopped = directory.start('import', file);
      await until('progress', () => stopped.said().includes('rows/s'));
      stopped.child.kill(signal);
      // npm hands on what the terminal has sent already.
      stopped.child.kill(signal);
      expect(await stopped.finished).toMatchObject({ code: exit, err: expect.stringContaining('same command again') });
      const { err, code } = await directory.run('import', file, '--restart');
      expect(err).not.toContain('resuming');
      expect(code).toBe(0);
      expect(await liveCount(directory)).toBe(count);
      expect((await readStatus(directory.engines)).imports).toEqual([]);
    },
  );
});

describe('searches during imports', () => {
  it('never fail and never see a half-built directory', async () => {
    const own = await makeDirectory();
    await importDirectory(own.engines, { source: sampleSource(1_000, 1), ...FORCED });
    const { seen, stop } = watchSearches(own);
    for (const size of [2_000, 3_000, 1_500])
      await importDirectory(own.engines, { source: sampleSource(size, 2), ...FORCED });
    await until('a search of the last directory', () => seen.has(1_500));
    await stop();
    expect([...seen].sort()).toEqual([1_000, 1_500, 2_000, 3_000]);
    await own.close();
  });
});
