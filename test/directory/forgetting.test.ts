import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { approveImport } from '../../src/directory/imports/indexing/approve.ts';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { generateCreators } from '../../src/directory/imports/indexing/sample.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { findDamage } from '../../src/directory/imports/indexing/verify.ts';
import { rollback } from '../../src/directory/imports/indexing/versions.ts';
import { patchCreators, upsertCreators } from '../../src/directory/imports/indexing/writes.ts';
import { finishUnfinished, forget, getForgotten, listOptOuts, remember } from '../../src/directory/opt-out/forget.ts';
import { findMatches } from '../../src/directory/saved-searches/matches.jobs.ts';
import type { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { toDocument } from '../../src/directory/search/document.ts';
import { readDocuments } from '../../src/kit/engines/elastic/indices.ts';
import {
  call,
  keysInTurn,
  made,
  makeBrand,
  send,
  startApp,
  type TestApp,
  type TestBrand,
  until,
} from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';
import { connectAgent } from '../harness/interfaces/agent.ts';
import { runCli } from '../harness/process/cli.ts';

let directory: TestDirectory;
let app: TestApp;
let brand: TestBrand;
let key: () => string;
/** A saved search that found everyone who will opt out. */
let saved: string;

/** Who opts out: each is found in every way. */
const ann = creator(910_001, { username: 'annoptsout', extracted_email: 'ann@optout.example', city: 'Boise' });
const bob = creator(910_002, { username: 'boboptsout', extracted_email: 'agency@optout.example', city: 'Boise' });
const bea = creator(910_003, { username: 'beaoptsout', extracted_email: 'Agency@Optout.example', city: 'Boise' });
const cem = creator(910_004, { username: 'cemoptsout', extracted_email: 'agency@other.example', city: 'Boise' });
const others = [...generateCreators(60, 5)];
const everyone = [ann, bob, bea, cem, ...others];

const ndjson = (rows: readonly DirectoryCreatorDetail[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

async function importRows(rows: readonly DirectoryCreatorDetail[], mode: 'force' | 'hold' = 'force') {
  const source = await openFiles([await directory.file(`creators-${rows.length}.ndjson`, ndjson(rows))]);
  return await importDirectory(directory.engines, { source, bounds: { mode }, restart: true });
}
const cli = (...args: string[]) => runCli(['directory', ...args], directory.env);

beforeAll(async () => {
  directory = await makeDirectory();
  await importRows(everyone);
  await importRows(everyone);
  const { alias } = directory.engines;
  app = await startApp({ alias, urls: { postgres: directory.env.DATABASE_URL ?? '' } });
  brand = await makeBrand(app.context);
  key = await keysInTurn(brand, 30);
  saved = (await made(`${app.url}/v1/saved-searches`, key(), { name: 'Boats', filters: { category: 'Boats' } })).id;
  const rows = [ann, bob, bea, cem].map(({ pk }) => `{"pk":${pk},"category":"Boats"}\n`).join('');
  const source = await openFiles([await directory.file('boats.ndjson', rows)]);
  await patchCreators(directory.engines, { source, rejectsFile: `${directory.folder}/rejects.ndjson` });
  await findMatches(app.context);
});
afterAll(async () => {
  await app?.close();
  await directory?.close();
});

const Cards = z.object({ data: z.array(z.object({ pk: z.number() })), pagination: z.object({ total: z.number() }) });

async function search(query: string, path = '/v1/creators/search') {
  const { status, body } = await call(`${app.url}${path}?${query}`, key());
  expect(status, query).toBe(200);
  const { data, pagination } = Cards.parse(body);
  return { pks: data.map(({ pk }) => pk), total: pagination.total };
}

async function lookedUp(names: object): Promise<boolean> {
  const { body } = await send(`${app.url}/v1/creators/lookup`, key(), 'POST', names);
  return Cards.pick({ data: true }).parse(body).data.length > 0;
}

async function walked(query: string): Promise<string> {
  const headers = { authorization: `Bearer ${key()}` };
  return await (await fetch(`${app.url}/v1/creators/search?${query}&walk=true`, { headers })).text();
}

/** Everyone who began to match a search after it was saved. */
async function matched(): Promise<number[]> {
  const { body } = await call(`${app.url}/v1/saved-searches/${saved}/matches`, key());
  return Cards.pick({ data: true })
    .parse(body)
    .data.map(({ pk }) => pk);
}

async function versions(): Promise<string[]> {
  const { kept } = await app.context.directory.live();
  return [...kept.keys()];
}

/** The doors through which a creator is seen. */
async function appearances({ pk, username }: DirectoryCreatorDetail): Promise<string[]> {
  const agent = await connectAgent(app.url, key());
  const tool = await agent.callTool({ name: 'search_creators', arguments: { q: username } });
  await agent.close();
  const kept = await versions();
  const seen: Record<string, boolean> = {
    search: (await search(`q=${username}`)).pks.includes(pk),
    filters: (await search('city=Boise')).pks.includes(pk),
    get: (await call(`${app.url}/v1/creators/${pk}`, key())).status === 200,
    autocomplete: JSON.stringify(
      (await call(`${app.url}/v1/creators/autocomplete?q=${username}`, key())).body,
    ).includes(username),
    MCP: JSON.stringify(tool.structuredContent).includes(`"pk":${pk}`),
    'the look-up': (await search(`pks=${pk}`)).pks.includes(pk) || (await search(`usernames=${username}`)).total > 0,
    'the look-up by POST': await lookedUp({ pks: [pk], usernames: [username] }),
    'the walk': (await walked(`q=${username}`)).includes(`"pk":${pk}`),
    'matches of a saved search': (await matched()).includes(pk),
    'the older interface': (await search(`q=${username}`, '/api/v1/creators/search')).pks.includes(pk),
  };
  for (const index of kept) {
    seen[`version ${index}`] = (await search(`q=${username}&directory_version=${index}`)).pks.includes(pk);
    seen[`documents of ${index}`] = (await readDocuments(directory.elastic, index, [String(pk)])).length > 0;
  }
  return Object.keys(seen).filter((door) => seen[door]);
}

const isAway =
  ({ pk }: DirectoryCreatorDetail) =>
  async () =>
    (await call(`${app.url}/v1/creators/${pk}`, key())).status === 404;
const isOut = (row: DirectoryCreatorDetail) => async () => (await appearances(row).catch(() => ['busy'])).length === 0;

describe('a creator who opted out', () => {
  it('is absent from every interface and every kept version, totals included, and leaves a record without their names', async () => {
    const kept = await versions();
    expect(await appearances(ann)).toHaveLength(10 + 2 * kept.length);
    const [older = ''] = kept.filter((index) => index !== undefined).sort();
    const before = await Promise.all(kept.map((index) => search(`city=Boise&directory_version=${index}`)));
    expect(before.map(({ total }) => total)).toEqual(kept.map(() => 4));
    await made(`${app.url}/v1/roster/add`, key(), { ig_handle: ann.username });

    const { status, out, said } = await cli('forget', `@${ann.username.toUpperCase()}`, '--reason', 'Wrote on Monday');
    expect([status, said]).toEqual([0, expect.stringContaining('Records that brands keep: 1.')]);
    await until('Ann to be out', isOut(ann));
    for (const index of kept) {
      const total = async () => (await search(`city=Boise&directory_version=${index}`)).total;
      await until('a total without Ann', async () => (await total()) === 3);
      expect(await findDamage(directory.engines, index)).toEqual([]);
    }

    const shown = await cli('forgotten', 'show', out.trim(), '--json');
    expect(JSON.parse(shown.out)).toMatchObject({
      named: 'username',
      requested_by: 'operator',
      reason: 'Wrote on Monday',
      pks: [ann.pk],
      finished_at: expect.stringMatching(/Z$/),
      removed: expect.arrayContaining([{ index: older, creators: 1 }]),
      kept_by_brands: [{ brand_id: brand.id, creator_id: expect.stringMatching(/^crt_/) }],
    });
    const { rows } = await sql<{ text: string }>`
      select concat(row_to_json(f), row_to_json(h)) as text
      from directory_forgotten f join directory_forgotten_hashes h on h.forgotten_id = f.id`.execute(
      directory.engines.db,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ text }) => text).join()).not.toMatch(/annoptsout|optout\.example|910001/i);
    expect((await call(`${app.url}/v1/roster`, key())).body.data).toHaveLength(1);
  });

  it('does not come back by import, upsert, approval or rollback, under the same pk or the same username', async () => {
    const renamed = { ...ann, username: 'annisnew' };
    const renumbered = { ...ann, pk: 910_050, username: 'AnnOptsOut' };
    const report = await importRows([...everyone, renamed, renumbered]);
    expect(report).toMatchObject({ forgotten: 3, documents: everyone.length - 1 });
    const source = await openFiles([await directory.file('upsert.ndjson', ndjson([ann, renamed, renumbered, bob]))]);
    const upserted = await upsertCreators(directory.engines, {
      source,
      rejectsFile: `${directory.folder}/rejects.ndjson`,
    });
    expect(upserted).toMatchObject({ written: 1, forgotten: 3, rejected: 0 });
    const held = await importRows(everyone, 'hold');
    await approveImport(directory.engines, held.id, {});
    await rollback(directory.engines, {});
    await until('Ann to be out', isOut(ann));
    expect((await search('q=annisnew')).total).toBe(0);
    const status = await directory.run('status', '--json');
    expect(JSON.parse(status.out)).toMatchObject({ forgotten: 1 });
  });

  it('may be everyone who shows an email address, also in a held import, and stays out when the address changes', async () => {
    const held = await importRows(everyone, 'hold');
    const name = { kind: 'email', value: 'agency@OPTOUT.example' } as const;
    const { id } = await forget(directory.engines, name, { reason: 'The agency asked', by: 'operator' });
    await until('both to be out', async () => (await isOut(bob)()) && (await isOut(bea)()));
    expect(await readDocuments(directory.elastic, held.index, [String(bob.pk), String(bea.pk)])).toEqual([]);
    await approveImport(directory.engines, held.id, {});
    expect(await findDamage(directory.engines, held.index)).toEqual([]);
    await importRows([
      ...everyone,
      { ...bob, extracted_email: null },
      { ...cem, extracted_email: 'AGENCY@optout.example' },
    ]);
    await until('all to be out', async () => (await isAway(bob)()) && (await isAway(cem)()));
    expect(await getForgotten(directory.engines, id)).toMatchObject({ pks: [bob.pk, bea.pk], named: 'email' });
  });

  it('takes an address at a domain in another script in either form', async () => {
    const dan = creator(910_005, { username: 'danoptsout', extracted_email: 'dan@bücher.example', city: 'Boise' });
    await importRows([...everyone, dan]);
    await until('Dan to be in', async () => (await call(`${app.url}/v1/creators/${dan.pk}`, key())).status === 200);
    const name = { kind: 'email', value: 'dan@xn--bcher-kva.example' } as const;
    await forget(directory.engines, name, { reason: 'Asked', by: 'page' });
    await until('Dan to be out', isAway(dan));
    await importRows([...everyone, { ...dan, pk: 910_006, username: 'danisnew' }]);
    expect((await call(`${app.url}/v1/creators/910006`, key())).status).toBe(404);
  });

  it('comes back with the next import once the opt-out is withdrawn, which happens once', async () => {
    const [one] = others;
    if (!one) throw new Error('The sample is empty.');
    const name = { kind: 'pk', value: one.pk } as const;
    const { id } = await forget(directory.engines, name, { reason: 'A mistake', by: 'operator' });
    await until('them to be out', isAway(one));
    const again = await forget(directory.engines, name, { reason: 'A second letter', by: 'operator' });
    expect(again).toMatchObject({ id, reason: 'A mistake' });
    expect(await cli('remember', id)).toMatchObject({ status: 0, out: `${id}\n` });
    await expect(remember(directory.engines, id)).rejects.toThrow('was withdrawn on 20');
    await importRows(everyone);
    await until('them to be back', async () => (await call(`${app.url}/v1/creators/${one.pk}`, key())).status === 200);
    expect((await listOptOuts(directory.engines, 1))[0]).toMatchObject({ named: 'pk', rememberedAt: expect.any(Date) });
  });

  it('is named by a pk, a username with @ or an email, and by nothing else', async () => {
    const wrong = await cli('forget', 'annoptsout', '--reason', 'x');
    expect([wrong.status, wrong.said]).toEqual([2, expect.stringContaining('must be a pk, a username such as @')]);
  });

  it('is removed by a job if the process that recorded it died', async () => {
    const [, one] = others;
    if (!one) throw new Error('The sample is empty.');
    const { clock, db } = directory.engines;
    const { id } = await forget(
      directory.engines,
      { kind: 'username', value: one.username },
      { reason: 'x', by: 'page' },
    );
    // As a process leaves it that dies between its record and the first version.
    await sql`update directory_forgotten set finished_at = null, removed = '[]', pks = null where id = ${id}`.execute(
      db,
    );
    await sql`delete from directory_forgotten_hashes where forgotten_id = ${id} and not is_named`.execute(db);
    const [index = ''] = await versions();
    await directory.elastic.client.index({ index, id: String(one.pk), document: toDocument(one), refresh: true });
    await finishUnfinished(directory.engines);
    expect((await getForgotten(directory.engines, id)).finishedAt).toBeNull();
    const later = { ...directory.engines, clock: { now: () => new Date(clock.now().getTime() + 61_000) } };
    await finishUnfinished(later);
    await until('them to be out', isAway(one));
    expect(await getForgotten(directory.engines, id)).toMatchObject({
      pks: [one.pk],
      removed: [{ index, creators: 1 }],
    });
  });
});
