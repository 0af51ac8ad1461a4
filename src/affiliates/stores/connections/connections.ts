import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { IntegrationsTable } from '../../../kit/engines/postgres/database.ts';
import { listing } from '../../../kit/engines/postgres/listing.ts';
import type { Db, Exports } from '../../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../../kit/engines/postgres/own.ts';
import { DAY_MS, HOUR_MS } from '../../../kit/values/duration.ts';
import { notFound, validationError } from '../../../kit/values/errors.ts';
import type { ListWindow, Page } from '../../../kit/values/page.ts';
import type { Provider } from '../formats/provider.ts';
import type { IntegrationFilter } from './connections.shapes.ts';

export type WebhookState = Selectable<IntegrationsTable>['webhookState'];

type StoredIntegration = Selectable<IntegrationsTable>;

/** An integration without its sealed secrets, which are read only to talk to the store. */
export type IntegrationRow = Omit<
  StoredIntegration,
  | 'secrets'
  | 'partingSecrets'
  | 'partingUntil'
  | 'renewingUntil'
  | 'webhooksDueAt'
  | 'sweepAt'
  | 'webhookTroubleAt'
  | 'sourceName'
>;

const SHOWN = [
  'id',
  'brandId',
  'provider',
  'name',
  'storefrontUrl',
  'storefrontHost',
  'baseUrl',
  'currency',
  'timeZone',
  'status',
  'connectedAt',
  'lastSyncAt',
  'lastReceivedAt',
  'lastFailedAt',
  'disconnectedAt',
  'sweptAt',
  'silentSince',
  'apiVersion',
  'webhookState',
  'missingWebhooks',
  'webhookProblem',
  'webhooksCheckedAt',
  'createdAt',
  'updatedAt',
  'renewalTags',
  'firstTags',
] as const;

const LAST_ORDERS = 50;

/** The order carried a click on a link of the brand. The text matches the index `orders_with_click`. */
export const HAS_CLICK = sql<boolean>`attribution @? '$.candidates[*] ? (@.type == "click" && @.link_id != null)'`;

/**
 * Selects stores with the deliveries refused in the last day. They are counted by the hour, and the oldest hour counts
 * whole.
 */
function withFailures(db: Db, now: Date) {
  const lastOrders = db
    .selectFrom('orders')
    .select('attribution')
    .whereRef('orders.integrationId', '=', sql.ref('integrations.id'))
    .orderBy('occurredAt', 'desc')
    .orderBy('id', 'desc')
    .limit(LAST_ORDERS);
  return db
    .selectFrom('integrations')
    .where('integrations.sourceName', 'is', null)
    .select(SHOWN)
    .select((eb) => {
      const refusals = eb
        .selectFrom('integrationFailures as failure')
        .whereRef('failure.integrationId', '=', 'integrations.id')
        .where('failure.hour', '>', new Date(now.getTime() - DAY_MS - HOUR_MS));
      return [
        refusals
          .select((of) => of.fn.coalesce(of.fn.sum<number>('failure.failures'), sql<number>`0`).as('sum'))
          .as('failures24h'),
        refusals
          .select((of) => of.fn.coalesce(of.fn.sum<number>('failure.forged'), sql<number>`0`).as('sum'))
          .as('forged24h'),
        eb
          .selectFrom(lastOrders.as('last'))
          .select(sql<number | null>`round(avg(case when ${HAS_CLICK} then 1 else 0 end), 2)::float8`.as('share'))
          .as('clickShare'),
        eb
          .exists(eb.selectFrom('orders').whereRef('orders.integrationId', '=', 'integrations.id').where(HAS_CLICK))
          .as('hasSeenClick'),
      ];
    });
}

type IntegrationQuery = ListWindow & Pick<IntegrationFilter, 'campaign_id'> & { now: Date };

/** Matches stores that a link of the campaign belongs to; without a campaign, all stores. */
function isOfCampaign(brandId: string, campaignId: string | undefined) {
  return sql<boolean>`(${campaignId ?? null}::text is null or exists (
    select from links where links.brand_id = ${brandId}
      and links.integration_id = integrations.id and links.campaign_id = ${campaignId ?? null}))`;
}

/** Lists integrations as of a moment, because each row has the refusals of the day before it. */
const integrationsAt = (now: Date) =>
  listing({
    noun: 'integration',
    table: 'integrations',
    time: 'createdAt',
    changed: ['createdAt', 'updatedAt', 'connectedAt', 'disconnectedAt'],
    matching: (db, brandId, { campaign_id }: IntegrationQuery) =>
      db
        .selectFrom('integrations')
        .where('integrations.sourceName', 'is', null)
        .where(isOfCampaign(brandId, campaign_id)),
    rows: (db) => withFailures(db, now),
  });
type Kit = ReturnType<typeof integrationsAt>;
export type ListedIntegration = Awaited<ReturnType<Kit['get']>>;

export const integrations = {
  list: (db: Db, brandId: string, where: IntegrationQuery, page: Page) =>
    integrationsAt(where.now).list(db, brandId, where, page),
  each: (exports: Exports, brandId: string, where: IntegrationQuery) =>
    integrationsAt(where.now).each(exports, brandId, where),
};

export const getIntegrationWithHealth = (db: Db, brandId: string, id: string, now: Date) =>
  integrationsAt(now).get(db, brandId, id);

export async function findIntegration(db: Db, brandId: string, id: string): Promise<IntegrationRow | undefined> {
  return await db
    .selectFrom('integrations')
    .select(SHOWN)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function getIntegration(db: Db, brandId: string, id: string): Promise<IntegrationRow> {
  const row = await findIntegration(db, brandId, id);
  if (!row) throw notFound('integration');
  return row;
}

const refusal = (code: string, message: string) => validationError([{ field: 'integration_id', code, message }]);

/** Gets the integration that a body names. Throws 422 if the brand does not have it, or if it is disconnected. */
export async function getConnectedIntegration(db: Db, brandId: string, id: string): Promise<IntegrationRow> {
  const row = await findIntegration(db, brandId, id);
  if (!row) throw refusal('not_found', 'is not an integration of this brand.');
  if (row.status === 'disconnected') throw refusal('not_connected', 'is disconnected; connect the store again.');
  return row;
}

/** Key of an integration within its brand. */
export type IntegrationKey = Pick<IntegrationRow, 'brandId' | 'id'>;

/** Reads what calls to the store need: the sealed secrets and the version of its API that last answered. */
export async function getAccess(db: Db, { brandId, id }: IntegrationKey) {
  return await db
    .selectFrom('integrations')
    .select(['secrets', 'apiVersion'])
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

export const updateIntegrationByKey = (db: Db, { brandId, id }: IntegrationKey) =>
  db.updateTable('integrations').where('brandId', '=', brandId).where('id', '=', id);

/**
 * Claims the renewal of a token until `until`. Returns false if another call has it, or if the secrets changed since
 * they were read.
 */
export async function claimRenewal(
  db: Db,
  key: IntegrationKey,
  { seen, now, until }: { seen: Buffer; now: Date; until: Date },
): Promise<boolean> {
  const claim = await updateIntegrationByKey(db, key)
    .set({ renewingUntil: until })
    .where('secrets', '=', seen)
    .where('status', '<>', 'disconnected')
    .where((eb) => eb.or([eb('renewingUntil', 'is', null), eb('renewingUntil', '<=', now)]))
    .executeTakeFirst();
  return claim.numUpdatedRows > 0n;
}

/** Ends a renewal. Secrets that were entered meanwhile stay. */
export async function endRenewal(
  db: Db,
  key: IntegrationKey,
  seenSecrets: Buffer,
  secrets = seenSecrets,
): Promise<void> {
  await updateIntegrationByKey(db, key)
    .set({ secrets, renewingUntil: null })
    .where('secrets', '=', seenSecrets)
    .execute();
}

/** Records the version that answered. Returns false if it was known. */
export async function recordVersion(db: Db, key: IntegrationKey, apiVersion: string): Promise<boolean> {
  const update = await updateIntegrationByKey(db, key)
    .set({ apiVersion })
    .where((eb) => eb('apiVersion', 'is distinct from', apiVersion))
    .executeTakeFirst();
  return update.numUpdatedRows > 0n;
}

/** Replaces secrets, unless others were entered meanwhile. */
export const replaceSecrets = (db: Db, key: IntegrationKey, seenSecrets: Buffer, secrets: Buffer) =>
  updateIntegrationByKey(db, key).set({ secrets }).where('secrets', '=', seenSecrets).execute();

const RECEIVER = [
  'id',
  'brandId',
  'provider',
  'baseUrl',
  'currency',
  'status',
  'secrets',
  'renewalTags',
  'firstTags',
] as const;

/**
 * Finds the secrets that a delivery is checked against. The sender has no key, so the integration's id alone selects
 * it.
 */
export async function findReceiver(db: Db, provider: Provider, id: string) {
  return await db
    .selectFrom('integrations')
    .select(RECEIVER)
    .where('id', '=', id)
    .where('provider', '=', provider)
    .where('status', '<>', 'disconnected')
    .executeTakeFirst();
}
export type Receiver = NonNullable<Awaited<ReturnType<typeof findReceiver>>>;

/** Lists the brand's integrations with these ids, including disconnected ones. */
export async function listReceivers(db: Db, brandId: string, ids: readonly string[]): Promise<Receiver[]> {
  return await db
    .selectFrom('integrations')
    .select(RECEIVER)
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
}

/** Finds the brand of an integration for the operator, who names the integration alone. */
export async function findBrandOfIntegration(db: Db, id: string): Promise<string | undefined> {
  const row = await db.selectFrom('integrations').select('brandId').where('id', '=', id).executeTakeFirst();
  return row?.brandId;
}

/** Addresses of a store: its API and its storefront. */
type StorePlace = Pick<IntegrationRow, 'provider' | 'baseUrl' | 'storefrontUrl'>;

/**
 * Locks the brand's integration of this store: the same API address wins over the same storefront, a connected one over
 * a disconnected one. The host does not identify a store: it may have several, each in its own folder.
 */
export async function lockIntegrationOfStore(
  db: Db,
  brandId: string,
  { provider, baseUrl, storefrontUrl }: StorePlace,
) {
  return await db
    .selectFrom('integrations')
    .select(SHOWN)
    .where('brandId', '=', brandId)
    .where('provider', '=', provider)
    .where(sql<boolean>`(base_url = ${baseUrl} or rtrim(storefront_url, '/') = rtrim(${storefrontUrl}, '/'))`)
    .orderBy(sql`status = 'disconnected'`)
    .orderBy(sql`base_url <> ${baseUrl}`)
    .orderBy('createdAt', 'desc')
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
}

export async function lockIntegration(db: Db, brandId: string, id: string): Promise<IntegrationRow> {
  const row = await db
    .selectFrom('integrations')
    .select(SHOWN)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound('integration');
  return row;
}

/** Finds or creates the shop that API keys report orders of. It has no address and no secrets. */
export async function upsertSource(
  db: Db,
  row: Pick<StoredIntegration, 'id' | 'brandId' | 'name' | 'currency' | 'createdAt'>,
): Promise<{ id: string; brandId: string; provider: Provider }> {
  return await db
    .insertInto('integrations')
    .values({
      ...row,
      provider: 'generic',
      sourceName: row.name,
      storefrontUrl: row.name,
      storefrontHost: '',
      baseUrl: '',
      status: 'disconnected',
      secrets: Buffer.alloc(0),
      connectedAt: row.createdAt,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['brandId', 'sourceName'])
        .where('sourceName', 'is not', null)
        .doUpdateSet({ sourceName: row.name }),
    )
    .returning(['id', 'brandId', 'provider'])
    .executeTakeFirstOrThrow();
}

/** Finds the shop of an order if API keys report its orders. */
export async function findSource(db: Db, brandId: string, id: string) {
  return await db
    .selectFrom('integrations')
    .select(['id', 'brandId', 'provider'])
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('sourceName', 'is not', null)
    .executeTakeFirst();
}

export async function insertIntegration(db: Db, row: Insertable<IntegrationsTable>): Promise<IntegrationRow> {
  return await db.insertInto('integrations').values(row).returning(SHOWN).executeTakeFirstOrThrow();
}

export const updateIntegration = (db: Db, brandId: string, id: string, change: Updateable<IntegrationsTable>) =>
  updateOwn(db.updateTable('integrations').set(change).returning(SHOWN), brandId, id);

/**
 * Records whether the store accepts its secrets, and sweeps it once it does again. A disconnected one stays
 * disconnected.
 */
export async function updateAccessStatus(
  db: Db,
  { brandId, id }: Pick<IntegrationRow, 'brandId' | 'id'>,
  status: 'connected' | 'reauth_required',
  at: Date,
): Promise<void> {
  await db
    .updateTable('integrations')
    .set({ status, updatedAt: at, ...(status === 'connected' ? { sweepAt: at } : {}) })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('status', 'not in', ['disconnected', status])
    .execute();
}

/** Records that the app was uninstalled. A late report from before the store was connected changes nothing. */
export async function markUninstalled(db: Db, key: IntegrationKey, at: Date, now: Date): Promise<void> {
  await updateIntegrationByKey(db, key)
    .set({ status: 'reauth_required', updatedAt: now })
    .where('status', '=', 'connected')
    .where('connectedAt', '<=', at)
    .execute();
}

/** Counts connected stores for operators. */
export async function readStoreFigures(db: Db) {
  const connectedStores = db.selectFrom('integrations').where('status', '=', 'connected');
  const count = sql<number>`count(*)::int`.as('count');
  const versions = await connectedStores
    .select(['provider', 'apiVersion', count])
    .where('apiVersion', 'is not', null)
    .groupBy(['provider', 'apiVersion'])
    .$narrowType<{ apiVersion: string }>()
    .execute();
  const webhooks = await connectedStores
    .select(['provider', 'webhookState', count])
    .groupBy(['provider', 'webhookState'])
    .execute();
  return { versions, webhooks };
}
