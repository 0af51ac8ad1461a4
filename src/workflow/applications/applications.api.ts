import { PLANS } from '../../kit/access/keys/limits.ts';
import { get, list, patch, read } from '../../kit/operation/kit.ts';
import { answersWhere, type ListCall } from '../../kit/operation/list.ts';
import { noun } from '../../kit/operation/noun.ts';
import { toWire } from '../../kit/values/wire.ts';
import { getCampaign } from '../campaigns/campaigns.ts';
import { applicationMails } from './applications.mails.ts';
import {
  Application,
  ApplicationDetail,
  ApplicationFilter,
  ApplicationList,
  ApplicationOfCampaign,
  ApplicationPatch,
  ApplicationSaved,
  CampaignApplicationFilter,
  toApplication,
} from './applications.shapes.ts';
import { applications, getApplication, patchApplication } from './applications.ts';

const tag = 'Applications';

const applicationOperations = [
  read({
    id: 'list_campaign_applications',
    path: '/v1/campaigns/{id}/applications',
    tag,
    summary: 'List applications to a campaign',
    description: 'Newest first; `created_after` and `created_before` mean `applied_at`.',
    forAgents: { isListed: false },
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
      toApplication,
    ),
  }),
  list({
    id: 'list_applications',
    path: '/v1/applications',
    tag,
    summary: 'List applications',
    description: 'Newest first; `created_after` and `created_before` mean `applied_at`.',
    forAgents: { description: 'Newest first.' },
    query: ApplicationFilter,
    item: ApplicationOfCampaign,
    rows: applications,
    itemOf: toWire,
  }),
  get({
    id: 'get_application',
    path: '/v1/applications/{id}',
    tag,
    summary: 'Get an application',
    description: "Includes its campaign's title and the brand's note.",
    item: ApplicationDetail,
    find: async ({ postgres }, { caller, params }) =>
      toWire(await getApplication(postgres.db, caller.brandId, params.id)),
  }),
  patch({
    id: 'update_application',
    path: '/v1/applications/{id}',
    tag,
    summary: 'Accept, shortlist or reject an application, or write a note on it',
    description:
      'Only the fields that you send change; null clears the note. ' +
      'Accepting puts the creator on the roster and fills in the name and handles that are missing there. When the roster ' +
      "is at the plan's limit, nothing changes. If the application's email address and handles belong to different creators, the answer is 409 with their `existing_ids`.",
    forAgents: {
      description:
        "Accepting puts the creator on the roster, unless it is at the plan's limit, and fills in a missing name and handles.",
      example: { id: 'app_…', status: 'accepted' },
    },
    body: ApplicationPatch,
    item: ApplicationSaved,
    errors: ['NOT_FOUND', 'CONFLICT', 'CREATOR_LIMIT_REACHED'],
    apply: async (work, { caller, params, body }) => {
      const { rosterLimit } = PLANS[caller.subscription.plan];
      return toWire(await patchApplication(work, params.id, body, rosterLimit));
    },
  }),
] as const;

export const applicationsNoun = noun({
  name: 'applications',
  tag: {
    name: 'Applications',
    about: 'Applications to campaigns and their outcome. Accepting one puts the creator on the roster.',
  },
  ids: { applications: 'app' },
  operations: applicationOperations,
  mails: applicationMails,
});
