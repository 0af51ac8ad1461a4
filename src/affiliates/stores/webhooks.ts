import type { Updateable } from 'kysely';
import type { IntegrationsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { transact } from '../../kit/engines/postgres/transaction.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import { type Context, later } from '../../kit/operation/context.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { findContactEmail } from '../../platform/brands/brands.ts';
import { openStore, type StoreContext } from './connections/access.ts';
import { toWebhookUrl } from './connections/connections.shapes.ts';
import {
  getAccess,
  type IntegrationKey,
  updateAccessStatus,
  updateIntegrationByKey,
  type WebhookState,
} from './connections/connections.ts';
import { beginWebhookTrouble } from './connections/health.ts';
import { getClient } from './formats/clients.ts';
import {
  type ListedWebhook,
  needsReconnect,
  type StoreAccess,
  type StoreWebhooks,
  WebhookRefused,
} from './formats/provider.ts';
import { openStoreSecrets } from './formats/store-secrets.ts';

/** Connected stores with webhooks to check. */
export const selectDueWebhooks = (db: Db, now: Date) =>
  db
    .selectFrom('integrations')
    .select(['id', 'brandId', 'provider', 'baseUrl', 'name', 'webhookState'])
    .where('status', '=', 'connected')
    .where('webhooksDueAt', '<=', now)
    .orderBy('webhooksDueAt');
type DueWebhooks = Awaited<ReturnType<ReturnType<typeof selectDueWebhooks>['executeTakeFirstOrThrow']>>;

/** Claims a check of a store's webhooks if it is due by `dueBy`. Returns false if another call has it. */
async function claimWebhooks(db: Db, key: IntegrationKey, dueBy: Date, next: Date): Promise<boolean> {
  const claim = await updateIntegrationByKey(db, key)
    .set({ webhooksDueAt: next })
    .where('webhooksDueAt', '<=', dueBy)
    .executeTakeFirst();
  return claim.numUpdatedRows > 0n;
}

/** State of a store's webhooks after a check. */
type WebhookFindings = Pick<
  Updateable<IntegrationsTable>,
  'webhookState' | 'missingWebhooks' | 'webhookProblem' | 'webhooksCheckedAt' | 'webhooksDueAt'
>;

const recordWebhooks = (db: Db, key: IntegrationKey, findings: WebhookFindings) =>
  updateIntegrationByKey(db, key).set(findings).where('status', '<>', 'disconnected').execute();

export const LOOKED_AT_EVERY_MS = 15 * MINUTE_MS;
export const SOON_MS = MINUTE_MS;

interface RequiredWebhooks {
  topics: readonly string[];
  alsoTopics: readonly string[];
  url: string;
  secret: string;
}

interface WebhookCheck {
  /** Required topics that were off. */
  offTopics: string[];
  /** Required topics that are still off. */
  missing: string[];
  problem: string | null;
}

const PAUSED = "is paused in the store's own settings. Set it to active there.";

/** Renews the secret of webhooks from an earlier connection. A key that may only read leaves them unchanged. */
async function renewSignatures(
  { sign, list }: StoreWebhooks,
  store: StoreAccess,
  { url, secret }: RequiredWebhooks,
): Promise<void> {
  if (!sign) return;
  for (const { id } of (await list(store)).filter((webhook) => webhook.url === url && webhook.state === 'active')) {
    try {
      await sign(store, id, secret);
    } catch (error) {
      if (error instanceof WebhookRefused) return;
      throw error;
    }
  }
}

/** Switches on what is off. A disabled webhook is replaced, because it would be disabled again at its next failure. */
async function switchOnWebhooks(
  webhooks: StoreWebhooks,
  store: StoreAccess,
  { url, secret, topics, alsoTopics }: RequiredWebhooks,
): Promise<WebhookCheck> {
  const ownWebhooks = (await webhooks.list(store)).filter((webhook) => webhook.url === url);
  const isOn = (topic: string) => ownWebhooks.some((one) => one.topic === topic && one.state === 'active');
  const offTopics = topics.filter((topic) => !isOn(topic));
  const missing: string[] = [];
  let problem: string | null = null;
  for (const topic of [...offTopics, ...alsoTopics.filter((one) => !isOn(one))]) {
    const refusal = await replaceWebhook(webhooks, store, { topic, url, secret }, ownWebhooks);
    if (refusal === undefined || !topics.includes(topic)) continue;
    missing.push(topic);
    problem ??= refusal;
  }
  return { offTopics, missing, problem };
}

/** Creates a webhook and removes the old ones. Returns the reason if the store refuses; undefined if it is on. */
async function replaceWebhook(
  webhooks: StoreWebhooks,
  store: StoreAccess,
  webhook: { topic: string; url: string; secret: string },
  ownWebhooks: readonly ListedWebhook[],
): Promise<string | undefined> {
  const old = ownWebhooks.filter(({ topic }) => topic === webhook.topic);
  if (old.some(({ state }) => state === 'paused')) return `${webhook.topic} ${PAUSED}`;
  try {
    await webhooks.make(store, webhook);
    for (const { id } of old) await webhooks.remove(store, id);
    return undefined;
  } catch (error) {
    if (error instanceof WebhookRefused) return error.message;
    throw error;
  }
}

async function reportOnce(
  context: StoreContext,
  row: DueWebhooks,
  { offTopics, missing, problem }: WebhookCheck,
): Promise<void> {
  const { postgres, clock, log } = context;
  const now = clock.now();
  await transact(postgres.db, async (db) => {
    if (!(await beginWebhookTrouble(db, row, now))) return;
    const { id, brandId, name } = row;
    log.warn({ brandId, integration: id, topics: offTopics, missing }, 'webhooks of a store were off');
    const to = await findContactEmail(db, brandId);
    if (to === null) return;
    const facts = { integration_id: id, store: name, topics: offTopics.join(', ') };
    const params = { ...facts, is_repaired: missing.length === 0, problem };
    const subjectRow = `${id}:${now.toISOString()}`;
    await queueMail({ db, brandId, now }, { kind: 'store_webhook_disabled', to, subjectRow, params });
  });
}

interface WebhookStatus extends Pick<WebhookCheck, 'missing' | 'problem'> {
  webhookState: WebhookState;
}

/** Checks a store's webhooks and switches on those that are off. */
async function keepWebhooks(context: StoreContext, row: DueWebhooks): Promise<WebhookStatus> {
  const { postgres, clock, config, secrets } = context;
  const { topics, webhooks } = getClient(row.provider);
  const storeSecrets = openStoreSecrets(secrets, (await getAccess(postgres.db, row)).secrets, row.id);
  if (!webhooks?.mayBeMade(storeSecrets)) return { webhookState: 'manual', missing: [], problem: null };
  const url = toWebhookUrl(config.linksUrl, row);
  const webhookTarget = { topics, alsoTopics: webhooks.alsoTopics, url, secret: storeSecrets.webhookSecret };
  const store = await openStore(context, row);
  if (row.webhookState === 'pending') await renewSignatures(webhooks, store, webhookTarget);
  const check = await switchOnWebhooks(webhooks, store, webhookTarget);
  const { offTopics, missing, problem } = check;
  const wereOn = row.webhookState === 'active' || row.webhookState === 'disabled';
  const state = missing.length === 0 ? 'active' : wereOn ? 'disabled' : 'manual';
  await recordWebhooks(postgres.db, row, {
    webhookState: state,
    missingWebhooks: missing,
    webhookProblem: problem,
    webhooksCheckedAt: clock.now(),
  });
  if (wereOn && offTopics.length > 0) await reportOnce(context, row, check);
  return { webhookState: state, missing, problem };
}

/** Checks a store's webhooks now; undefined if a worker does, or if the store lists none. */
export async function keepWebhooksNow(
  context: StoreContext,
  row: DueWebhooks,
  dueBy: Date,
): Promise<WebhookStatus | undefined> {
  const next = new Date(context.clock.now().getTime() + LOOKED_AT_EVERY_MS);
  return (await claimWebhooks(context.postgres.db, row, dueBy, next)) ? await keepWebhooks(context, row) : undefined;
}

/**
 * Checks webhooks, and looks at an unreachable store again soon if they are unknown. A refusal waits until the store is
 * connected again.
 */
export async function keepDueWebhooks(context: Context, row: DueWebhooks): Promise<void> {
  const { postgres, clock } = context;
  const scheduleCheck = (inMs: number) => recordWebhooks(postgres.db, row, { webhooksDueAt: later(context, inMs) });
  // A check by the command line does not begin meanwhile.
  if (!(await claimWebhooks(postgres.db, row, clock.now(), later(context, SOON_MS)))) return;
  try {
    await keepWebhooks(context, row);
    await scheduleCheck(LOOKED_AT_EVERY_MS);
  } catch (error) {
    if (needsReconnect(error)) await updateAccessStatus(postgres.db, row, 'reauth_required', clock.now());
    await scheduleCheck(row.webhookState === 'pending' ? SOON_MS : LOOKED_AT_EVERY_MS);
    throw error;
  }
}
