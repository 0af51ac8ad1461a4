import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ImportReport, importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { findImport, listUnfinished } from '../../src/directory/imports/indexing/records.ts';
import { generateCreators, sampleSource } from '../../src/directory/imports/indexing/sample.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { readStatus } from '../../src/directory/imports/indexing/status.ts';
import { findDamage } from '../../src/directory/imports/indexing/verify.ts';
import { prune, rollback } from '../../src/directory/imports/indexing/versions.ts';
import { withWriterLock } from '../../src/directory/imports/indexing/writer.ts';
import { deleteCreators, upsertCreators } from '../../src/directory/imports/indexing/writes.ts';
import { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { indexExists, swapAlias } from '../../src/kit/engines/elastic/indices.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';

const HOUR_MS = 3_600_000;
const ndjson = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

let directory: TestDirectory;
beforeAll(async () => {
  directory = await makeDirectory();
});
afterAll(() => directory.close());

let imported = 0;
/** Imports a directory that no other import was of. */
async function importSample(size = 50): Promise<ImportReport> {
  imported += 1;
  return await importDirectory(directory.engines, { source: sampleSource(size, imported), ...FORCED });
}

async function upsert(...rows: unknown[]): Promise<void> {
  const source = await openFiles([await directory.file('upsert.ndjson', ndjson(rows))]);
  await upsertCreators(directory.engines, { source, rejectsFile: `${directory.folder}/rejects.ndjson` });
}

const Usernames = z.object({
  hits: z.object({
    hits: z.array(z.object({ _source: z.object({ card: DirectoryCreatorDetail.pick({ username: true }) }) })),
  }),
});

async function usernameOf(pk: number): Promise<string | undefined> {
  const body = JSON.stringify({ query: { term: { 'card.pk': pk } } });
  const answer = await directory.elastic.post(`/${directory.engines.alias}/_search`, body);
  return Usernames.parse(JSON.parse(answer.toString())).hits.hits[0]?._source.card.username;
}

/** Holds the right to write until it is let go. */
async function hold(command: string): Promise<{ letGo(): Promise<void> }> {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: taken, resolve: isTaken } = Promise.withResolvers<void>();
  const work = withWriterLock(directory.engines, command, {}, async () => {
    isTaken();
    await held;
  });
  await taken;
  return {
    letGo: async () => {
      letGo();
      await work;
    },
  };
}

describe('one writer at a time', () => {
  beforeEach(() => importSample());

  it('makes a second import fail and say who has held the directory since when', async () => {
    const other = await hold('import');
    const file = await directory.file('second.ndjson', ndjson([creator(1)]));
    const { code, err } = await directory.run('import', file);
    expect(code).toBe(1);
    expect(err).toMatch(
      new RegExp(`process ${process.pid} on .+ has been running import since \\d{4}-.+; one writer at a time`),
    );
    expect((await readStatus(directory.engines)).writer).toMatchObject({ command: 'import' });
    await other.letGo();
    expect((await readStatus(directory.engines)).writer).toBeUndefined();
  });
});

describe('a writer whose lock expired', () => {
  it('fails before the swap, and leaves the lock to the writer that has taken it since', async () => {
    const { engines } = directory;
    const work = withWriterLock(engines, 'import', {}, async ({ assertLocked }) => {
      await sql`update directory_writers set held_until = now() - interval '1 second' where alias = ${engines.alias}`.execute(
        engines.db,
      );
      await withWriterLock(engines, 'upsert', {}, async (other) => {
        await expect(assertLocked()).rejects.toThrow('The write lock was lost.');
        await other.assertLocked();
      });
    });
    await work;
    await withWriterLock(engines, 'import', {}, async ({ assertLocked }) => await assertLocked());
  });

  it('is followed at once by another when its process has ended', async () => {
    const { engines } = directory;
    await withWriterLock(engines, 'import', {}, async () => {
      await sql`update directory_writers set process = regexp_replace(process, '[0-9]+$', '4194305')
        where alias = ${engines.alias}`.execute(engines.db);
      await withWriterLock(engines, 'upsert', {}, async ({ assertLocked }) => await assertLocked());
    });
  });
});

describe('upsert and delete', () => {
  it('are visible to searches when they end, and later writes win over earlier ones and the import', async () => {
    await importSample();
    const [first] = generateCreators(1, imported);
    const pk = first?.pk ?? 0;
    await upsert(creator(pk, { username: 'first' }), creator(pk, { username: 'second' }));
    expect(await usernameOf(pk)).toBe('second');
    await upsert(creator(pk, { username: 'third' }));
    expect(await usernameOf(pk)).toBe('third');
    const file = await directory.file('delete.txt', `{"pk":${pk}}\n424242\n`);
    expect(await directory.run('delete', file)).toMatchObject({ code: 0, out: '2\n' });
    expect(await usernameOf(pk)).toBeUndefined();
    await upsert(creator(pk, { username: 'again' }));
    expect(await usernameOf(pk)).toBe('again');
  });

  it('write the good rows, put the bad ones into the rejects file and exit 1', async () => {
    await importSample();
    const file = await directory.file(
      'mixed.ndjson',
      `${ndjson([creator(9, { username: 'good' })])}{"pk":"x","username":"bad"}\n`,
    );
    const { code, err, out } = await directory.run('upsert', file);
    expect([code, out]).toEqual([1, '1\n']);
    expect(err).toContain('1 rows were rejected');
    expect(await usernameOf(9)).toBe('good');
  });

  it('keep their order when a clock goes back', async () => {
    await importSample();
    await upsert(creator(5, { username: 'now' }));
    const past = { ...directory.engines, clock: { now: () => new Date(Date.now() - 24 * HOUR_MS) } };
    const source = await openFiles([await directory.file('past.ndjson', ndjson([creator(5, { username: 'later' })]))]);
    await upsertCreators(past, { source, rejectsFile: `${directory.folder}/rejects.ndjson` });
    expect(await usernameOf(5)).toBe('later');
    const gone = await openFiles([await directory.file('gone.csv', 'pk,username\n5,later\n')]);
    await deleteCreators(past, { source: gone, rejectsFile: `${directory.folder}/rejects.ndjson` });
    expect(await usernameOf(5)).toBeUndefined();
  });
});

describe('rollback', () => {
  it('goes back one index at a time and names the lost upserts and deletes', async () => {
    const [oldest, older, live] = [await importSample(), await importSample(), await importSample()];
    await upsert(creator(1), creator(2));
    const { code, out, err } = await directory.run('rollback');
    expect([code, out]).toEqual([0, `${older.index}\n`]);
    expect(err).toMatch(/Lost: upsert of 2 rows from .+upsert\.ndjson, \d{4}-/);
    expect((await readStatus(directory.engines)).live).toMatchObject({ name: older.index, documents: older.documents });
    expect(await rollback(directory.engines, {})).toEqual({ from: older.index, to: oldest.index, forgotten: [] });
    const newest = await importSample();
    expect(await rollback(directory.engines, {})).toMatchObject({ from: newest.index, to: oldest.index });
    expect(await indexExists(directory.elastic, live.index)).toBe(true);
  });

  it('fails and changes nothing when no previous index is kept', async () => {
    const own = await makeDirectory();
    const { index } = await importDirectory(own.engines, { source: sampleSource(10, 1), ...FORCED });
    await expect(rollback(own.engines, {})).rejects.toThrow(`${index} stays live`);
    await own.close();
  });
});

describe('prune', () => {
  const later = (hours: number) => ({
    ...directory.engines,
    clock: { now: () => new Date(Date.now() + hours * HOUR_MS) },
  });

  it('keeps the live index, those live within the last hour, and the requested number of previous ones', async () => {
    const [first, second, live] = [await importSample(), await importSample(), await importSample()];
    const within = await prune(later(0.9), 0, {});
    expect(within.removed).not.toContain(first.index);
    expect(within.kept).toEqual(expect.arrayContaining([first.index, second.index]));

    const one = await prune(later(1.1), 1, {});
    expect(one.kept).toEqual([second.index]);
    expect(one.removed).toContain(first.index);
    expect(await prune(later(1.1), 0, {})).toEqual({ removed: [second.index], kept: [] });
    expect((await readStatus(directory.engines)).live?.name).toBe(live.index);
  });

  it('removes unfinished indices that no process is building, and their import then starts over', async () => {
    await importSample();
    const stopping = new AbortController();
    const source = sampleSource(4_000, 999);
    const unfinished = importDirectory(directory.engines, {
      source,
      ...FORCED,
      signal: stopping.signal,
      onProgress: () => stopping.abort(),
    });
    await expect(unfinished).rejects.toThrow('Stopped after row');
    const [row] = await listUnfinished(directory.engines.db, directory.engines.alias);
    expect((await prune(directory.engines, 1, {})).removed).toEqual([row?.indexName]);
    const notices: string[] = [];
    await importDirectory(directory.engines, { source, ...FORCED, onNotice: (notice) => notices.push(notice) });
    expect(notices).toEqual([]);
  });
});

describe('verify', () => {
  it('finds no damage after an import and upserts', async () => {
    const { index } = await importSample();
    expect(await findDamage(directory.engines, index)).toEqual([]);
    await upsert(creator(1, { city: 'Brooklyn', state: 'NY' }));
    expect(await findDamage(directory.engines, index)).toEqual([]);
    expect(await directory.run('verify')).toMatchObject({ code: 0, out: '' });
  });

  it('finds a lost document, a changed one, a foreign field in the mapping, and an alias over two indices', async () => {
    const { client } = directory.elastic;
    const { index, previousIndex = '' } = await importSample(100);
    const [first, second] = [...generateCreators(2, imported)].map(({ pk }) => String(pk));
    await client.delete({ index, id: first ?? '', refresh: true });
    expect(await findDamage(directory.engines, index)).toEqual(['It holds 99 documents; 100 are expected.']);

    await client.update({
      index,
      id: second ?? '',
      doc: { x: { has_email: true, metros: ['atlantis'] } },
      refresh: true,
    });
    expect((await findDamage(directory.engines, index)).join()).toContain(`Document ${second}: x.`);

    await client.indices.putMapping({ index, properties: { extra: { type: 'keyword' } } });
    await client.indices.updateAliases({
      actions: [{ add: { index: previousIndex, alias: directory.engines.alias } }],
    });
    const { code, out } = await directory.run('verify', index);
    expect(code).toBe(1);
    expect(out).toContain('The mapping differs');
    expect(out).toContain('points to 2 indices');
    await client.indices.updateAliases({
      actions: [{ remove: { index: previousIndex, alias: directory.engines.alias } }],
    });
  });

  it('records a swap whose process died before recording it', async () => {
    const [older, live] = [await importSample(), await importSample()];
    await swapAlias(directory.elastic, directory.engines.alias, live.index, older.index);
    await upsert(creator(1));
    expect((await findImport(directory.engines.db, older.id))?.state).toBe('live');
    expect((await findImport(directory.engines.db, live.id))?.state).toBe('superseded');
  });
});
