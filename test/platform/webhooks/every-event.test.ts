import { Webhook as Standard } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventNames } from '../../../src/kit/outbox/events.ts';
import { type ContentRefreshes, startContentRefreshes } from '../../../src/workflow/content/content.jobs.ts';
import { daysAgo, makeAssignment } from '../../harness/affiliates/sales.ts';
import {
  connectTestStore,
  deliver,
  signedDelivery,
  startStore,
  type TestStore,
  WEBHOOK_SECRET,
} from '../../harness/affiliates/store.ts';
import { engineUrls, made, send, type TestApp, unique, until } from '../../harness/app.ts';
import { type Receiver, startReceiver } from '../../harness/kit/receiver.ts';
import { openClock, startAlone, startWebhookWorker, type Worker } from '../../harness/platform/webhooks.ts';
import { apply, BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { answering, type ProfileProvider, startProvider } from '../../harness/workflow/provider.ts';
import { reply } from '../../harness/workflow/talking.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';

let app: TestApp;
let worker: Worker;
let receiver: Receiver;
let provider: ProfileProvider;
let store: TestStore;
let refreshes: ContentRefreshes;

beforeAll(async () => {
  [receiver, provider, store] = await Promise.all([startReceiver(), startProvider(), startStore('generic')]);
  const content = { CONTENT_PROVIDER_URL: provider.url, CONTENT_PROVIDER_TOKEN: 'token' };
  app = await startAlone(openClock(), { ...BEHIND_PROXY, ...content });
  worker = startWebhookWorker(app);
  // Jobs of its own: another test's worker would take one, not know its row, and drop it.
  refreshes = startContentRefreshes(app.context, engineUrls().redis, { prefix: unique('content') });
});
afterAll(async () => {
  await worker?.stop();
  await refreshes?.close();
  await app?.close();
  await receiver?.close();
  await provider?.close();
  await store?.close();
});

/** An event and the id of what it is about. */
type Reported = [event: string, id: string];

async function changed(desk: WorkDesk, path: string, body: object): Promise<void> {
  const answer = await desk.send('PATCH', path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

async function applies(desk: WorkDesk): Promise<Reported[]> {
  await apply(app, desk.campaign, { email: `${unique('zoe')}@mail.example`, name: 'Zoë' });
  const [{ id }] = await desk.read(`/v1/campaigns/${desk.campaign}/applications`);
  await changed(desk, `/v1/applications/${id}`, { status: 'accepted' });
  return [
    ['application.received', id],
    ['application.approved', id],
  ];
}

async function works(desk: WorkDesk): Promise<Reported[]> {
  const terms = { creator_email: desk.creator, campaign_id: desk.campaign, title: 'Summer', send_for_signature: true };
  const deliverables = Array.from({ length: 2 }, () => ({ type: 'reel', platform: 'video_app' }));
  const contract = (await desk.post('/v1/contracts', { ...terms, deliverables })).body.data;
  expect((await desk.fill(await desk.linkTo('sign'), { name: 'Ana Diaz', agree: 'yes' })).status).toBe(303);
  const [one, other] = await desk.read(`/v1/deliverables?contract_id=${contract.id}`);
  const fill = async (id: string, fields: Record<string, string>) => {
    const page = await desk.fill(await desk.linkTo('work'), { deliverable: id, ...fields }, 'multipart');
    expect(page.status).toBe(303);
  };
  await fill(one.id, { do: 'submit', content_url: 'https://video.app/v/1' });
  await changed(desk, `/v1/deliverables/${one.id}`, { status: 'revision_requested', feedback: 'Brighter, please.' });
  await fill(one.id, { do: 'submit', content_url: 'https://video.app/v/2' });
  await changed(desk, `/v1/deliverables/${one.id}`, { status: 'approved' });
  await fill(other.id, { do: 'decline', reason: 'I am on holiday.' });
  await changed(desk, `/v1/deliverables/${other.id}`, { status: 'cancelled' });
  return [
    ['deliverable.submitted', one.id],
    ['deliverable.revision_requested', one.id],
    ['deliverable.submitted', one.id],
    ['deliverable.approved', one.id],
    ['deliverable.declined', other.id],
    ['deliverable.cancelled', other.id],
  ];
}

async function talks(desk: WorkDesk): Promise<Reported[]> {
  const written = await desk.post('/v1/messages', { creator_email: desk.creator, body: 'Hello', send_email: true });
  const [mail] = await desk.mails();
  const link = mail?.links.find((one) => one.includes('/talk/')) ?? '';
  await reply(`${app.url}${new URL(link).pathname}`, 'Hello to you');
  const thread = await desk.read(`/v1/messages/${written.body.data.conversation_id}`);
  const answer = thread.messages.find(({ sender }: { sender: string }) => sender === 'creator');
  return [['message.received', answer.id]];
}

async function posts(desk: WorkDesk): Promise<Reported[]> {
  provider.answer = answering({ views: 1_000, likes: 50, comments: 3, shares: 2, saves: null });
  const url = `https://www.instagram.com/reel/${unique('C').slice(0, 20)}/`;
  const { id } = (await desk.post('/v1/content', { url })).body.data;
  expect((await desk.send('POST', `/v1/content/${id}/refresh`)).status).toBe(200);
  await until('the reading', async () => {
    await refreshes.sweep();
    return (await desk.read(`/v1/content/${id}`))?.status === 'tracking';
  });
  return [['content.refreshed', id]];
}

async function sells(desk: WorkDesk): Promise<Reported[]> {
  const integration = await connectTestStore(app.context, desk.brand.id, store);
  const { code, email } = await makeAssignment(app.context, desk.brand);
  const at = daysAgo(60).toISOString();
  const times = { placed_at: at, paid_at: at, updated_at: at };
  const order = { order_id: unique('o'), currency: 'USD', amount: 100, codes: [code], ...times };
  const signed = signedDelivery('generic', WEBHOOK_SECRET, 'order.paid', order);
  expect((await deliver(app.url, 'generic', integration, signed)).status).toBe(200);
  const [{ id }] = await desk.read('/v1/commissions');
  await changed(desk, `/v1/affiliates/commissions/${id}`, { status: 'approved' });
  const payout = await desk.post('/v1/payouts', { creator_email: email, amount: 10, method: 'manual' });
  return [
    ['commission.created', id],
    ['commission.approved', id],
    ['payout.created', payout.body.data.id],
  ];
}

it('each of the twelve events arrives once for its operation, with the data that the catalogue names, signed with both secrets while a rotation overlaps', async () => {
  const desk = await openWorkDesk(app);
  const key = await desk.brand.key('brand');
  const input = { url: `${receiver.url}/hook`, events: eventNames('current') };
  const { id, secret } = await made(`${app.url}/v1/webhooks`, key, input);
  const rotated = await send(`${app.url}/v1/webhooks/${id}/rotate-secret`, key, 'POST', { overlap_hours: 1 });

  const reported: Reported[] = [];
  for (const act of [applies, works, talks, posts, sells]) reported.push(...(await act(desk)));
  expect(new Set(reported.map(([event]) => event))).toEqual(new Set(eventNames('current')));
  await until('every delivery to have ended', async () => {
    const deliveries = await desk.read(`/v1/webhooks/${id}/deliveries?limit=100`);
    return deliveries?.filter(({ state }: { state: string }) => state === 'delivered').length === reported.length;
  });

  const bodies = receiver.received.map(({ body }) => JSON.parse(body));
  const arrived = bodies.map(({ event, data }) => [event, data.id].join(' '));
  expect(arrived.toSorted()).toEqual(reported.map((one) => one.join(' ')).toSorted());
  const catalogue = await desk.read('/v1/webhooks/events');
  for (const { event, data } of bodies) {
    const named = catalogue.find((one: { event: string }) => one.event === event);
    expect(Object.keys(data).toSorted(), event).toEqual(Object.keys(named.schema.properties).toSorted());
  }
  for (const { headers, body } of receiver.received) {
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
    for (const one of [secret, rotated.body.data.secret]) {
      expect(new Standard(one).verify(body, signed)).toEqual(JSON.parse(body));
    }
  }
});
