import { afterAll, beforeAll } from 'vitest';
import { AlertPatch } from '../../../src/analytics/alerts/alerts.shapes.ts';
import { CostPatch } from '../../../src/analytics/costs/costs.api.ts';
import { ReportPatch } from '../../../src/analytics/reports/reports.shapes.ts';
import { SavedSearchPatch } from '../../../src/directory/saved-searches/saved-searches.api.ts';
import { BrandPatch } from '../../../src/platform/brands/brands.api.ts';
import { ApplicationPatch } from '../../../src/workflow/applications/applications.shapes.ts';
import { CampaignPatch } from '../../../src/workflow/campaigns/campaigns.shapes.ts';
import { ContractPatch } from '../../../src/workflow/contracts/contracts.shapes.ts';
import { DeliverablePatch } from '../../../src/workflow/deliverables/deliverables.shapes.ts';
import { RosterPatch } from '../../../src/workflow/roster/roster.shapes.ts';
import { call, keysInTurn, made, makeBrand, startApp, type TestApp, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { describePatches, type Field, type Patched, refused, text } from '../../harness/platform/patching.ts';
import { signIn } from '../../harness/platform/session.ts';
import { apply, BEHIND_PROXY, makeCampaign } from '../../harness/workflow/applying.ts';

const alias = unique('patches');
let app: TestApp;
let key: () => string;

beforeAll(async () => {
  app = await startApp({ alias, env: BEHIND_PROXY });
  await putDirectory(app.context.elastic, alias, [creator(1)]);
  const brand = await makeBrand(app.context);
  key = await keysInTurn(brand, 15);
  owner = (await (await signIn(app, brand.id)).get('/v1/people')).body.data[0].email;
  await made(`${app.url}/v1/roster`, key(), { creator_email: OTHER });
  campaign = await makeCampaign(app, key());
});
afterAll(() => app?.close());

/** On the roster, for a patch to name. */
const OTHER = `${unique('other')}@mail.example`;
let campaign: string;
/** The address of the brand's owner. */
let owner: string;

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

const ownAddress: Field = {
  get set() {
    return [owner];
  },
  shows: 'to',
  cleared: refused,
};

/** Without `notify`, which is no field: it has creators told of other terms. */
const { notify: _notify, ...campaignFields } = CampaignPatch.shape;

const RECORDS: Record<string, Patched> = {
  campaign: {
    shape: campaignFields,
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
      terms: {
        set: { rate: { percent: 12 }, covers: 'subscription' },
        shows: 'terms',
        becomes: {
          ...{ rate: { percent: 12 }, rules: [], covers: 'subscription' },
          ...{ months: null, payments: null, caps: null, budget: null },
        },
        cleared: null,
      },
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
  'saved search': {
    shape: SavedSearchPatch.shape,
    make: async () => {
      const search = { name: unique('search'), filters: { category: 'Food' } };
      return `/v1/saved-searches/${(await made(`${app.url}/v1/saved-searches`, key(), search)).id}`;
    },
    fields: {
      name: { set: 'Second', shows: 'name', cleared: refused },
      filters: { set: { category: 'Cars' }, shows: 'filters', cleared: refused },
      shared: { set: true, shows: 'shared', cleared: refused },
      alert: {
        get set() {
          return { every: 'week', mail: [owner] };
        },
        shows: 'alert',
        cleared: null,
      },
    },
  },
  cost: {
    shape: CostPatch.shape,
    make: async () =>
      `/v1/costs/${(await made(`${app.url}/v1/costs`, key(), { kind: 'per_order', amount: 1, from: '2026-01-01' })).id}`,
    fields: {
      amount: { set: 2.5, shows: 'amount', cleared: refused },
      from: { set: '2026-02-01', shows: 'from', cleared: null },
      to: { set: '2026-12-31', shows: 'to', cleared: null },
      note: text('note'),
    },
  },
  report: {
    shape: ReportPatch.shape,
    make: async () => {
      const report = { operation: 'breakdown', every: 'day', timezone: 'UTC', to: [owner] };
      return `/v1/reports/${(await made(`${app.url}/v1/reports`, key(), report)).id}`;
    },
    fields: {
      name: text('name'),
      operation: { set: 'share', shows: 'operation', cleared: refused },
      parameters: { set: { by: 'country' }, shows: 'parameters', cleared: refused },
      every: { set: 'month', shows: 'every', cleared: refused, derives: 'next_at' },
      at: { set: '09:30', shows: 'at', cleared: refused, derives: 'next_at' },
      timezone: { set: 'Asia/Tokyo', shows: 'timezone', cleared: refused, derives: 'next_at' },
      to: ownAddress,
    },
  },
  alert: {
    shape: AlertPatch.shape,
    make: async () => {
      const alert = { metric: 'revenue', condition: 'below', threshold: 5, timezone: 'UTC', to: [owner] };
      return `/v1/alerts/${(await made(`${app.url}/v1/alerts`, key(), alert)).id}`;
    },
    fields: {
      name: text('name'),
      metric: { set: 'clicks', shows: 'metric', cleared: refused, derives: 'next_at' },
      by: { set: 'creator', shows: 'by', cleared: null, derives: 'next_at' },
      condition: { set: 'unusual', shows: 'condition', cleared: refused, derives: 'next_at' },
      threshold: { set: 6.5, shows: 'threshold', cleared: refused, derives: 'next_at' },
      window: { set: 'week', shows: 'window', cleared: refused, derives: 'next_at' },
      currency: { set: 'EUR', shows: 'currency', cleared: refused, derives: 'next_at' },
      timezone: { set: 'Asia/Tokyo', shows: 'timezone', cleared: refused, derives: 'next_at' },
      to: ownAddress,
    },
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
      'settings.time_zone': { set: 'America/New_York', shows: 'settings.time_zone', cleared: refused },
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
