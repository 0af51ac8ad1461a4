import sharp from 'sharp';
import { expect } from 'vitest';
import { daysAgo, makeAssignment, makeSale } from '../affiliates/sales.ts';
import { connectTestStore, type TestStore } from '../affiliates/store.ts';
import { sync } from '../analytics/figures.ts';
import type { TestApp } from '../app.ts';
import { file } from '../platform/uploading.ts';
import { apply, makeCampaign } from './applying.ts';
import { reply } from './talking.ts';
import type { WorkDesk } from './work.ts';

async function picture(name: string, background: string): Promise<File> {
  const bytes = await sharp({ create: { width: 640, height: 400, channels: 3, background } })
    .png()
    .toBuffer();
  return file(new Uint8Array(bytes), name, 'image/png');
}

/** A version of a deliverable, as its creator sends it. */
export async function submit(desk: WorkDesk, id: string, n: number): Promise<void> {
  const fields = { deliverable: id, do: 'submit', content_url: `https://video.app/v/${n}`, note: `Cut ${n}` };
  const sent = await desk.fill(await desk.linkTo('work'), fields, [await picture(`cut-${n}.png`, '#0f766e')]);
  expect(sent.status, sent.text).toBe(303);
}

/** Something of each kind, made by the doors that a brand, its creators and its agents use. */
export async function fillWork(app: TestApp, desk: WorkDesk): Promise<void> {
  const made = async (path: string, body: object) => {
    const answer = await desk.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body.data;
  };
  const creator_email = desk.creator;
  const brief = await made('/v1/briefs', {
    ...{ title: 'A reel of the summer shoes', campaign_id: desk.campaign, creator_email, content_type: 'reel' },
    ...{ instructions: 'Show the soles.', talking_points: ['They are light'], do_not: ['No other brands'] },
  });
  await made(`/v1/briefs/${brief.id}`, { action: 'send' });
  const contract = await made('/v1/contracts', {
    ...{ creator_email, campaign_id: desk.campaign, title: 'Summer launch', send_for_signature: true },
    ...{ deliverables: [{ type: 'reel', platform: 'video_app' }], usage_rights: 'Ads, for 30 days.' },
    ...{ terms: { days: 30, channels: ['ads'] }, compensation: { type: 'fixed', amount: 500, currency: 'USD' } },
  });
  expect((await desk.fill(await desk.linkTo('sign'), { name: 'Ana Diaz', agree: 'yes' })).status).toBe(303);
  const [{ id }] = await desk.read(`/v1/deliverables?contract_id=${contract.id}`);
  await submit(desk, id, 1);
  await made('/v1/shipments', { creator_email, product_description: 'Two pairs of shoes', carrier: 'Post' });
  await made('/v1/content', { url: 'https://www.instagram.com/reel/Cabc123', creator_email });
  await made('/v1/messages', {
    creator_email,
    body: 'On its way to you.\nTell us when it is there.',
    send_email: true,
  });
  const mails = await desk.mails();
  const talk = mails.flatMap(({ links }) => links).find((link) => link.includes('/talk/'));
  if (talk) await reply(`${app.url}${new URL(talk).pathname}`, 'It came today!');
  await askAboutStatement(app, desk, made);
  const planned = await desk.send('PATCH', `/v1/campaigns/${desk.campaign}?mode=plan`, {
    name: 'Summer',
    status: 'paused',
  });
  expect(planned.status, JSON.stringify(planned.body)).toBe(202);
  const form = new FormData();
  form.append('file', await picture('shoes.png', '#b45309'));
  const answer = await fetch(`${app.url}/v1/assets`, {
    ...{ method: 'POST', body: form, headers: { authorization: `Bearer ${await desk.brand.key('brand')}` } },
  });
  expect(answer.status).toBe(201);
}

async function askAboutStatement(
  app: TestApp,
  desk: WorkDesk,
  made: (path: string, body: object) => Promise<{ url: string }>,
): Promise<void> {
  const assignment = await makeAssignment(app.context, desk.brand, { name: 'Ann Lee', holdDays: 0 });
  const sale = await makeSale(app.context, desk.brand, { assignment, occurredAt: daysAgo(20) });
  const day = (days: number) => daysAgo(days).toISOString().slice(0, 10);
  const statement = await made('/v1/statements', { creator_email: assignment.email, from: day(40), to: day(0) });
  const { pathname, search } = new URL(statement.url);
  const requested = await desk.fill(`${pathname}${search}`, { line: sale.id, message: 'Where is the rest?' });
  expect(requested.status, requested.text).toBe(303);
}

/** What a brand has beside its work: sales and payouts, a store, webhooks, folders, people who apply. */
export async function fillBrand(app: TestApp, desk: WorkDesk, store: TestStore): Promise<void> {
  const { brand, post } = desk;
  await post('/v1/campaigns', { name: 'Spring launch', description: 'New shoes', deadline: '2027-04-01' });
  await post('/v1/campaigns', { name: 'Autumn', status: 'draft' });
  const names = ['Bo Berg', 'Zoë Nováková', 'Bartholomew Featherstonehaugh-Cholmondeley'];
  for (const [i, name] of names.entries()) {
    const assignment = await makeAssignment(app.context, brand, { name, holdDays: 30 });
    await makeSale(app.context, brand, { assignment, occurredAt: daysAgo(40 + i), amountMinor: 123_456 });
    await makeSale(app.context, brand, { assignment, occurredAt: daysAgo(2 + i), amountMinor: 9_900 });
    await post('/v1/payouts', { creator_email: assignment.email, amount: 50, method: 'manual' });
  }
  const terms = {
    rate: { percent: 12 },
    ...{ covers: 'subscription', months: 12, budget: { per: 'month', amount: { USD: 500 } } },
  };
  await post('/v1/groups', { name: 'Ambassadors', terms });
  await sync(app, brand.id);
  await connectTestStore(app.context, brand.id, store);
  await post('/v1/assets/folders', { name: 'Summer' });
  const hook = { url: 'https://receiver.invalid/a/rather/long/path/of/hooks', events: ['payout.created'] };
  await post('/v1/webhooks', hook);
  const open = await makeCampaign(app, await brand.key('brand'), { name: 'Open to all' });
  for (const name of ['Cy Young', 'Dee Dee']) {
    const email = `${name.replaceAll(' ', '.').toLowerCase()}@mail.example`;
    await apply(app, open, { email, name, message: 'I run every day, and would love to.' });
  }
}
