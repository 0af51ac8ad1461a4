import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { findImport, listWrites } from '../../src/directory/imports/indexing/records.ts';
import { generateCreators, sampleSource } from '../../src/directory/imports/indexing/sample.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { readStatus } from '../../src/directory/imports/indexing/status.ts';
import { findDamage } from '../../src/directory/imports/indexing/verify.ts';
import { rollback } from '../../src/directory/imports/indexing/versions.ts';
import { withWriterLock } from '../../src/directory/imports/indexing/writer.ts';
import { deleteCreators, upsertCreators } from '../../src/directory/imports/indexing/writes.ts';
import { indexBehind } from '../../src/kit/engines/elastic/indices.ts';
import { until } from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, runWithInput, type TestDirectory } from '../harness/directory/indexer.ts';

const ndjson = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

let directory: TestDirectory;
beforeAll(async () => {
  directory = await makeDirectory();
});
afterAll(() => directory.close());

let imported = 0;
async function importSample(size: number): Promise<string> {
  imported += 1;
  return (await importDirectory(directory.engines, { source: sampleSource(size, 70 + imported), ...FORCED })).index;
}

const live = () => indexBehind(directory.elastic, directory.engines.alias);
const count = async () => (await directory.elastic.client.count({ index: directory.engines.alias })).count;

async function write(kind: 'upsert' | 'delete', name: string, content: string | Buffer) {
  const source = await openFiles([await directory.file(name, content)], kind === 'upsert' ? 'creators' : 'pks');
  const request = { source, rejectsFile: `${directory.folder}/rejects.ndjson` };
  return await (kind === 'upsert' ? upsertCreators : deleteCreators)(directory.engines, request);
}

describe('delete', () => {
  it('reads one pk per line from standard input, and a CSV with only that column', async () => {
    await importSample(100);
    await write('upsert', 'three.ndjson', ndjson([creator(1), creator(2), creator(3)]));
    const piped = await runWithInput(directory, Buffer.from('1\n'), 'delete', '-');
    expect(piped).toMatchObject({ code: 0, out: '1\n' });
    const file = await directory.file('gone.csv', 'pk\n2\n3\n');
    expect(await directory.run('delete', file)).toMatchObject({ code: 0, out: '2\n' });
    expect(await count()).toBe(100);
  });
});

describe('a CSV with a stray quote', () => {
  it('is never swapped in without the rows behind it', async () => {
    const before = await importSample(100);
    const rows = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => `${from + i},name${from + i},\n`).join('');
    const head = `pk,username,full_name\n${rows(0, 1_000)}`;
    const unclosed = await directory.file('unclosed.csv', `${head}1000,"x,\n${rows(1_001, 2_000)}`);
    const { code, err } = await directory.run('import', unclosed);
    expect([code, err]).toEqual([1, expect.stringContaining('line 1002 opens a quote that is never closed')]);
    const closed = await directory.file(
      'closed.csv',
      `${head}1000,"x,\n${rows(1_001, 1_100)}1100,"y",\n${rows(1_101, 9_000)}`,
    );
    const swallowed = await directory.run('import', closed);
    expect([swallowed.code, swallowed.err]).toEqual([1, expect.stringContaining('Nothing was swapped')]);
    expect(await live()).toBe(before);
    // The file must be corrected first: there is nothing to go on with.
    expect((await directory.run('status')).out).not.toContain('import ');
  });
});

describe('an import stopped after its last row', () => {
  it('does not go live, exits with 130, and finishes the swap when it is run again', async () => {
    const before = await importSample(100);
    const file = await directory.file('stopped.ndjson', ndjson([...generateCreators(20_000, 8)]));
    const running = directory.start('import', file);
    // At once: on a busy machine, whoever looks for it now and then sees it when it is over.
    running.child.stderr?.on('data', () => {
      if (!running.child.killed && running.said().includes('merge ...')) running.child.kill('SIGINT');
    });
    const { code, err } = await running.finished;
    expect([code, err]).toEqual([130, expect.stringContaining('same command again')]);
    expect(await live()).toBe(before);
    expect((await directory.run('status')).out).toMatch(/imp_\w+ stopped: 20,000 rows/);
    const again = await directory.run('import', file);
    expect([again.code, again.err]).toEqual([0, expect.stringContaining('resuming at row 20,001')]);
    expect(await count()).toBe(20_000);
  });

  it.each(['merge', 'verify'] as const)('does not go live when it is stopped during %s', async (phase) => {
    const before = await live();
    const stopping = new AbortController();
    const stopped = importDirectory(directory.engines, {
      source: sampleSource(5_000, phase.length + 90),
      ...FORCED,
      signal: stopping.signal,
      onProgress: (progress) => {
        if (progress.phase === phase) stopping.abort();
      },
    });
    await expect(stopped).rejects.toThrow('Stopped after row 5000');
    expect(await live()).toBe(before);
  });
});

describe('verify', () => {
  it('knows the expected number of creators after upserts and deletes', async () => {
    const index = await importSample(1_000);
    const [known] = generateCreators(1, 70 + imported);
    await write('upsert', 'empty.ndjson', '');
    await write('upsert', 'some.ndjson', ndjson([creator(1), creator(2), creator(known?.pk ?? 0), creator(1)]));
    await write('delete', 'gone.csv', 'pk\n2\n424242\n');
    expect(await count()).toBe(1_001);
    expect(await findDamage(directory.engines, index)).toEqual([]);
    await directory.elastic.client.deleteByQuery({
      index,
      query: { range: { 'card.pk': { gt: 1 } } },
      max_docs: 900,
      refresh: true,
    });
    expect(await findDamage(directory.engines, index)).toEqual(['It holds 101 documents; 1001 are expected.']);
  });

  it('allows only the difference that a killed write can cause', async () => {
    const index = await importSample(100);
    const { engines } = directory;
    const write = { id: 'dwr_killed', alias: engines.alias, indexName: index, file: 'x', finishedAt: null };
    const at = { lastVersion: 1, startedAt: new Date() };
    await engines.db
      .insertInto('directoryWrites')
      .values({ ...write, ...at, kind: 'upsert', rows: 5 })
      .execute();
    const add = (pk: number) => directory.elastic.client.index({ index, id: String(pk), document: {}, refresh: true });
    const counted = async () => (await findDamage(engines, index)).filter((line) => line.startsWith('It holds'));
    for (let pk = 0; pk < 5; pk += 1) await add(-pk - 1);
    expect(await counted()).toEqual([]);
    await add(-6);
    expect(await counted()).toEqual(['It holds 106 documents; 100 to 105 are expected.']);
  });
});

describe('a write that fails halfway', () => {
  it('reports how many rows are live, shows them to searches and records the right count', async () => {
    const index = await importSample(100);
    const packed = gzipSync(ndjson([...generateCreators(3_000, 4)]));
    const file = await directory.file('trunc.ndjson.gz', packed.subarray(0, packed.length >> 1));
    // A file is read whole before anything is written; standard input cannot be.
    expect(await directory.run('upsert', file)).toMatchObject({ code: 1, out: '' });
    expect(await count()).toBe(100);
    const lines = Array.from({ length: 3_000 }, (_, i) => `${10_000 + i},user${i}`);
    const piped = Buffer.from(['pk,username', ...lines, '1,"not closed'].join('\n'));
    const { code, err, out } = await runWithInput(directory, piped, 'upsert', '-');
    expect([code, out]).toEqual([1, '']);
    const [, rows = ''] = /Only part of the upsert is done: ([\d,]+) rows, which searches see/.exec(err) ?? [];
    expect(Number(rows.replaceAll(',', ''))).toBeGreaterThan(0);
    expect(await count()).toBe(100 + Number(rows.replaceAll(',', '')));
    expect(await findDamage(directory.engines, index)).toEqual([]);
  });

  it('is not listed by a rollback if it wrote nothing', async () => {
    await importSample(100);
    const index = await importSample(100);
    await write('upsert', 'empty.ndjson', '');
    await expect(write('upsert', 'none.csv', 'username\nana\n')).rejects.toThrow('has no column pk');
    await write('upsert', 'one.ndjson', ndjson([creator(1)]));
    expect(await listWrites(directory.engines.db, index)).toHaveLength(2);
    expect((await rollback(directory.engines, {})).forgotten).toMatchObject([{ kind: 'upsert', rows: 1 }]);
  });

  it('names the writer it waited for if it is stopped while waiting', async () => {
    const stopping = new AbortController();
    await withWriterLock(directory.engines, 'import', {}, async () => {
      const source = await openFiles([await directory.file('waits.ndjson', ndjson([creator(1)]))]);
      const request = { source, onWait: () => stopping.abort(), signal: stopping.signal };
      await expect(upsertCreators(directory.engines, request)).rejects.toThrow(
        /^The upsert was stopped while waiting: process \d+ on .+ has been running import since/,
      );
    });
  });
});

describe('status', () => {
  const Status = z.object({
    alias: z.string(),
    live: z.object({ name: z.string(), documents: z.number() }),
    imports: z.array(z.object({ id: z.string(), state: z.string(), isRunning: z.boolean() })),
  });

  it('shows a failed import with its reason, also as JSON', async () => {
    await importSample(100);
    const packed = gzipSync(ndjson([...generateCreators(3_000, 5)]));
    const file = await directory.file('cut.ndjson.gz', packed.subarray(0, packed.length >> 1));
    expect((await directory.run('import', file)).code).toBe(1);
    expect((await directory.run('status')).out).toMatch(/imp_\w+ failed: .+ could not be read completely/);
    const { out } = await directory.run('status', '--json');
    const { alias, live: now, imports } = Status.parse(JSON.parse(out));
    expect([alias, now.name, now.documents]).toEqual([directory.engines.alias, await live(), 100]);
    const last = imports.at(-1);
    expect(last).toMatchObject({ state: 'building', isRunning: false });
    expect((await findImport(directory.engines.db, last?.id ?? ''))?.failure).toContain('could not be read');
  });

  it('shows a running import as building', async () => {
    const seen = new Set<boolean>();

    const work = importDirectory(directory.engines, { source: sampleSource(5_000, 99), ...FORCED });
    await until('the import to be on record as running', async () => {
      for (const { isRunning } of (await readStatus(directory.engines)).imports) seen.add(isRunning);
      return seen.has(true);
    });
    await work;
  });
});
