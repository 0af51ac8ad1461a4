import { create, get, list, patch } from '../../kit/operation/kit.ts';
import { compensationLabel, compensationOf, WEIGHED_COMPENSATION } from '../../kit/values/compensation.ts';
import { toWire } from '../../kit/values/wire.ts';
import { createCampaign, patchCampaign } from './actions.ts';
import { listCampaignCreatorsOperation } from './creators/routes.ts';
import { type CampaignRow, campaigns, getCampaign } from './queries.ts';
import { Campaign, CampaignCreate, CampaignDetail, CampaignFilter, CampaignPatch, CampaignSaved } from './schema.ts';

const tag = 'Campaigns';

const campaignOf = <Row extends CampaignRow>(row: Row) => ({
  ...toWire(row),
  compensation_label: compensationLabel(row),
});

export const campaignOperations = [
  list({
    id: 'list_campaigns',
    path: '/v1/campaigns',
    tag,
    summary: "The brand's campaigns",
    description: 'Newest first.',
    forAgents: { omits: ['search'] },
    query: CampaignFilter,
    item: Campaign,
    rows: campaigns,
    itemOf: campaignOf,
  }),
  create({
    id: 'create_campaign',
    path: '/v1/campaigns',
    tag,
    summary: 'Create a campaign',
    description: '`name` becomes `title`, `type` becomes `campaign_type`; the label is derived from `compensation`.',
    forAgents: {
      description: 'Creators apply on its page while it is active.',
      example: { name: 'Summer launch', compensation: { type: 'commission', amount: 10 } },
    },
    body: CampaignCreate,
    item: CampaignSaved,
    weighs: WEIGHED_COMPENSATION,
    apply: async (work, { body }) => campaignOf(await createCampaign(work, body)),
  }),
  get({
    id: 'get_campaign',
    path: '/v1/campaigns/{id}',
    tag,
    summary: 'One campaign',
    description: 'Includes its description, compensation, requirements and the page where creators apply.',
    item: CampaignDetail,
    find: async ({ postgres, config }, { caller, params }) => {
      const row = await getCampaign(postgres.db, caller.brandId, params.id);
      const { platforms, minFollowers, contentTypes, deliverablesCount } = row;
      const requirements = toWire({ platforms, minFollowers, contentTypes, deliverablesCount });
      const apply_url = `${config.linksUrl}/apply/${row.id}`;
      return { ...campaignOf(row), compensation: compensationOf(row), requirements, apply_url };
    },
  }),
  patch({
    id: 'update_campaign',
    path: '/v1/campaigns/{id}',
    tag,
    summary: 'Change a campaign',
    description: 'Set changes, omit keeps, null clears; also inside `compensation` and `requirements`.',
    forAgents: {
      description: 'Also inside `compensation` and `requirements`, what is omitted stays.',
      example: { id: 'cmp_…', status: 'paused' },
    },
    body: CampaignPatch,
    item: CampaignSaved,
    errors: ['NOT_FOUND'],
    weighs: WEIGHED_COMPENSATION,
    apply: async (work, { params, body }) => campaignOf(await patchCampaign(work, params.id, body)),
  }),
  listCampaignCreatorsOperation,
] as const;
