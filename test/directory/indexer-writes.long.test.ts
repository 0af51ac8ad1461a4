import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ImportReport, importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { sampleSource } from '../../src/directory/imports/indexing/sample.ts';
import { withWriterLock } from '../../src/directory/imports/indexing/writer.ts';
import { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { until } from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';

const ndjson = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

let directory: TestDirectory;
beforeAll(async () => {
  directory = await makeDirectory();
});
afterAll(() => directory.close());

let imported = 0;
/** Imports a directory that no other import was of. */
async function importSample(size = 500): Promise<ImportReport> {
  imported += 1;
  return await importDirectory(directory.engines, { source: sampleSource(size, imported), ...FORCED });
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

  it('makes an upsert wait for an import and say so; with --no-wait it fails', async () => {
    const other = await hold('import');
    const file = await directory.file('waiting.ndjson', ndjson([creator(77, { username: 'waited' })]));
    expect(await directory.run('upsert', file, '--no-wait')).toMatchObject({ code: 1 });
    const waiting = directory.start('upsert', file);
    await until('the upsert to say that it waits', () => waiting.said().includes('Waiting: process'));
    expect(await usernameOf(77)).toBeUndefined();
    await other.letGo();
    expect(await waiting.finished).toMatchObject({ code: 0, out: '1\n' });
    expect(await usernameOf(77)).toBe('waited');
  });
});
