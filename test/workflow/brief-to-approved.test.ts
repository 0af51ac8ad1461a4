import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, made, type TestApp, until } from '../harness/app.ts';
import { type Receiver, startReceiver } from '../harness/kit/receiver.ts';
import { file, here } from '../harness/platform/uploading.ts';
import { openClock, startAlone, startWebhookWorker, type Worker } from '../harness/platform/webhooks.ts';
import { BEHIND_PROXY } from '../harness/workflow/applying.ts';
import { openWorkDesk } from '../harness/workflow/work.ts';

let app: TestApp;
let worker: Worker;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  app = await startAlone(openClock(), BEHIND_PROXY);
  worker = startWebhookWorker(app);
});
afterAll(async () => {
  await worker?.stop();
  await app?.close();
  await receiver?.close();
});

const REPORTED = [
  'deliverable.submitted',
  'deliverable.revision_requested',
  'deliverable.submitted',
  'deliverable.approved',
];

it('a brief goes out, a contract is signed from the mail, work is handed in, revised and approved, and the brief completes', async () => {
  const desk = await openWorkDesk(app);
  const key = await desk.brand.key('brand');
  const hook = await made(`${app.url}/v1/webhooks`, key, {
    url: `${receiver.url}/hook`,
    events: [...new Set(REPORTED)],
  });

  // The brand writes a brief and sends it; the creator reads it.
  const brief = (
    await desk.post('/v1/briefs', { title: 'A reel', campaign_id: desk.campaign, creator_email: desk.creator })
  ).body.data;
  const sent = await desk.post(`/v1/briefs/${brief.id}`, { action: 'send' });
  expect(sent.body.data.recipients).toEqual([{ email: desk.creator, status: 'sent', reason: null }]);
  expect((await desk.open(await desk.linkTo('brief'))).text).toContain('A reel');
  expect((await desk.read(`/v1/briefs/${brief.id}`)).status).toBe('in_progress');

  // It makes a contract; the creator signs from the mail.
  const contract = (
    await desk.post('/v1/contracts', {
      ...{ creator_email: desk.creator, campaign_id: desk.campaign, title: 'Summer', send_for_signature: true },
      ...{
        deliverables: [{ type: 'reel', platform: 'video_app' }],
        usage_rights: 'Ads, for 30 days.',
        terms: { days: 30 },
      },
    })
  ).body.data;
  const signing = await desk.linkTo('sign');
  expect((await desk.open(signing)).text).toContain('Ads, for 30 days.');
  expect((await desk.fill(signing, { name: 'Ana Diaz', agree: 'yes' })).status).toBe(303);
  expect((await desk.read(`/v1/contracts/${contract.id}`)).status).toBe('signed');

  // The creator hands in a file and a link; a revision is asked for; the next version is approved.
  const [{ id }] = await desk.read(`/v1/deliverables?contract_id=${contract.id}`);
  const submit = async (n: number) =>
    await desk.fill(
      await desk.linkTo('work'),
      { deliverable: id, do: 'submit', content_url: `https://video.app/v/${n}`, note: `Version ${n}` },
      [file(`cut ${n}`, `cut-${n}.txt`, 'text/plain')],
    );
  expect((await submit(1)).status).toBe(303);
  const revise = { status: 'revision_requested', feedback: 'Brighter, please.' };
  expect((await desk.send('PATCH', `/v1/deliverables/${id}`, revise)).status).toBe(200);
  const page = await desk.open(await desk.linkTo('work'));
  expect(page.text).toContain('Brighter, please.');
  expect(page.text).toContain('cut-1.txt');
  expect((await submit(2)).status).toBe(303);
  expect((await desk.send('PATCH', `/v1/deliverables/${id}`, { status: 'approved', track: true })).status).toBe(200);
  const done = await desk.read(`/v1/deliverables/${id}`);
  expect(done).toMatchObject({ status: 'approved', version: 2, content_url: 'https://video.app/v/2' });

  // The file is in the library, to be used as the contract says.
  const asset = await desk.read(`/v1/assets/${done.asset_ids[0]}`);
  const { signed_at } = await desk.read(`/v1/contracts/${contract.id}`);
  expect(asset).toMatchObject({
    name: 'cut-2.txt',
    source: 'deliverable',
    creator_email: desk.creator,
    campaign_id: desk.campaign,
  });
  expect(new Date(asset.rights_expires_at).getTime() - new Date(signed_at).getTime()).toBe(30 * 86_400_000);
  expect((await call(here(app, asset.url))).body).toBe('cut 2');

  // The brief is completed by that, once its consumer has seen the approval.
  await desk.relay();
  expect(await desk.read(`/v1/briefs/${brief.id}`)).toMatchObject({
    status: 'completed',
    completed_at: expect.any(String),
  });

  // The post that was handed in is followed from then on.
  expect(await desk.read('/v1/content')).toMatchObject([
    { url: done.content_url, creator_email: desk.creator, campaign_id: desk.campaign },
  ]);

  // The feed and the webhook tell it, each once, in the same bytes.
  const feed = (await desk.events()).filter(({ event }) => event.startsWith('deliverable.'));
  expect(feed.map(({ event }) => event)).toEqual(REPORTED);
  expect(feed.at(-1)?.data).toEqual((await desk.read('/v1/deliverables'))[0]);
  await until('four deliveries', () => receiver.at('/hook').length >= REPORTED.length);
  const bodies = receiver.at('/hook').map(({ body }) => JSON.parse(body));
  expect(bodies.map(({ event }) => event).sort()).toEqual([...REPORTED].sort());
  for (const { body, headers } of receiver.at('/hook')) {
    const signature = createHmac('sha256', hook.secret).update(body).digest('hex');
    expect(headers['x-service-signature']).toBe(`sha256=${signature}`);
  }
});
