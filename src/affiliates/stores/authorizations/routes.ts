import { create } from '../../../kit/operation/kit.ts';
import { connectStore } from '../connections/actions.ts';
import { getIntegrationWithHealth } from '../connections/queries.ts';
import { Integration, integrationOf } from '../connections/schema.ts';
import { assertCallable, makeAuthorization, meetAuthorizedStore, useUp } from './actions.ts';
import { StoreAuthorization, StoreAuthorize } from './schema.ts';

const tag = 'Affiliates';
const PATH = '/v1/affiliates/integrations/authorizations';

/** Only for people, in the web app. */
export const storeAuthorizationOperations = [
  create({
    id: 'authorize_affiliate_store',
    path: PATH,
    tag,
    summary: 'Make a link that connects a WooCommerce store',
    description:
      'Its owner opens the link, approves the access, and comes back to `return_url`. WooCommerce then has handed over keys, which `connect_authorized_store` uses.',
    callers: ['session'],
    body: StoreAuthorize,
    item: StoreAuthorization,
    // The link contains the token with which keys are handed over.
    sealsAnswer: true,
    lookUp: async ({ config }) => {
      assertCallable(config.linksUrl);
      return config.linksUrl;
    },
    apply: async (work, { body }, linksUrl) =>
      await makeAuthorization(work, linksUrl, { url: body.url, returnUrl: body.return_url }),
  }),
  create({
    id: 'connect_authorized_store',
    path: `${PATH}/{id}/connect`,
    tag,
    summary: 'Connect a WooCommerce store that handed over its keys',
    description: 'Works once, within an hour after the link was made.',
    callers: ['session'],
    item: Integration,
    errors: ['NOT_FOUND', 'CONFLICT'],
    lookUp: async (context, { caller, params }) => ({
      ...{ config: context.config, secrets: context.secrets },
      store: await meetAuthorizedStore(context, caller.brandId, params.id),
    }),
    apply: async (work, { params }, { config, secrets, store }) => {
      await useUp(work, params.id);
      const { id } = await connectStore(work, secrets, store);
      const row = await getIntegrationWithHealth(work.db, work.brandId, id, work.now);
      return integrationOf(row, work.now, config);
    },
  }),
] as const;
