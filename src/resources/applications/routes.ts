import { z } from 'zod';
import { PLANS } from '../../access/keys/plans.ts';
import { list, read } from '../../operation/kit.ts';
import { answersWhere, type ListCall } from '../../operation/list.ts';
import { change, noLookUp, nothing } from '../../operation/operation.ts';
import { idField } from '../../values/fields.ts';
import { toWire } from '../../values/wire.ts';
import { getCampaign } from '../campaigns/queries.ts';
import { patchApplication } from './actions.ts';
import { applications, getApplication } from './queries.ts';
import {
  Application,
  ApplicationDetail,
  ApplicationFilter,
  ApplicationList,
  ApplicationOfCampaign,
  ApplicationPatch,
  ApplicationSaved,
  applicationOf,
  CampaignApplicationFilter,
} from './schema.ts';

const tag = 'Applications';
const byId = z.object({ id: idField('app', 'Application id.').max(100) });
const byCampaign = z.object({ id: idField('cmp', 'Campaign id.').max(100) });

const listCampaignApplications = read({
  id: 'list_campaign_applications',
  path: '/v1/campaigns/{id}/applications',
  tag,
  summary: 'Applications to one campaign',
  description: 'Newest first; `created_after` and `created_before` mean `applied_at`.',
  forAgents: false,
  params: byCampaign,
  query: CampaignApplicationFilter,
  response: ApplicationList,
  errors: ['NOT_FOUND'],
  ...answersWhere(
    applications,
    async ({ postgres }, { caller, params, query }: ListCall<CampaignApplicationFilter, { id: string }>) => {
      const campaign = await getCampaign(postgres.db, caller.brandId, params.id);
      return { ...query, campaign_id: campaign.id };
    },
    Application,
    applicationOf,
  ),
});

const listApplications = list({
  id: 'list_applications',
  path: '/v1/applications',
  tag,
  summary: 'Applications to all campaigns',
  description: 'Newest first; `created_after` and `created_before` mean `applied_at`.',
  forAgents: { description: 'Newest first.' },
  query: ApplicationFilter,
  item: ApplicationOfCampaign,
  rows: applications,
  itemOf: toWire,
});

const getApplicationById = read({
  id: 'get_application',
  path: '/v1/applications/{id}',
  tag,
  summary: 'One application',
  description: "Includes its campaign's title and the brand's note.",
  params: byId,
  response: z.object({ data: ApplicationDetail }),
  errors: ['NOT_FOUND'],
  handler: async ({ postgres }, { caller, params }) => ({
    data: toWire(await getApplication(postgres.db, caller.brandId, params.id)),
  }),
});

const updateApplicationOperation = change({
  id: 'update_application',
  method: 'PATCH',
  path: '/v1/applications/{id}',
  tag,
  summary: 'Accept, shortlist or reject an application, or write a note on it',
  description:
    'Set changes, omit keeps, null clears the note. ' +
    'Accepting puts the creator on the roster and fills in the name and handles that are missing there. When the roster ' +
    "is at the plan's limit, nothing changes. If the application's e-mail address and handles belong to different creators, the answer is 409 with their `existing_ids`.",
  forAgents: {
    description:
      "Accepting puts the creator on the roster, unless it is at the plan's limit, and fills in a missing name and handles.",
    example: { id: 'app_…', status: 'accepted' },
  },
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: ApplicationPatch,
  response: z.object({ data: ApplicationSaved }),
  errors: ['NOT_FOUND', 'CONFLICT', 'CREATOR_LIMIT_REACHED'],
  hints: { readOnly: false, idempotent: true, destructive: false },
  lookUp: noLookUp,
  apply: async (work, { caller, params, body }) => {
    const { rosterLimit } = PLANS[caller.subscription.plan];
    return { data: toWire(await patchApplication(work, params.id, body, rosterLimit)) };
  },
});

export const applicationOperations = [
  listCampaignApplications,
  listApplications,
  getApplicationById,
  updateApplicationOperation,
] as const;
