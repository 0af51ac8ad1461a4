import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ContentRefreshes, startContentRefreshes } from '../../src/workflow/content/content.jobs.ts';
import { engineUrls, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { file } from '../harness/platform/uploading.ts';
import { BEHIND_PROXY } from '../harness/workflow/applying.ts';
import { answering, type ProfileProvider, startProvider } from '../harness/workflow/provider.ts';
import { openWorkDesk, type WorkDesk } from '../harness/workflow/work.ts';

/** Posts of all brands are refreshed, and other tests' are not to be touched. */
let database: TestDatabase;
let provider: ProfileProvider;
let app: TestApp;
let refreshes: ContentRefreshes;
let nowMs = Date.parse('2026-03-10T10:00:00Z');

beforeAll(async () => {
  [provider, database] = await Promise.all([startProvider(), makeDatabase('posted')]);
  app = await startApp({
    urls: { postgres: database.url },
    clock: { now: () => new Date(nowMs) },
    env: { ...BEHIND_PROXY, CONTENT_PROVIDER_URL: provider.url, CONTENT_PROVIDER_TOKEN: 'token' },
  });
  // Jobs of its own: another test's worker would take one, not know its row, and drop it.
  refreshes = startContentRefreshes(app.context, engineUrls().redis, { prefix: unique('content') });
});
afterAll(async () => {
  await refreshes?.close();
  await app?.close();
  await provider?.close();
  await database?.drop();
});

/** A signed contract for three reels, which may be used for 30 days from the first post. */
async function signedFor(desk: WorkDesk): Promise<string[]> {
  const { body } = await desk.post('/v1/contracts', {
    ...{ creator_email: desk.creator, title: 'Reels', send_for_signature: true },
    ...{ deliverables: [{ type: 'reel', quantity: 3 }], terms: { days: 30, starts: 'posted' } },
  });
  await desk.fill(await desk.linkTo('sign'), { name: 'Ana Diaz', agree: 'yes' });
  return (await desk.read(`/v1/deliverables?contract_id=${body.data.id}`)).map(({ id }: { id: string }) => id);
}

async function approve(desk: WorkDesk, id: string, url: string): Promise<string> {
  const fields = { deliverable: id, do: 'submit', content_url: url };
  expect((await desk.fill(await desk.linkTo('work'), fields, [file('cut', `${id}.txt`, 'text/plain')])).status).toBe(
    303,
  );
  const path = `/v1/deliverables/${id}`;
  expect((await desk.send('PATCH', path, { status: 'approved', track: true })).status).toBe(200);
  await desk.relay();
  return (await desk.read(path)).asset_ids[0];
}

it('rights that count from the first post end once its date is known, for all work of the contract; an end set by hand stays', async () => {
  const desk = await openWorkDesk(app);
  const [one = '', two = '', three = ''] = await signedFor(desk);
  const [early, late] = [`https://photo.app/p/${unique('e')}`, `https://photo.app/p/${unique('l')}`];
  const [asset1, asset2] = [await approve(desk, one, `${early}?ref=mail`), await approve(desk, two, late)];
  const endOf = async (id: string) => (await desk.read(`/v1/assets/${id}`)).rights_expires_at?.slice(0, 10) ?? null;
  const ends = async (...ids: string[]) => await Promise.all(ids.map(endOf));
  expect(await ends(asset1, asset2)).toEqual([null, null]);

  const posted = new Map<string, string>();
  provider.answer = (request, response) => {
    const url = new URL(request.url ?? '', 'http://provider.example').searchParams.get('url') ?? '';
    answering({ views: 1, posted_at: posted.get(url.replace(/\?.*/, '')) })(request, response);
  };
  /** Every post is read anew, an hour after the last time. */
  const readAgain = async () => {
    nowMs += 3_600_000;
    for (const { id } of await desk.read('/v1/content')) await desk.send('POST', `/v1/content/${id}/refresh`, {});
    await until('the readings', async () => {
      await refreshes.sweep();
      const content = await desk.read('/v1/content');
      return content?.every((post: { status: string; last_refreshed: string | null }) => post.status === 'tracking');
    });
  };
  await readAgain();
  expect(await ends(asset1, asset2)).toEqual([null, null]);
  posted.set(late, '2026-03-05T12:00:00Z');
  await readAgain();
  expect(await ends(asset1, asset2)).toEqual(['2026-04-04', '2026-04-04']);
  const answered = await desk.read(`/v1/assets/${asset1}/rights?on=2026-04-05`);
  expect([answered.allowed, answered.reason]).toEqual([false, 'expired']);
  posted.set(early, '2026-03-02T12:00:00Z');
  await readAgain();
  expect(await ends(asset1, asset2)).toEqual(['2026-04-01', '2026-04-01']);

  await desk.send('PATCH', '/v1/assets', { id: asset2, rights_expires_at: '2027-01-01' });
  const asset3 = await approve(desk, three, `https://photo.app/p/${unique('n')}`);
  expect(await ends(asset1, asset2, asset3)).toEqual(['2026-04-01', '2027-01-01', '2026-04-01']);
  const log = await desk.read(`/v1/audit-log?resource_id=${asset1}&operation=refresh_content`);
  expect(log).toHaveLength(2);
});
