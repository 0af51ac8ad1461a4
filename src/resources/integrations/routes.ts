import { z } from 'zod';
import { read } from '../../operation/kit.ts';
import { answersWhere, type ListCall } from '../../operation/list.ts';
import { change, noLookUp, nothing } from '../../operation/operation.ts';
import { connectStore, disconnectStore, meetStore } from './actions.ts';
import { getIntegrationWithHealth, integrations } from './queries.ts';
import {
  Integration,
  IntegrationConnect,
  IntegrationDisconnected,
  IntegrationFilter,
  IntegrationList,
  integrationOf,
} from './schema.ts';

const tag = 'Affiliates';
const byId = z.object({ id: z.string().max(100) });

const listAffiliateStores = read({
  id: 'list_affiliate_stores',
  path: '/v1/affiliates/integrations',
  tag,
  summary: "The brand's stores",
  description: 'Newest first, with what each can do, how its webhooks are and whether referrals are tracked.',
  query: IntegrationFilter,
  response: IntegrationList,
  ...answersWhere(
    integrations,
    ({ clock }, { query }: ListCall<IntegrationFilter>) => ({ ...query, now: clock.now() }),
    Integration,
    (row, { clock, config }) => integrationOf(row, clock.now(), config),
  ),
});

const getAffiliateStore = read({
  id: 'get_affiliate_store',
  path: '/v1/affiliates/integrations/{id}',
  tag,
  summary: 'One store',
  description: 'As in the list.',
  response: z.object({ data: Integration }),
  errors: ['NOT_FOUND'],
  handler: async ({ postgres, clock, config }, { caller, params }) => {
    const now = clock.now();
    const row = await getIntegrationWithHealth(postgres.db, caller.brandId, params.id, now);
    return { data: integrationOf(row, now, config) };
  },
});

const disconnectAffiliateStore = change({
  id: 'disconnect_affiliate_store',
  method: 'DELETE',
  path: '/v1/affiliates/integrations/{id}',
  tag,
  summary: 'Disconnect a store',
  description:
    'Its deliveries are refused from then on and its secrets forgotten. Its orders stay, and connecting the same store again continues under the same id.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: nothing,
  response: z.object({ data: IntegrationDisconnected }),
  errors: ['NOT_FOUND'],
  hints: { readOnly: false, idempotent: true, destructive: true },
  lookUp: noLookUp,
  apply: async (work, { params }) => {
    const { id } = await disconnectStore(work, params.id);
    return { data: { id, status: 'disconnected' as const, disconnected: true as const } };
  },
});

export const integrationOperations = [listAffiliateStores, getAffiliateStore, disconnectAffiliateStore] as const;

const connectAffiliateStore = change({
  id: 'connect_affiliate_store',
  method: 'POST',
  path: '/v1/affiliates/integrations',
  tag,
  summary: 'Connect a store',
  description:
    'Asks the store who it is, and keeps its secrets sealed; no answer and no log shows them. A store that was connected before continues under its id.',
  // Whoever connects a store says what was sold, and so who is paid: no key of a program may.
  callers: ['session'],
  params: nothing,
  query: nothing,
  body: IntegrationConnect,
  response: z.object({ data: Integration }),
  status: 201,
  hints: { readOnly: false, idempotent: true, destructive: false },
  lookUp: async ({ config, secrets }, { body: { provider, url, token, webhook_secret } }) => {
    const store = { provider, baseUrl: url, token, webhookSecret: webhook_secret };
    return { config, secrets, store, facts: await meetStore(store, config.outboundAllow) };
  },
  apply: async (work, _call, { config, secrets, store, facts }) => {
    const { id } = await connectStore(work, secrets, store, facts);
    const row = await getIntegrationWithHealth(work.db, work.brandId, id, work.now);
    return { data: integrationOf(row, work.now, config) };
  },
});

/** For people alone, in the web app. */
export const storeOperations = [connectAffiliateStore] as const;
