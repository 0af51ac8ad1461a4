import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp } from '../harness/app.ts';
import { file, upload } from '../harness/platform/uploading.ts';

let app: TestApp;
let key: string;

beforeAll(async () => {
  app = await startApp();
  key = await (await makeBrand(app.context)).key('brand');
});
afterAll(() => app?.close());

const at = (path: string) => `${app.url}/v1/assets${path}`;
const make = (name: string, parent_id?: string | null) => send(at('/folders'), key, 'POST', { name, parent_id });
const folder = async (name: string, parent_id?: string | null): Promise<string> =>
  (await make(name, parent_id)).body.data.id;
const move = (id: string, body: object) => send(at(`/folders/${id}`), key, 'PATCH', body);
const asset = async (name: string, fields: Record<string, string> = {}): Promise<string> =>
  (await upload(app, key, file(`of ${name}`, name), fields)).body.data.id;
const list = async (query: string) =>
  (await call(at(`?${query}`), key)).body.data.map(({ name }: { name: string }) => name);

describe('a folder', () => {
  it('is unique within its parent, in any case; 20 callers at once make one', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => make(i % 2 ? 'Summer' : 'SUMMER')));
    const ids = answers.flatMap(({ status, body }) => (status === 201 ? [body.data.id] : []));
    expect(ids).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ body }) => `${body.code} ${body.existing_id}`))).toEqual(
      new Set([`CONFLICT ${ids[0]}`]),
    );
    expect((await make('summer', ids[0])).status).toBe(201);
    const other = await folder('Autumn');
    const { status, body } = await move(other, { name: 'sUmmer' });
    expect([status, body.existing_id]).toEqual([409, ids[0]]);
    expect((await move(other, { name: 'AUTUMN' })).body.data.name).toBe('AUTUMN');
  });

  it('is never inside itself or its subfolders, even when two moves race', async () => {
    const a = await folder('a');
    const b = await folder('b', a);
    for (const parent_id of [a, b]) {
      const { status, body } = await move(a, { parent_id });
      expect([status, body.details[0].code]).toEqual([422, 'circular']);
    }
    const [c, d] = [await folder('c'), await folder('d')];
    const moves = await Promise.all([move(c, { parent_id: d }), move(d, { parent_id: c })]);
    expect(moves.map(({ status }) => status).toSorted()).toEqual([200, 422]);
  });

  it('is at most ten levels deep, also after a move with its subfolders', async () => {
    let parent: string | undefined;
    const line: string[] = [];
    for (let level = 1; level <= 10; level += 1) {
      parent = await folder(`level ${level}`, parent);
      line.push(parent);
    }
    expect((await make('level 11', parent)).body.details[0]).toMatchObject({ field: 'parent_id', code: 'too_deep' });
    const top = await folder('top');
    await folder('within', top);
    expect((await move(top, { parent_id: line[8] })).body.details[0].code).toBe('too_deep');
    expect((await move(top, { parent_id: line[7] })).status).toBe(200);
    expect((await move(top, { parent_id: null })).body.data.parent_id).toBe(null);
  });

  it('counts its assets, and is deleted only when it is empty', async () => {
    const full = await folder('full');
    const id = await asset('in it.bin', { folder_id: full });
    const counted = (await call(at('/folders?search=full'), key)).body.data;
    expect(counted).toMatchObject([{ id: full, asset_count: 1 }]);
    const { status, body } = await send(at(`/folders/${full}`), key, 'DELETE');
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
    await send(at(`/${id}`), key, 'DELETE');
    expect((await send(at(`/folders/${full}`), key, 'DELETE')).body.data).toEqual({ id: full, deleted: true });
    expect((await make('x', full)).body.details[0]).toMatchObject({ field: 'parent_id', code: 'not_found' });
  });
});

describe('assets', () => {
  it('are moved, tagged and renamed by PATCH: it sets, omits and clears, and changes all or none', async () => {
    const into = await folder('into');
    const ids = [await asset('one.bin', { tags: 'x' }), await asset('two.bin', { tags: 'x' })];
    const { body } = await send(at(''), key, 'PATCH', { ids, folder_id: into, usage_rights: 'Social only' });
    expect(body.data).toMatchObject({
      updated_count: 2,
      assets: ids.map((id) => ({ id, folder_id: into, tags: ['x'], usage_rights: 'Social only' })),
    });
    const cleared = await send(at(''), key, 'PATCH', { id: ids[0], folder_id: null, tags: [], name: 'First' });
    expect(cleared.body.data.assets).toMatchObject([
      { name: 'First', folder_id: null, tags: [], usage_rights: 'Social only' },
    ]);
    const wrong = await send(at(''), key, 'PATCH', { ids: [...ids, 'ast_nothing'], tags: ['new'] });
    expect([wrong.status, wrong.body.code, wrong.body.details]).toMatchObject([
      422,
      'INVALID_SELECTION',
      [{ field: 'ids.2', code: 'not_found' }],
    ]);
    expect((await call(at(`/${ids[1]}`), key)).body.data.tags).toEqual(['x']);
    const folderless = await send(at(''), key, 'PATCH', { id: ids[0], folder_id: 'fld_nothing' });
    expect(folderless.body.details[0]).toMatchObject({ field: 'folder_id', code: 'not_found' });
    for (const patch of [{ tags: [] }, { id: ids[0], ids }, { ids, name: 'both' }, { ids: [] }]) {
      expect((await send(at(''), key, 'PATCH', patch)).status).toBe(422);
    }
  });

  it('are found by folder, type, tag, part of the name and rights', async () => {
    const within = await folder('within');
    await asset('found_100%.txt', { folder_id: within, tags: 'rare' });
    await asset('ended.txt', { folder_id: within, rights_expires_at: '2020-01-01' });
    expect(await list(`folder_id=${within}`)).toEqual(['ended.txt', 'found_100%.txt']);
    expect(await list(`folder_id=${within}&rights=expired`)).toEqual(['ended.txt']);
    expect(await list(`folder_id=${within}&rights=valid`)).toEqual(['found_100%.txt']);
    expect(await list('tag=rare&type=document')).toEqual(['found_100%.txt']);
    expect(await list('search=_100%25')).toEqual(['found_100%.txt']);
    expect(await list('search=100_')).toEqual([]);
    expect(await list('folder_id=root&search=ended')).toEqual([]);
  });

  it('report whether they may be used on a day and a channel', async () => {
    const id = await asset('clip.txt');
    const rights = async (query = '') => (await call(at(`/${id}/rights?${query}`), key)).body.data;
    expect(await rights()).toEqual({ allowed: true, reason: 'no_limit', until: null });
    const terms = { channels: ['paid_social'], territory: 'EU', days: 90, starts: 'signed' };
    await send(at(''), key, 'PATCH', { id, rights: terms, rights_expires_at: '2027-06-01' });
    const until = '2027-06-01T00:00:00.000Z';
    expect(await rights('on=2027-05-31&channel=Paid_Social')).toEqual({ allowed: true, reason: 'within_terms', until });
    expect(await rights('on=2027-06-01')).toEqual({ allowed: false, reason: 'expired', until });
    expect(await rights('on=2027-05-31&channel=tv')).toEqual({ allowed: false, reason: 'channel_not_included', until });
    expect((await call(at(`/${id}`), key)).body.data.rights).toEqual({ ...terms, starts_on: null });
    await send(at(''), key, 'PATCH', { id, rights: { starts: 'fixed', starts_on: '2027-03-01' } });
    expect(await rights('on=2027-02-28')).toEqual({ allowed: false, reason: 'not_begun', until });
    expect(await rights('on=2027-03-01')).toEqual({ allowed: true, reason: 'within_terms', until });
  });
});
