import { afterAll, beforeAll } from 'vitest';
import { WebhookPatch } from '../../../src/platform/webhooks/webhooks.shapes.ts';
import { AssetPatch } from '../../../src/workflow/assets/assets.shapes.ts';
import { BriefPatch } from '../../../src/workflow/briefs/briefs.shapes.ts';
import { ShipmentPatch } from '../../../src/workflow/shipments/shipments.shapes.ts';
import { call, keysInTurn, made, makeBrand, startApp, type TestApp, unique } from '../../harness/app.ts';
import { describePatches, type Field, type Patched, refused, text } from '../../harness/platform/patching.ts';
import { BEHIND_PROXY, makeCampaign } from '../../harness/workflow/applying.ts';

let app: TestApp;
let key: () => string;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
  key = await keysInTurn(await makeBrand(app.context), 15);
  await made(`${app.url}/v1/roster`, key(), { creator_email: OTHER });
  campaign = await makeCampaign(app, key());
  folder = (await made(`${app.url}/v1/assets/folders`, key(), { name: 'Launch' })).id;
});
afterAll(() => app?.close());

/** On the roster, for a patch to name. */
const OTHER = `${unique('other')}@mail.example`;
let campaign: string;
let folder: string;

async function onRoster(): Promise<string> {
  const creator_email = `${unique('ann')}@mail.example`;
  await made(`${app.url}/v1/roster`, key(), { creator_email });
  return creator_email;
}

/** Its selectors are no fields that a patch sets. */
const { id: _id, ids: _ids, ...assetFields } = AssetPatch.shape;

const inCampaign: Field = {
  get set() {
    return campaign;
  },
  shows: 'campaign_id',
  cleared: null,
};

async function makeBrief(more: object = {}): Promise<string> {
  const input = { title: 'x', creator_email: await onRoster(), ...more };
  return `/v1/briefs/${(await made(`${app.url}/v1/briefs`, key(), input)).id}`;
}

async function makeAsset(): Promise<string> {
  const body = new FormData();
  body.append('file', new File(['words'], 'clip.txt', { type: 'text/plain' }));
  const answer = await call(`${app.url}/v1/assets`, key(), { method: 'POST', body });
  return `/v1/assets/${answer.body.data.id}`;
}

const RECORDS: Record<string, Patched> = {
  brief: {
    shape: BriefPatch.shape,
    make: makeBrief,
    fields: {
      title: { set: 'Second', shows: 'title', cleared: refused },
      campaign_id: inCampaign,
      creator_email: { set: OTHER, shows: 'creator_email', cleared: null },
      content_type: text('content_type', 'reel'),
      platform: text('platform', 'video_app'),
      instructions: text('instructions'),
      talking_points: { set: ['a', 'b'], shows: 'talking_points', cleared: refused },
      do_not: { set: ['c'], shows: 'do_not', cleared: refused },
      mood_board_urls: { set: ['https://board.example/1'], shows: 'mood_board_urls', cleared: refused },
      due_date: text('due_date', '2030-01-31'),
      status: {
        ...{ set: 'completed', shows: 'status', cleared: refused, derives: 'completed_at' },
        make: () => makeBrief({ send_notification: true }),
      },
    },
  },
  shipment: {
    shape: ShipmentPatch.shape,
    make: async () =>
      `/v1/shipments/${(await made(`${app.url}/v1/shipments`, key(), { creator_email: await onRoster() })).id}`,
    fields: {
      status: { set: 'pending', shows: 'status', cleared: refused },
      campaign_id: inCampaign,
      carrier: { set: 'UPS', shows: 'carrier', becomes: 'ups', cleared: null },
      tracking_number: text('tracking_number'),
      estimated_arrival: text('estimated_arrival', '2030-01-31'),
      product_description: text('product_description'),
      products: {
        set: [{ name: 'Serum' }],
        shows: 'products',
        becomes: [{ name: 'Serum', sku: null, quantity: 1 }],
        cleared: null,
      },
      shipping_address: text('shipping_address', 'Elm Street 1, Austin'),
      notes: text('notes'),
    },
  },
  webhook: {
    shape: WebhookPatch.shape,
    make: async () => {
      const input = { url: 'https://receiver.invalid/', events: ['payout.created'] };
      return `/v1/webhooks/${(await made(`${app.url}/v1/webhooks`, key(), input)).id}`;
    },
    fields: {
      url: { set: 'https://other.invalid/', shows: 'url', cleared: refused },
      events: { set: ['content.refreshed'], shows: 'events', cleared: refused },
      active: { set: false, shows: 'active', cleared: refused, derives: 'status' },
      description: text('description'),
    },
  },
  asset: {
    shape: assetFields,
    make: makeAsset,
    byBody: true,
    fields: {
      name: { set: 'other.txt', shows: 'name', cleared: refused },
      folder_id: {
        get set() {
          return folder;
        },
        shows: 'folder_id',
        cleared: null,
      },
      tags: { set: ['a', 'b'], shows: 'tags', cleared: refused },
      usage_rights: text('usage_rights'),
      rights: {
        set: { days: 5 },
        shows: 'rights',
        becomes: { channels: null, territory: null, days: 5, starts: null, starts_on: null },
        cleared: null,
      },
      rights_expires_at: { set: '2199-01-01T00:00:00.000Z', shows: 'rights_expires_at', cleared: null },
    },
  },
};

describePatches(
  {
    get app() {
      return app;
    },
    key: () => key(),
  },
  RECORDS,
);
