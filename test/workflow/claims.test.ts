import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, made, makeBrand, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { apply, BEHIND_PROXY, makeCampaign } from '../harness/workflow/applying.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
});
afterAll(() => app?.close());

async function makeOwner() {
  const key = await (await makeBrand(app.context)).key('brand');
  const campaign = await makeCampaign(app, key);
  const to = (path: string, method = 'GET', body?: object) => send(`${app.url}/v1/${path}`, key, method, body);
  return {
    campaign,
    to,
    add: (by: object) => made(`${app.url}/v1/roster${'ig_handle' in by || 'tt_handle' in by ? '/add' : ''}`, key, by),
    read: async (path: string) => (await call(`${app.url}/v1/${path}`, key)).body.data,
    async applied(fields: Record<string, string>): Promise<string> {
      expect((await apply(app, campaign, fields)).status).toBe(303);
      return (await to('applications?limit=1')).body.data[0].id;
    },
    accept: (id: string) => to(`applications/${id}`, 'PATCH', { status: 'accepted' }),
  };
}

it('an applicant with a known handle gives its creator neither an email address nor a name', async () => {
  const owner = await makeOwner();
  const handle = unique('star');
  await owner.applied({ email: 'eve@mail.example', name: 'Eve', photo_app: handle });
  const added = await owner.add({ ig_handle: handle });
  expect(added.name).toBeNull();
  expect(await owner.read(`roster/${added.id}`)).toMatchObject({ creator_email: null, creator_name: null });
});

it('an applicant with the address of a creator on the roster changes nothing of that creator', async () => {
  const owner = await makeOwner();
  const { id } = await owner.add({ creator_email: 'ann@mail.example' });
  const before = await owner.read(`roster/${id}`);
  await owner.applied({ email: 'ANN@mail.example', name: 'Eve', photo_app: 'eve.photos', video_app: 'eve' });
  expect(await owner.read(`roster/${id}`)).toEqual(before);
});

it('an applicant keeps no address or handle that the brand gives to another creator', async () => {
  const owner = await makeOwner();
  await owner.applied({ email: 'eve@mail.example', photo_app: 'ann.photos' });
  const { id } = await owner.add({ tt_handle: 'ann' });
  const taken = await owner.to(`roster/${id}`, 'PATCH', { creator_email: 'eve@mail.example' });
  expect(taken.status).toBe(200);
});

it('an accepted application creates a creator from its claims', async () => {
  const owner = await makeOwner();
  const id = await owner.applied({
    email: 'ann@mail.example',
    name: 'Ann',
    photo_app: '@ann.photos',
    video_app: 'ann',
  });
  expect((await owner.accept(id)).status).toBe(200);
  const [entry] = await owner.read('roster');
  expect(await owner.read(`roster/${entry.id}`)).toMatchObject({
    ...{ creator_email: 'ann@mail.example', creator_name: 'Ann', ig_handle: 'ann.photos', tt_handle: 'ann' },
  });
});

it('accepting fills in what the creator with the address lacks, and overwrites nothing', async () => {
  const owner = await makeOwner();
  const { id } = await owner.add({ creator_email: 'ann@mail.example' });
  await owner.to(`roster/${id}`, 'PATCH', { name: 'Ann Lee' });
  await owner.accept(await owner.applied({ email: 'Ann@mail.example', name: 'Annie', photo_app: 'ann.photos' }));
  expect(await owner.read(`roster/${id}`)).toMatchObject({ creator_name: 'Ann Lee', ig_handle: 'ann.photos' });
});

it('accepting gives a creator who is known only by a handle the address that claims it', async () => {
  const owner = await makeOwner();
  const { id } = await owner.add({ ig_handle: 'ann.photos' });
  await owner.accept(await owner.applied({ email: 'ann@mail.example', name: 'Ann', photo_app: 'ANN.photos' }));
  expect(await owner.read(`roster/${id}`)).toMatchObject({ creator_email: 'ann@mail.example', creator_name: 'Ann' });
  expect(await owner.read('roster')).toHaveLength(1);
});

it('a claimed handle stays with the creator who has it under another address', async () => {
  const owner = await makeOwner();
  const star = await owner.add({ ig_handle: 'star' });
  await owner.to(`roster/${star.id}`, 'PATCH', { creator_email: 'star@mail.example' });
  await owner.accept(await owner.applied({ email: 'eve@mail.example', photo_app: 'star' }));
  const [eve] = await owner.read('roster?limit=1');
  expect(await owner.read(`roster/${eve.id}`)).toMatchObject({ creator_email: 'eve@mail.example', ig_handle: null });
  expect(await owner.read(`roster/${star.id}`)).toMatchObject({ creator_email: 'star@mail.example' });
});

it('claims of two creators are a 409 that names both and changes nothing, until the two are merged', async () => {
  const owner = await makeOwner();
  const byEmail = await owner.add({ creator_email: 'ann@mail.example' });
  const byHandle = await owner.add({ ig_handle: 'ann.photos' });
  const id = await owner.applied({ email: 'ann@mail.example', name: 'Ann', photo_app: 'ann.photos' });
  const refused = await owner.accept(id);
  expect([refused.status, refused.body.code]).toEqual([409, 'CONFLICT']);
  expect(new Set(refused.body.existing_ids)).toEqual(new Set([byEmail.id, byHandle.id]));
  for (const named of [byEmail.id, byHandle.id, 'ann@mail.example', 'ann.photos']) {
    expect(refused.body.error).toContain(named);
  }
  expect((await owner.read(`applications/${id}`)).status).toBe('pending');
  expect((await owner.to(`roster/${byHandle.id}/merge`, 'POST', { into: byEmail.id })).status).toBe(200);
  expect((await owner.accept(id)).status).toBe(200);
  expect(await owner.read(`roster/${byEmail.id}`)).toMatchObject({ creator_name: 'Ann', ig_handle: 'ann.photos' });
});
