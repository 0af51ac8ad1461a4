import { z } from 'zod';
import { create, get, patch, read } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { toCompensation, WEIGHED_COMPENSATION } from '../../kit/values/compensation.ts';
import { idField } from '../../kit/values/fields.ts';
import { toPage, toPagination } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { listBudgets } from '../terms/budgets.ts';
import { parseTerms } from '../terms/versions.ts';
import {
  CampaignCreator,
  CampaignCreatorFilter,
  CampaignCreatorList,
  countByStage,
  listCampaignCreators,
  sumFees,
  toAmount,
  toCampaignCreator,
} from './campaign-creators.ts';
import { CampaignCreate, CampaignDetail, CampaignPatch, CampaignSaved } from './campaigns.shapes.ts';
import { createCampaign, getCampaign, patchCampaign, toCampaign } from './campaigns.ts';

const listCampaignCreatorsOperation = read({
  id: 'list_campaign_creators',
  path: '/v1/campaigns/{id}/creators',
  tag: 'Campaigns',
  summary: 'List the creators of a campaign by stage',
  description:
    'Everyone who applied or works on the campaign, without rejected applicants, the furthest stage first. `summary` ' +
    'counts each stage and adds up the fixed fees of signed contracts.',
  forAgents: { isListed: false },
  params: z.object({ id: idField('cmp', 'Id of the campaign whose creators are listed.').max(100) }),
  query: CampaignCreatorFilter,
  response: CampaignCreatorList,
  errors: ['NOT_FOUND'],
  csv: {
    item: CampaignCreator,
    rows: async function* ({ postgres: { db } }, { caller: { brandId }, params, query }) {
      const { id: campaignId } = await getCampaign(db, brandId, params.id);
      const rows = await listCampaignCreators(db, { brandId, campaignId }, query.stage);
      for (const row of rows) yield toCampaignCreator(row);
    },
  },
  handler: async ({ postgres: { db } }, { caller: { brandId }, params, query }) => {
    const { id: campaignId } = await getCampaign(db, brandId, params.id);
    const [of, page] = [{ brandId, campaignId }, toPage(query)];
    const [rows, stages, fees] = await Promise.all([
      listCampaignCreators(db, of, query.stage, page),
      countByStage(db, of),
      sumFees(db, of),
    ]);
    const matchingStages = stages.filter(({ stage }) => query.stage === undefined || stage === query.stage);
    const total = matchingStages.reduce((sum, { creators }) => sum + creators, 0);
    return {
      data: rows.map(toCampaignCreator),
      pagination: toPagination(page, total),
      summary: { by_stage: stages, fees: fees.map(toAmount) },
    };
  },
});

const tag = 'Campaigns';

const campaignOperations = [
  create({
    id: 'create_campaign',
    path: '/v1/campaigns',
    tag,
    summary: 'Create a campaign',
    description:
      'Creates a campaign, with a public page where creators apply. The answer returns `name` as `title` and `type` as `campaign_type`, and describes `compensation` in a label.',
    forAgents: {
      description: 'Creators apply on its page while it is active.',
      example: { name: 'Summer launch', compensation: { type: 'commission', amount: 10 } },
      omits: ['terms'],
    },
    hints: { planned: ['terms'] },
    body: CampaignCreate,
    item: CampaignSaved,
    weighs: WEIGHED_COMPENSATION,
    apply: async (work, { body }) => toCampaign(await createCampaign(work, body)),
  }),
  get({
    id: 'get_campaign',
    path: '/v1/campaigns/{id}',
    tag,
    summary: 'Get a campaign',
    description: 'Includes its description, compensation, requirements and the page where creators apply.',
    item: CampaignDetail,
    find: async ({ postgres, config, clock }, { caller, params }) => {
      const row = await getCampaign(postgres.db, caller.brandId, params.id);
      const terms = row.terms === null ? null : parseTerms(row.terms);
      const place = { place: 'campaign', placeId: row.id, terms } as const;
      const budget = (await listBudgets(postgres.db, caller.brandId, clock.now(), [place])).get(row.id) ?? [];
      const { platforms, minFollowers, contentTypes, deliverablesCount } = row;
      const requirements = toWire({ platforms, minFollowers, contentTypes, deliverablesCount });
      const apply_url = `${config.linksUrl}/apply/${row.id}`;
      return { ...toCampaign(row), compensation: toCompensation(row), requirements, apply_url, terms, budget };
    },
  }),
  patch({
    id: 'update_campaign',
    path: '/v1/campaigns/{id}',
    tag,
    summary: 'Change a campaign',
    description:
      'Only the fields that you send change, and null clears one; the same inside `compensation` and `requirements`.',
    forAgents: {
      description: 'Also inside `compensation` and `requirements`, what is omitted stays.',
      example: { id: 'cmp_…', status: 'paused' },
      omits: ['terms'],
    },
    hints: { planned: ['terms'] },
    body: CampaignPatch,
    item: CampaignSaved,
    errors: ['NOT_FOUND'],
    weighs: WEIGHED_COMPENSATION,
    apply: async (work, { params, body }) => toCampaign(await patchCampaign(work, params.id, body)),
  }),
  listCampaignCreatorsOperation,
] as const;

/** The list of campaigns shows what they sold, so its operation is in `analytics/campaigns.api.ts`. */
export const campaignsNoun = noun({
  name: 'campaigns',
  tag: {
    name: 'Campaigns',
    about: 'What creators apply to. Each has a public page, `/apply/{id}`.',
  },
  ids: { campaigns: 'cmp' },
  operations: campaignOperations,
});
