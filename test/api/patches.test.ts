import { afterAll, beforeAll } from 'vitest';
import { ApplicationPatch } from '../../src/resources/applications/schema.ts';
import { BrandPatch } from '../../src/resources/brands/schema.ts';
import { CampaignPatch } from '../../src/resources/campaigns/schema.ts';
import { ContractPatch } from '../../src/resources/contracts/schema.ts';
import { DeliverablePatch } from '../../src/resources/deliverables/schema.ts';
import { RosterPatch } from '../../src/resources/roster/schema.ts';
import { call, keysInTurn, made, makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { apply, BEHIND_PROXY, makeCampaign } from '../harness/applying.ts';
import { describePatches, type Field, type Patched, refused, text } from '../harness/patching.ts';

let app: TestApp;
let key: () => string;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
  key = await keysInTurn(await makeBrand(app.context), 15);
  await made(`${app.url}/v1/roster`, key(), { creator_email: OTHER });
  campaign = await makeCampaign(app, key());
});
afterAll(() => app?.close());

/** On the roster, for a patch to name. */
const OTHER = `${unique('other')}@mail.example`;
let campaign: string;

async function onRoster(): Promise<string> {
  const creator_email = `${unique('ann')}@mail.example`;
  await made(`${app.url}/v1/roster`, key(), { creator_email });
  return creator_email;
}

const inCampaign: Field = {
  get set() {
    return campaign;
  },
  shows: 'campaign_id',
  cleared: null,
};

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

describePatches(
  {
    get app() {
      return app;
    },
    key: () => key(),
  },
  RECORDS,
);
