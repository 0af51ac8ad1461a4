import { create, get, patch, read, remove } from '../../../kit/operation/kit.ts';
import { answersWhere, type ListCall } from '../../../kit/operation/list.ts';
import { noun } from '../../../kit/operation/noun.ts';
import { omitUndefined } from '../../../kit/values/patch.ts';
import { checkStore, connectStore, disconnectStore, type StoreEntry } from './connect.ts';
import {
  Integration,
  IntegrationConnect,
  IntegrationDisconnected,
  IntegrationFilter,
  IntegrationList,
  IntegrationPatch,
  toIntegration,
} from './connections.shapes.ts';
import { getIntegrationWithHealth, integrations, lockIntegration, updateIntegration } from './connections.ts';

const tag = 'Affiliates';

const integrationOperations = [
  read({
    id: 'list_affiliate_stores',
    path: '/v1/affiliates/integrations',
    tag,
    summary: 'List connected stores',
    description:
      'Newest first. Shows what each store can do, whether its webhooks arrive, and whether its referrals are tracked.',
    forAgents: { example: {} },
    query: IntegrationFilter,
    response: IntegrationList,
    ...answersWhere(
      integrations,
      ({ clock }, { query }: ListCall<IntegrationFilter>) => ({ ...query, now: clock.now() }),
      Integration,
      (row, { clock, config }) => toIntegration(row, clock.now(), config),
    ),
  }),
  get({
    id: 'get_affiliate_store',
    path: '/v1/affiliates/integrations/{id}',
    tag,
    summary: 'Get a store',
    description: 'The same fields as in the list.',
    item: Integration,
    find: async ({ postgres, clock, config }, { caller, params }) => {
      const now = clock.now();
      const row = await getIntegrationWithHealth(postgres.db, caller.brandId, params.id, now);
      return toIntegration(row, now, config);
    },
  }),
  patch({
    id: 'update_affiliate_store',
    path: '/v1/affiliates/integrations/{id}',
    tag,
    summary: 'Change how orders of a store are read',
    description:
      'Only the fields that you send change; an empty list clears one. For shops that mark orders of subscriptions with tags ' +
      'other than those of a known subscription app. Applies to later reports of orders.',
    forAgents: { isListed: false },
    hints: { planned: true },
    body: IntegrationPatch,
    item: Integration,
    errors: ['NOT_FOUND'],
    lookUp: async ({ config }) => config,
    apply: async (work, { params: { id }, body }, config) => {
      const { db, now, brandId, audit } = work;
      const old = await lockIntegration(db, brandId, id);
      const change = omitUndefined({ renewalTags: body.renewal_tags, firstTags: body.first_tags });
      const row = await updateIntegration(db, brandId, id, { ...change, updatedAt: now });
      audit({ resourceId: id, old, new: row });
      return toIntegration(await getIntegrationWithHealth(db, brandId, id, now), now, config);
    },
  }),
  remove({
    id: 'disconnect_affiliate_store',
    path: '/v1/affiliates/integrations/{id}',
    tag,
    summary: 'Disconnect a store',
    description:
      "Refuses its deliveries from then on and deletes its secrets; the one that signs a Shopify shop's requests of people stays for 90 days. Its orders stay. Connecting the same store again keeps its id.",
    item: IntegrationDisconnected,
    errors: ['NOT_FOUND'],
    lookUp: async ({ secrets }) => secrets,
    apply: async (work, { params }, secrets) => {
      const { id } = await disconnectStore(work, params.id, secrets);
      return { id, status: 'disconnected' as const, disconnected: true as const };
    },
  }),
] as const;

const toStoreEntry = ({
  provider,
  url,
  token,
  webhook_secret,
  client_id,
  client_secret,
}: IntegrationConnect): StoreEntry => ({
  provider,
  baseUrl: url,
  token,
  webhookSecret: webhook_secret,
  ...(client_id && client_secret ? { app: { id: client_id, secret: client_secret } } : {}),
});

/** Only for people, in the web app. */
const storeOperations = [
  create({
    id: 'connect_affiliate_store',
    path: '/v1/affiliates/integrations',
    tag,
    summary: 'Connect a store',
    description:
      'Checks the access at the store and stores its secrets encrypted; no answer and no log shows them. A store that was connected before keeps its id.',
    // A connected store decides what was sold, and so who is paid: only people may connect one, not API keys.
    callers: ['session'],
    body: IntegrationConnect,
    item: Integration,
    hints: { idempotent: true },
    lookUp: async ({ config, clock, secrets }, { body }) => {
      return { config, secrets, store: await checkStore({ config, clock }, toStoreEntry(body)) };
    },
    apply: async (work, _call, { config, secrets, store }) => {
      const { id } = await connectStore(work, secrets, store);
      const row = await getIntegrationWithHealth(work.db, work.brandId, id, work.now);
      return toIntegration(row, work.now, config);
    },
  }),
] as const;

export const integrationsNoun = noun({
  name: 'integrations',
  ids: { integrations: 'int', stores: 'int' },
  operations: [...integrationOperations, ...storeOperations],
});
