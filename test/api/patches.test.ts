import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApplicationPatch } from '../../src/resources/applications/schema.ts';
import { AssetPatch } from '../../src/resources/assets/schema.ts';
import { BrandPatch } from '../../src/resources/brands/schema.ts';
import { BriefPatch } from '../../src/resources/briefs/schema.ts';
import { CampaignPatch } from '../../src/resources/campaigns/schema.ts';
import { ContractPatch } from '../../src/resources/contracts/schema.ts';
import { DeliverablePatch } from '../../src/resources/deliverables/schema.ts';
import { RosterPatch } from '../../src/resources/roster/schema.ts';
import { ShipmentPatch } from '../../src/resources/shipments/schema.ts';
import { WebhookPatch } from '../../src/resources/webhooks/schema.ts';
import { call, made, makeBrand, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { apply, BEHIND_PROXY, makeCampaign } from '../harness/applying.ts';

let app: TestApp;
let keys: string[];
let turn = 0;
const key = () => {
  turn += 1;
  return keys[turn % keys.length] ?? '';
};

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
  const brand = await makeBrand(app.context);
  keys = await Promise.all(Array.from({ length: 15 }, () => brand.key('brand')));
  await made(`${app.url}/v1/roster`, key(), { creator_email: OTHER });
  campaign = await makeCampaign(app, key());
  folder = (await made(`${app.url}/v1/assets/folders`, key(), { name: 'Launch' })).id;
});
afterAll(() => app?.close());

const refused = Symbol('refused');

/** On the roster, for a patch to name. */
const OTHER = `${unique('other')}@mail.example`;
let campaign: string;
let folder: string;

async function onRoster(): Promise<string> {
  const creator_email = `${unique('ann')}@mail.example`;
  await made(`${app.url}/v1/roster`, key(), { creator_email });
  return creator_email;
}

/** A field of a patch: what to send, where the record then shows what, and what null leaves there. */
interface Field {
  set: unknown;
  shows: string;
  becomes?: unknown;
  cleared: unknown;
  /** What follows from it. */
  derives?: string;
  /** Where only a record in another state takes it. */
  make?: () => Promise<string>;
}

const text = (shows: string, set = 'text'): Field => ({ set, shows, cleared: null });

interface Patched {
  /** Every field that the shape has: a further one fails here until it is added. */
  shape: Record<string, unknown>;
  make: () => Promise<string>;
  fields: Record<string, Field>;
  /** Where a record is named in the body, and not by the path. */
  byBody?: true;
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
  campaign: {
    shape: CampaignPatch.shape,
    make: async () =>
      `/v1/campaigns/${await makeCampaign(app, key(), {
        compensation: { type: 'fixed', amount: 5, currency: 'EUR' },
        requirements: { min_followers: 7 },
      })}`,
    fields: {
      name: { set: 'Second', shows: 'title', cleared: refused },
      type: text('campaign_type', 'ugc'),
      description: text('description'),
      deadline: { set: '2027-01-31', shows: 'deadline', becomes: '2027-01-31T00:00:00.000Z', cleared: null },
      status: { set: 'paused', shows: 'status', cleared: refused },
      compensation: { set: { type: 'product' }, shows: 'compensation.type', becomes: 'product', cleared: null },
      'compensation.type': { set: 'product', shows: 'compensation.type', cleared: refused },
      'compensation.amount': { set: 9.5, shows: 'compensation.amount', cleared: null },
      'compensation.currency': { set: 'GBP', shows: 'compensation.currency', cleared: 'USD' },
      requirements: { set: { min_followers: 8 }, shows: 'requirements.min_followers', becomes: 8, cleared: null },
      'requirements.platforms': { set: ['video_app'], shows: 'requirements.platforms', cleared: null },
      'requirements.min_followers': { set: 9, shows: 'requirements.min_followers', cleared: null },
      'requirements.content_types': { set: ['reel'], shows: 'requirements.content_types', cleared: null },
      'requirements.deliverables_count': { set: 3, shows: 'requirements.deliverables_count', cleared: null },
    },
  },
  application: {
    shape: ApplicationPatch.shape,
    make: async () => {
      const campaign = await makeCampaign(app, key());
      await apply(app, campaign, { email: 'ann@mail.example' });
      const { body } = await call(`${app.url}/v1/campaigns/${campaign}/applications`, key());
      return `/v1/applications/${body.data[0].id}`;
    },
    fields: { status: { set: 'shortlisted', shows: 'status', cleared: refused }, note: text('note') },
  },
  'roster entry': {
    shape: RosterPatch.shape,
    make: async () => `/v1/roster/${(await made(`${app.url}/v1/roster/add`, key(), { ig_handle: unique('h') })).id}`,
    fields: {
      status: { set: 'paused', shows: 'status', cleared: refused },
      tags: { set: ['a', 'b'], shows: 'tags', cleared: [] },
      note: text('note'),
      name: text('creator_name'),
      creator_email: { set: `${unique('ann')}@mail.example`, shows: 'creator_email', cleared: refused },
    },
  },
  contract: {
    shape: ContractPatch.shape,
    make: async () => {
      const input = { creator_email: await onRoster(), title: 'x', deliverables: [{ type: 'reel' }] };
      return `/v1/contracts/${(await made(`${app.url}/v1/contracts`, key(), input)).id}`;
    },
    fields: {
      creator_email: { set: OTHER, shows: 'creator_email', cleared: refused },
      campaign_id: inCampaign,
      title: { set: 'Second', shows: 'title', cleared: refused },
      compensation: {
        set: { type: 'product' },
        shows: 'compensation',
        becomes: { type: 'product', amount: null, currency: 'USD' },
        cleared: null,
      },
      deliverables: {
        set: [{ type: 'story' }],
        shows: 'deliverables',
        becomes: [{ type: 'story', platform: null, quantity: 1, due_date: null }],
        cleared: refused,
      },
      usage_rights: text('usage_rights'),
      terms: {
        set: { days: 5 },
        shows: 'terms',
        becomes: { channels: [], territory: null, days: 5, starts: 'signed', starts_on: null },
        cleared: null,
      },
      expires_at: { set: '2199-01-01T00:00:00.000Z', shows: 'expires_at', cleared: null },
    },
  },
  deliverable: {
    shape: DeliverablePatch.shape,
    make: async () => {
      const input = { creator_email: await onRoster(), type: 'reel' };
      return `/v1/deliverables/${(await made(`${app.url}/v1/deliverables`, key(), input)).id}`;
    },
    fields: {
      status: { set: 'cancelled', shows: 'status', cleared: refused },
      feedback: text('feedback'),
      due_date: { set: '2030-01-31', shows: 'due_date', cleared: null },
      track: { set: true, shows: 'track', cleared: refused },
    },
  },
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
  // Last: a campaign's compensation is in the brand's currency when it names none.
  brand: {
    shape: BrandPatch.shape,
    make: async () => '/v1/brand',
    fields: {
      name: { set: unique('Brand'), shows: 'name', cleared: refused },
      logo: text('logo', 'https://brand.example/logo.png'),
      contact_name: text('contact_name'),
      contact_email: text('contact_email', 'ann@brand.example'),
      website: text('website', 'https://brand.example'),
      industry: text('industry'),
      description: text('description'),
      settings: { set: { currency: 'EUR' }, shows: 'settings.currency', becomes: 'EUR', cleared: refused },
      'settings.auto_approve_commissions': { set: true, shows: 'settings.auto_approve_commissions', cleared: refused },
      'settings.default_commission_rate': { set: 12.5, shows: 'settings.default_commission_rate', cleared: refused },
      'settings.currency': { set: 'JPY', shows: 'settings.currency', cleared: refused },
    },
  },
};

/** `{a: {b: value}}` of `a.b`. */
const patchOf = (path: string, value: unknown): object =>
  Object(path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value));

const at = (record: Record<string, unknown>, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value == null ? value : Object(value)[name]), record);

const read = async (path: string) => (await call(`${app.url}${path}`, key())).body.data;
const patch = (path: string, body: object) => send(`${app.url}${path}`, key(), 'PATCH', body);
/** Where a record is named in the body. */
const patchByBody = (path: string, body: object) => {
  const end = path.lastIndexOf('/');
  return patch(path.slice(0, end), { id: path.slice(end + 1), ...body });
};
/** What no patch of a field changes: everything but the field and what is derived with it. */
const rest = (record: Record<string, unknown>, { shows, derives = '' }: Field) => {
  const {
    updated_at: _at,
    compensation_label: _label,
    url: _url,
    product_description: _said,
    ...others
  } = structuredClone(record);
  Reflect.deleteProperty(others, derives);
  const path = shows.split('.');
  const last = path.pop() ?? '';
  const holder = at(others, path.join('.')) ?? others;
  if (typeof holder === 'object' && holder !== null) Reflect.deleteProperty(path.length > 0 ? holder : others, last);
  return others;
};

describe.each(Object.entries(RECORDS))('a patch of a %s', (_name, { shape, make, fields, byBody }) => {
  const change = byBody ? patchByBody : patch;

  it('knows exactly these fields', () => {
    expect(
      Object.keys(fields)
        .filter((name) => !name.includes('.'))
        .sort(),
    ).toEqual(Object.keys(shape).sort());
  });

  it('of nothing changes nothing', async () => {
    const path = await make();
    const before = await read(path);
    expect((await change(path, {})).status).toBe(200);
    expect({ ...(await read(path)), updated_at: '' }).toEqual({ ...before, updated_at: '' });
  });

  it.each(Object.entries(fields))(
    '%s: set sets it alone, omitted it stays, null does what is said',
    async (name, field) => {
      const path = await (field.make ?? make)();
      const before = await read(path);
      expect((await change(path, patchOf(name, field.set))).status).toBe(200);
      const set = await read(path);
      expect(at(set, field.shows)).toEqual(field.becomes ?? field.set);
      if (field.shows.startsWith(name)) expect(rest(set, field)).toEqual(rest(before, field));
      await change(path, {});
      expect(at(await read(path), field.shows)).toEqual(field.becomes ?? field.set);
      const cleared = await change(path, patchOf(name, null));
      expect(cleared.status).toBe(field.cleared === refused ? 422 : 200);
      const expected = field.cleared === refused ? at(set, field.shows) : field.cleared;
      expect(at(await read(path), field.shows)).toEqual(expected);
    },
  );
});
