import { z } from 'zod';
import { create } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { idField } from '../../kit/values/fields.ts';
import { timestamp } from '../../kit/values/page.ts';
import { WebAddress } from '../../kit/values/web-address.ts';
import {
  assertCallable,
  checkAuthorizedStore,
  consumeAuthorization,
  createAuthorization,
  forgetStoreAuthorizations,
} from './authorizations.ts';
import { connectStore } from './connections/connect.ts';
import { Integration, StoreUrl, toIntegration } from './connections/connections.shapes.ts';
import { getIntegrationWithHealth } from './connections/connections.ts';

const authorizationId = idField('sau', 'Id of the link.');

const StoreAuthorize = z.object({
  url: StoreUrl.describe('Address of the WooCommerce store, such as https://shop.example.'),
  return_url: WebAddress.describe(
    'Where the store sends its owner afterwards, with `success` (1 or 0) and `user_id` (the id of the link) in the query.',
  ).meta({ example: 'https://app.example/app/stores' }),
});

const StoreAuthorization = z
  .object({
    id: authorizationId,
    authorize_url: z
      .string()
      .describe('Page of the store on which its owner approves the access, signed in as an administrator.')
      .meta({ example: 'https://shop.example/wc-auth/v1/authorize?app_name=Rollcall&scope=read_write' }),
    expires_at: timestamp.describe('When the link stops working.').meta({ example: '2026-03-02T10:30:00.000Z' }),
  })
  .meta({ id: 'StoreAuthorization' });

const tag = 'Affiliates';
const PATH = '/v1/affiliates/integrations/authorizations';

/** Only for people, in the web app. */
const storeAuthorizationOperations = [
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
      await createAuthorization(work, linksUrl, { url: body.url, returnUrl: body.return_url }),
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
      config: context.config,
      secrets: context.secrets,
      store: await checkAuthorizedStore(context, caller.brandId, params.id),
    }),
    apply: async (work, { params }, { config, secrets, store }) => {
      await consumeAuthorization(work, params.id);
      const { id } = await connectStore(work, secrets, store);
      const row = await getIntegrationWithHealth(work.db, work.brandId, id, work.now);
      return toIntegration(row, work.now, config);
    },
  }),
] as const;

export const storeAuthorizations = noun({
  name: 'store-authorizations',
  ids: { authorizations: 'sau' },
  operations: storeAuthorizationOperations,
  jobs: [forgetStoreAuthorizations],
});
