import { sql } from 'kysely';
import { toEnd, toStart } from '../../analytics/figures/sums.ts';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import type { Context } from '../../kit/operation/context.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import type { FilePart } from '../../kit/operation/upload.ts';
import type { Work } from '../../kit/operation/work.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import { mergeMappings } from '../../platform/imports/reading/doubts.ts';
import type { Plan } from '../../platform/imports/reading/plan.ts';
import type { ByteSource } from '../../platform/imports/reading/shapes.ts';
import { assertBelowLimit, createJob, insertFile, type JobRow, type ListedJob } from '../../platform/jobs/jobs.ts';
import { claimUpload, releaseFile, type StoredFile } from '../../workflow/assets/uploads.ts';
import { receiveImport } from '../imports/files.ts';
import type { Provider } from '../stores/formats/provider.ts';
import { listColumns, type OurOrder, type TheirOrder } from './compare.ts';
import { settleFile, toReadingRequest, toSource } from './read.ts';
import type { ReconciliationCreate, ReconciliationRequest } from './reconciliations.shapes.ts';

type ReconciliationKey = Pick<JobRow, 'id' | 'brandId'>;

/** A store, or a shop whose orders API keys report. */
export interface ComparedStore {
  id: string;
  brandId: string;
  provider: Provider;
  name: string;
  baseUrl: string;
  currency: string;
  renewalTags: string[] | null;
  firstTags: string[] | null;
  isConnected: boolean;
}

const selectStores = (db: Db, brandId: string) =>
  db
    .selectFrom('integrations')
    .select(['id', 'brandId', 'provider', 'name', 'baseUrl', 'currency', 'renewalTags', 'firstTags'])
    .select(sql<boolean>`status = 'connected'`.as('isConnected'))
    .where('brandId', '=', brandId);

export const findStore = (db: Db, brandId: string, id: string): Promise<ComparedStore | undefined> =>
  selectStores(db, brandId).where('id', '=', id).executeTakeFirst();

/** Finds the brand's only store; undefined if it has several or none. */
async function findOnlyStore(db: Db, brandId: string): Promise<ComparedStore | undefined> {
  const [only, other] = await selectStores(db, brandId).limit(2).execute();
  return other === undefined ? only : undefined;
}

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'reconciliations.plan': Plan;
  }
}

/** Stores how the file of a comparison is read; a later plan takes the place of none. */
export async function storePlan(db: Db, { id, brandId }: ReconciliationKey, plan: Plan | null): Promise<void> {
  const planJson = plan && JSON.stringify(plan);
  await db
    .insertInto('reconciliations')
    .values({ jobId: id, brandId, plan: planJson })
    .onConflict((conflict) => conflict.column('jobId').doUpdateSet({ plan: planJson }))
    .execute();
}

export async function findPlan(db: Db, { id, brandId }: ReconciliationKey): Promise<Plan | null> {
  const row = await db
    .selectFrom('reconciliations')
    .select('plan')
    .where('brandId', '=', brandId)
    .where('jobId', '=', id)
    .executeTakeFirst();
  return row?.plan ?? null;
}

/** Stores the orders that a store lists. Of duplicates, the first counts in a file and the last in a list. */
export async function insertTheirs(
  db: Db,
  { id, brandId }: ReconciliationKey,
  orders: readonly TheirOrder[],
  counts: 'first' | 'last',
): Promise<void> {
  const inTurn = counts === 'first' ? orders.toReversed() : orders;
  const byId = new Map(inTurn.map((order) => [order.orderId, { jobId: id, brandId, ...order }]));
  if (byId.size === 0) return;
  const twice =
    counts === 'first'
      ? sql`do nothing`
      : sql`do update set order_number = excluded.order_number, currency = excluded.currency, least_minor = excluded.least_minor,
          most_minor = excluded.most_minor, refunded_minor = excluded.refunded_minor,
          is_refund_exact = excluded.is_refund_exact, is_refunded = excluded.is_refunded,
          is_cancelled = excluded.is_cancelled`;
  await sql`${toInsert('reconciled_orders', [...byId.values()])} on conflict (job_id, order_id) ${twice}`.execute(db);
}

export const countTheirs = (db: Db, { id, brandId }: ReconciliationKey): Promise<number> =>
  countRows(db.selectFrom('reconciledOrders').select(COUNT).where('brandId', '=', brandId).where('jobId', '=', id));

interface Commission {
  commissionId: string | null;
  commissionMinor: number | null;
  creatorEmail: string | null;
}

export interface TheirsAndOurs extends TheirOrder, OurOrder, Commission {
  /** Null if the order is missing here. */
  ourId: string | null;
  ourNumber: string | null;
  occurredAt: Date | null;
}

const OURS = sql`ours.id as our_id, ours.order_number as our_number, ours.currency as our_currency, ours.base_minor, ours.cancelled_at, ours.occurred_at,
  commission.id as commission_id, commission.status as commission_status, commission.commission_minor,
  commission.amount_minor as commission_base_minor, commission.refunded_minor as commission_refunded_minor,
  creator.email as creator_email`;
const COMMISSION = sql`left join commissions as commission on commission.order_id = ours.id
  left join creators as creator on creator.id = commission.creator_id`;

/** Lists the next orders of the store by id, each with ours. */
export async function listTheirs(
  db: Db,
  { id, brandId }: ReconciliationKey,
  integrationId: string,
  { after, limit }: { after: string; limit: number },
): Promise<TheirsAndOurs[]> {
  const { rows } = await sql<TheirsAndOurs>`
    select theirs.order_id, theirs.order_number, coalesce(ours.matches, 0) as matches, theirs.currency, theirs.least_minor, theirs.most_minor, theirs.refunded_minor,
      theirs.is_refund_exact, theirs.is_refunded, theirs.is_cancelled, ${OURS}
    from (select * from reconciled_orders where brand_id = ${brandId} and job_id = ${id} and order_id > ${after}
      order by order_id limit ${limit}) as theirs
    left join lateral (
      select own.*, count(*) over () as matches from (
        select * from orders where brand_id = ${brandId} and integration_id = ${integrationId} and order_id = theirs.order_id
        union select * from orders where brand_id = ${brandId} and integration_id = ${integrationId}
          and lower(ltrim(order_number, '#')) = lower(ltrim(theirs.order_number, '#'))) as own
      order by own.id limit 1) as ours on true
    ${COMMISSION} order by theirs.order_id`.execute(db);
  return rows;
}

export interface OursAlone extends OurOrder, Commission {
  orderId: string;
  ourId: string;
  ourNumber: string | null;
  occurredAt: Date;
}

/** Lists our next orders that the store does not list, by time. Orders that it deleted are excluded. */
export async function listOursAlone(
  db: Db,
  { id, brandId }: ReconciliationKey,
  integrationId: string,
  window: { from: Date; until: Date; after: { at: Date; id: string }; limit: number },
): Promise<OursAlone[]> {
  const { from, until, after, limit } = window;
  const { rows } = await sql<OursAlone>`
    select ours.order_id, 1 as matches, ${OURS} from orders as ours ${COMMISSION}
    where ours.brand_id = ${brandId} and ours.integration_id = ${integrationId}
      and ours.occurred_at >= ${from} and ours.occurred_at < ${until}
      and (ours.occurred_at, ours.id) > (${after.at}, ${after.id})
      and not exists (select from reconciled_orders as theirs
        where theirs.brand_id = ${brandId} and theirs.job_id = ${id} and theirs.order_id = ours.order_id)
      and not exists (select from reconciled_orders as theirs
        where theirs.job_id = ${id} and lower(ltrim(theirs.order_number, '#')) = lower(ltrim(ours.order_number, '#')))
      and not exists (select from order_heads as head where head.brand_id = ${brandId}
        and head.integration_id = ours.integration_id and head.order_id = ours.order_id and head.deleted_at is not null)
    order by ours.occurred_at, ours.id limit ${limit}`.execute(db);
  return rows;
}

/** Lists ended comparisons whose orders are still stored. */
export async function listEnded(db: Db, limit: number): Promise<ReconciliationKey[]> {
  return await db
    .selectFrom('reconciliations')
    .innerJoin('jobs', 'jobs.id', 'reconciliations.jobId')
    .select(['jobs.id', 'jobs.brandId'])
    .where('jobs.endedAt', 'is not', null)
    .limit(limit)
    .execute();
}

/** Deletes some of a comparison's orders, and after the last one the comparison. Returns false while some remain. */
export async function deleteTheirs(db: Db, { id, brandId }: ReconciliationKey, limit: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from reconciled_orders where brand_id = ${brandId} and job_id = ${id} and order_id in (
      select order_id from reconciled_orders where brand_id = ${brandId} and job_id = ${id} limit ${limit})`.execute(
    db,
  );
  if (Number(numAffectedRows) === limit) return false;
  await db.deleteFrom('reconciliations').where('brandId', '=', brandId).where('jobId', '=', id).execute();
  return true;
}

export const RECONCILIATION = 'reconciliation';
/** More recent changes at a store may not have reached us yet. */
const ON_ITS_WAY_MS = 15 * MINUTE_MS;

const invalidField = (field: string, code: string, message: string) => validationError([{ field, code, message }]);

/** The request's file; null if it has only fields. */
interface UploadedOrders {
  sha256: string;
  file: (StoredFile & { source: ByteSource }) | null;
}

export async function receiveOrders(context: Context, brandId: string, part: FilePart): Promise<UploadedOrders> {
  const storedFile = await receiveImport(context, brandId, part);
  return { sha256: storedFile.sha256, file: { ...storedFile, source: toSource(context, storedFile) } };
}

export async function releaseOrders(context: Context, { file }: UploadedOrders): Promise<void> {
  if (file) await releaseFile(context, file);
}

export const toEmptyUpload = async (): Promise<UploadedOrders> => ({ sha256: '', file: null });

/** The store that a comparison names; a file may leave it open if the brand has only one. */
export async function resolveStore(
  { db, brandId }: Work,
  id: string | undefined,
  isFile: boolean,
): Promise<ComparedStore> {
  if (id === undefined) {
    const only = isFile ? await findOnlyStore(db, brandId) : undefined;
    if (only) return only;
    throw invalidField('integration_id', 'required', 'is required: the store whose orders are compared.');
  }
  const store = await findStore(db, brandId, id);
  if (!store) throw invalidField('integration_id', 'not_found', 'is not a store of this brand.');
  if (isFile || store.isConnected) return store;
  throw invalidField('integration_id', 'not_connected', 'is not connected; connect it, or send its CSV as `file`.');
}

/** Resolves the compared period of a store's list, which ends some minutes ago at the latest. */
function resolvePeriod(
  { now }: Work,
  { from, to }: ReconciliationCreate,
  timeZone: string,
): { from: Date; until: Date } {
  if (from === undefined)
    throw invalidField('from', 'required', 'is required without a file: where the period begins.');
  const last = now.getTime() - ON_ITS_WAY_MS;
  const until = new Date(to === undefined ? last : Math.min(toEnd(to, timeZone).getTime(), last));
  if (toStart(from, timeZone) < until) return { from: toStart(from, timeZone), until };
  throw invalidField('from', 'invalid', 'must be at least 15 minutes ago.');
}

type SentFile = Pick<StoredFile, 'name' | 'mimeType' | 'storageKey' | 'sizeBytes'> & { sha256: Buffer };

/** Starts the job of a comparison, whose file is read by the plan, or by one that the job makes itself. */
export async function startReconciliation(
  work: Work,
  request: ReconciliationRequest,
  plan: Plan | null,
  file: SentFile | null,
): Promise<ListedJob> {
  const { db, now, brandId } = work;
  const job = await createJob(work, { kind: RECONCILIATION, request, dueAt: now });
  await storePlan(db, job, plan);
  if (!file) return job;
  const { storageKey, name, mimeType, sizeBytes, sha256 } = file;
  const jobFile = { number: 1, name, mimeType, storageKey, rows: 0, sizeBytes, sha256 };
  await insertFile(db, { ...jobFile, jobId: job.id, brandId, createdAt: now });
  return { ...job, files: [{ ...jobFile, sha256: sha256.toString('hex') }] };
}

export async function createReconciliation(
  work: Work,
  body: ReconciliationCreate,
  { file }: UploadedOrders,
): Promise<ListedJob> {
  const { db, now, brandId } = work;
  const store = await resolveStore(work, body.integration_id, file !== null);
  const timeZone = body.time_zone ?? (await getTimeZone(db, brandId));
  const mapping = mergeMappings(body.mapping ?? {}, { columns: body.columns ?? {} });
  const settledFile = file && (await settleFile(file.source, toReadingRequest(store, mapping, now)));
  const { from, until } = file
    ? { from: body.from && toStart(body.from, timeZone), until: body.to && toEnd(body.to, timeZone) }
    : resolvePeriod(work, body, timeZone);
  await assertBelowLimit(work);
  const request: ReconciliationRequest = {
    integration_id: store.id,
    file: file?.name ?? null,
    columns: settledFile?.plan ? listColumns(settledFile.plan) : null,
    ...(file ? { mapping } : {}),
    from: from ? from.toISOString() : null,
    until: until ? until.toISOString() : null,
    time_zone: timeZone,
  };
  const plan = settledFile?.isWhole ? settledFile.plan : null;
  if (!file) return await startReconciliation(work, request, plan, null);
  if (!(await claimUpload(db, brandId, file))) throw new Error('The file was discarded before its job was created.');
  return await startReconciliation(work, request, plan, { ...file, sha256: Buffer.from(file.sha256, 'hex') });
}
