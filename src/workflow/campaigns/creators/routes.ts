import { z } from 'zod';
import type { Context } from '../../../kit/operation/context.ts';
import { read } from '../../../kit/operation/kit.ts';
import { idField } from '../../../kit/values/fields.ts';
import { pageOf, paginationOf } from '../../../kit/values/page.ts';
import { getCampaign } from '../queries.ts';
import { countByStage, listCampaignCreators, sumFees } from './queries.ts';
import { amountOf, CampaignCreator, CampaignCreatorFilter, CampaignCreatorList, campaignCreatorOf } from './schema.ts';

async function* eachCampaignCreator(
  { postgres: { db } }: Context,
  brandId: string,
  id: string,
  stage: CampaignCreatorFilter['stage'],
) {
  const { id: campaignId } = await getCampaign(db, brandId, id);
  for (const row of await listCampaignCreators(db, { brandId, campaignId }, stage)) yield campaignCreatorOf(row);
}

export const listCampaignCreatorsOperation = read({
  id: 'list_campaign_creators',
  path: '/v1/campaigns/{id}/creators',
  tag: 'Campaigns',
  summary: 'Creators of a campaign by stage',
  description:
    'Everyone who applied or works on the campaign, without rejected applicants, the furthest stage first. `summary` ' +
    'counts each stage and adds up the fixed fees of signed contracts.',
  forAgents: false,
  params: z.object({ id: idField('cmp', 'Id of the campaign whose creators are listed.').max(100) }),
  query: CampaignCreatorFilter,
  response: CampaignCreatorList,
  errors: ['NOT_FOUND'],
  csv: {
    item: CampaignCreator,
    rows: (context, { caller, params, query }) => eachCampaignCreator(context, caller.brandId, params.id, query.stage),
  },
  handler: async ({ postgres: { db } }, { caller: { brandId }, params, query }) => {
    const { id: campaignId } = await getCampaign(db, brandId, params.id);
    const [of, page] = [{ brandId, campaignId }, pageOf(query)];
    const [rows, stages, fees] = await Promise.all([
      listCampaignCreators(db, of, query.stage, page),
      countByStage(db, of),
      sumFees(db, of),
    ]);
    const counted = stages.filter(({ stage }) => query.stage === undefined || stage === query.stage);
    const total = counted.reduce((sum, { creators }) => sum + creators, 0);
    return {
      data: rows.map(campaignCreatorOf),
      pagination: paginationOf(page, total),
      summary: { by_stage: stages, fees: fees.map(amountOf) },
    };
  },
});
