import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp } from '../harness/app.ts';
import { mailsOf, pathOf } from '../harness/kit/mail.ts';
import { apply, BEHIND_PROXY, makeCampaign, someAddress } from '../harness/workflow/applying.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
});
afterAll(() => app?.close());

const FIRST = { email: 'ann@mail.example', name: 'Ann', photo_app: 'ann.photos', message: 'Hello' };
const SECOND = { ...FIRST, name: 'Ann B', photo_app: 'ann.new', message: 'Hello again', email: 'ANN@mail.example' };

async function makeOwner() {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const campaign = await makeCampaign(app, key);
  const first = await apply(app, campaign, FIRST);
  const { id } = (await call(`${app.url}/v1/applications`, key)).body.data[0];
  return {
    ...{ campaign, id, first },
    read: async () => (await call(`${app.url}/v1/applications/${id}`, key)).body.data,
    patch: (status: string) => send(`${app.url}/v1/applications/${id}`, key, 'PATCH', { status }),
    log: async () => (await call(`${app.url}/v1/audit-log?resource_id=${id}`, key)).body.data,
    links: async () => {
      const mails = (await mailsOf(app.context, brand.id)).filter(({ kind }) => kind === 'application_changed');
      return mails.map(({ links, to }) => ({
        to,
        path: links.map(pathOf).find((path) => path.startsWith('/confirm/')),
      }));
    },
  };
}

async function open(path: string | undefined, method = 'GET') {
  const body = method === 'POST' ? { body: new URLSearchParams() } : {};
  const response = await fetch(`${app.url}${path}`, { method, headers: { 'x-forwarded-for': someAddress() }, ...body });
  return { status: response.status, page: await response.text() };
}

it('a second sender changes a pending application only by the link that was mailed to its address', async () => {
  const owner = await makeOwner();
  await apply(app, owner.campaign, SECOND);
  expect(await owner.read()).toMatchObject({ creator_name: 'Ann', creator_photo_app: 'ann.photos', updated_at: null });
  const [mail] = await owner.links();
  expect(mail?.to).toBe('ann@mail.example');

  const shown = await open(mail?.path);
  expect([shown.status, shown.page.includes('Hello again')]).toEqual([200, true]);
  expect((await owner.read()).message).toBe('Hello');

  expect((await open(mail?.path, 'POST')).page).toContain('Application changed');
  expect(await owner.read()).toMatchObject({
    ...{ creator_name: 'Ann B', creator_photo_app: 'ann.new', message: 'Hello again' },
    ...{ creator_email: 'ann@mail.example', status: 'pending', updated_at: expect.any(String) },
  });
  await open(mail?.path, 'POST');
  const operations = (await owner.log()).map(({ operation }: { operation: string }) => operation);
  expect(operations).toEqual(['page_confirm', 'apply']);
});

it('the page gives first and repeated applicants the same answer', async () => {
  const owner = await makeOwner();
  const again = await apply(app, owner.campaign, SECOND);
  expect([again.status, again.headers.get('location'), again.page]).toEqual([
    owner.first.status,
    owner.first.headers.get('location'),
    owner.first.page,
  ]);
});

it('an identical second application changes nothing and sends no mail', async () => {
  const owner = await makeOwner();
  await apply(app, owner.campaign, FIRST);
  expect(await owner.links()).toEqual([]);
});

it('a decided application cannot be changed by any link', async () => {
  const owner = await makeOwner();
  await apply(app, owner.campaign, SECOND);
  const [mail] = await owner.links();
  expect((await owner.patch('shortlisted')).status).toBe(200);
  expect((await open(mail?.path, 'POST')).page).toContain('Already decided');
  expect(await owner.read()).toMatchObject({ creator_name: 'Ann', message: 'Hello' });
  await apply(app, owner.campaign, { ...SECOND, message: 'Once more' });
  expect(await owner.links()).toHaveLength(1);
});

it('an address gets at most five mails a day, however often strangers apply with it', async () => {
  const owner = await makeOwner();
  const answers = await Promise.all(
    Array.from({ length: 9 }, (_, i) => apply(app, owner.campaign, { ...SECOND, message: `Number ${i}` })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
  expect(await owner.links()).toHaveLength(5);
});
