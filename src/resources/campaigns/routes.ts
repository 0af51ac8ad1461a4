import { z } from 'zod';
import { answersOf } from '../../operation/list.ts';
import { change, noLookUp, nothing, operation } from '../../operation/operation.ts';
import { compensationLabel, compensationOf, WEIGHED_COMPENSATION } from '../../values/compensation.ts';
import { toWire } from '../../values/wire.ts';
import { createCampaign, patchCampaign } from './actions.ts';
import { type CampaignRow, campaigns, getCampaign } from './queries.ts';
import {
  Campaign,
  CampaignCreate,
  CampaignDetail,
  CampaignFilter,
  CampaignList,
  CampaignPatch,
  CampaignSaved,
} from './schema.ts';

const tag = 'Campaigns';
const byId = z.object({ id: z.string().max(100) });

const campaignOf = <Row extends CampaignRow>(row: Row) => ({
  ...toWire(row),
  compensation_label: compensationLabel(row),
});

const listCampaigns = operation({
  id: 'list_campaigns',
  method: 'GET',
  path: '/v1/campaigns',
  tag,
  summary: "The brand's campaigns",
  description: 'Newest first.',
  callers: ['brand'],
  params: nothing,
  query: CampaignFilter,
  body: nothing,
  response: CampaignList,
  hints: { readOnly: true, idempotent: true, destructive: false },
  ...answersOf(campaigns, Campaign, campaignOf),
});

const getCampaignById = operation({
  id: 'get_campaign',
  method: 'GET',
  path: '/v1/campaigns/{id}',
  tag,
  summary: 'One campaign',
  description: 'With its description, compensation, requirements and the page where creators apply.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: nothing,
  response: z.object({ data: CampaignDetail }),
  errors: ['NOT_FOUND'],
  hints: { readOnly: true, idempotent: true, destructive: false },
  handler: async ({ postgres, config }, { caller, params }) => {
    const row = await getCampaign(postgres.db, caller.brandId, params.id);
    const { platforms, minFollowers, contentTypes, deliverablesCount } = row;
    const requirements = toWire({ platforms, minFollowers, contentTypes, deliverablesCount });
    const apply_url = `${config.linksUrl}/apply/${row.id}`;
    return { data: { ...campaignOf(row), compensation: compensationOf(row), requirements, apply_url } };
  },
});

const createCampaignOperation = change({
  id: 'create_campaign',
  method: 'POST',
  path: '/v1/campaigns',
  tag,
  summary: 'Make a campaign',
  description: '`name` becomes `title`, `type` becomes `campaign_type`; the label is derived from `compensation`.',
  callers: ['brand'],
  params: nothing,
  query: nothing,
  body: CampaignCreate,
  response: z.object({ data: CampaignSaved }),
  status: 201,
  hints: { readOnly: false, idempotent: false, destructive: false },
  weighs: WEIGHED_COMPENSATION,
  lookUp: noLookUp,
  apply: async (work, { body }) => ({ data: campaignOf(await createCampaign(work, body)) }),
});

const updateCampaignOperation = change({
  id: 'update_campaign',
  method: 'PATCH',
  path: '/v1/campaigns/{id}',
  tag,
  summary: 'Change a campaign',
  description: 'Set changes, omit keeps, null clears; also inside `compensation` and `requirements`.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: CampaignPatch,
  response: z.object({ data: CampaignSaved }),
  errors: ['NOT_FOUND'],
  hints: { readOnly: false, idempotent: true, destructive: false },
  weighs: WEIGHED_COMPENSATION,
  lookUp: noLookUp,
  apply: async (work, { params, body }) => ({
    data: campaignOf(await patchCampaign(work, params.id, body)),
  }),
});

export const campaignOperations = [
  listCampaigns,
  createCampaignOperation,
  getCampaignById,
  updateCampaignOperation,
] as const;
