import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import { toCsv } from '../../kit/operation/csv.ts';
import type { Job } from '../../kit/operation/job.ts';
import { makePlan } from '../../kit/operation/plans.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { isRecord } from '../../kit/values/wire.ts';
import type { Plan } from '../../platform/imports/reading/plan.ts';
import { readRecords, readTable } from '../../platform/imports/reading/read-table.ts';
import type { ByteSource } from '../../platform/imports/reading/shapes.ts';
import { toStorageKey } from '../../platform/jobs/job-files.ts';
import {
  type ClaimedJob,
  JobFailure,
  type JobKind,
  listFiles,
  storeFile,
  type TurnOutcome,
} from '../../platform/jobs/jobs.ts';
import { endComparison, failImport, stopImport } from '../imports/imports.ts';
import { openStore } from '../stores/connections/access.ts';
import { getClient } from '../stores/formats/clients.ts';
import {
  type Delivery,
  getRetryAfterMs,
  getSettings,
  needsReconnect,
  type StoreAccess,
  StoreId,
  type StoreSettings,
} from '../stores/formats/provider.ts';
import { FIRST_BACK_MS, READ_AGAIN } from '../stores/sweeps/schedule.ts';
import { readAgain, readEach } from '../stores/sweeps/sweeps.ts';
import {
  FINDING_KINDS,
  type FindingKind,
  listColumns,
  listFindings,
  listUnread,
  type TheirOrder,
  toMajorText,
  toTheirOrder,
  toUnreadableOrder,
} from './compare.ts';
import { explainFailure, toReadingRequest, toSource } from './read.ts';
import { FindingRow, ReconciliationRequest } from './reconciliations.shapes.ts';
import {
  type ComparedStore,
  countTheirs,
  deleteTheirs,
  findPlan,
  findStore,
  insertTheirs,
  listEnded,
  listOursAlone,
  listTheirs,
  type OursAlone,
  storePlan,
  type TheirsAndOurs,
} from './reconciliations.ts';

/** Limit of a turn, in pages of a store. Jobs of other brands wait for it. */
const PAGES_A_TURN = 10;
/** Orders of a file that a turn stores, or that it compares and one file covers. */
const ORDERS_A_TURN = 200_000;
const BATCH = 1_000;
const REMOVED_AT_ONCE = 10_000;
/** Limit of differences of each kind in the job's `result`; its files have all. */
const SHOWN_OF_KIND = 50;

const counts = z.record(z.string(), z.number().int());

const ReconciliationCursor = z.object({
  step: z.enum(['read', 'compare', 'ours']),
  /** Read position in the file (records) and in the store's list (page). */
  handled: z.number().int().default(0),
  page: z.string().nullable(),
  /** The last order that was compared. */
  after: z.string(),
  afterAt: z.iso.datetime().nullable(),
  /** Times of our first and last order that the store lists too. */
  first: z.iso.datetime().nullable(),
  last: z.iso.datetime().nullable(),
  counts,
  shown: z.array(FindingRow).default([]),
});
type ReconciliationCursor = z.output<typeof ReconciliationCursor>;

const START: ReconciliationCursor = {
  step: 'read',
  handled: 0,
  page: null,
  after: '',
  afterAt: null,
  first: null,
  last: null,
  counts: { matched: 0, ...Object.fromEntries(FINDING_KINDS.map((kind) => [kind, 0])) },
  shown: [],
};

interface ComparisonTurn {
  job: ClaimedJob;
  request: ReconciliationRequest;
  store: ComparedStore;
  cursor: ReconciliationCursor;
  signal: AbortSignal;
}

/** The file's bytes, until the turn is cancelled. */
const stopWith = (source: ByteSource, signal: AbortSignal): ByteSource => ({
  ...source,
  async *read(range) {
    for await (const chunk of await source.read(range)) {
      signal.throwIfAborted();
      yield chunk;
    }
  },
});

/** Jobs from before files had a mapping have their columns. */
const toFileRequest = ({ request, store }: ComparisonTurn, now: Date) =>
  toReadingRequest(store, request.mapping ?? { columns: request.columns ?? {} }, now);

/** Finds how the file is read, which was settled with the request unless the file is large. */
async function findFilePlan(context: Context, comparison: ComparisonTurn, source: ByteSource): Promise<Plan> {
  const { job } = comparison;
  const { db } = context.postgres;
  const knownPlan = await findPlan(db, job);
  if (knownPlan) return knownPlan;
  const { reading, plan } = await readTable(source, toFileRequest(comparison, context.clock.now()));
  if (!plan || reading.questions.length > 0) throw new JobFailure(explainFailure(reading));
  await storePlan(db, job, plan);
  return plan;
}

/** Stores the next orders of the file and returns the new position. */
async function readFile(context: Context, comparison: ComparisonTurn): Promise<ReconciliationCursor> {
  const { job, store, cursor, signal } = comparison;
  const { postgres, clock } = context;
  const [file] = await listFiles(postgres.db, job);
  if (!file || file.storageKey === null) throw new Error('The file of a reconciliation is gone.');
  const source = stopWith(toSource(context, { ...file, storageKey: file.storageKey }), signal);
  const plan = await findFilePlan(context, comparison, source);
  let place = cursor.handled;
  const lineBatches = readRecords(source, toFileRequest(comparison, clock.now()), plan, { after: cursor.handled });
  for await (const lines of lineBatches) {
    place += lines.length;
    const orders = lines.flatMap(({ record }) =>
      record?.kind === 'compared' ? (toTheirOrder(record, store.currency) ?? []) : [],
    );
    for (let at = 0; at < orders.length; at += BATCH)
      await insertTheirs(postgres.db, job, orders.slice(at, at + BATCH), 'first');
    if (place - cursor.handled >= ORDERS_A_TURN) return { ...cursor, handled: place };
  }
  return { ...cursor, step: 'compare' };
}

/** Converts a listed order; undefined if it is outside the period or has no id. */
async function toListedOrder(
  { store, request }: Pick<ComparisonTurn, 'store' | 'request'>,
  storeAccess: StoreAccess & StoreSettings,
  delivery: Delivery,
): Promise<TheirOrder | undefined> {
  const [reading] = await readEach(
    store,
    storeAccess,
    [delivery],
    ignoreFailure('its row says that it cannot be read'),
  );
  if (!reading) {
    const id = StoreId.safeParse(isRecord(delivery.body) ? (delivery.body.id ?? delivery.body.order_id) : undefined);
    return id.success ? toUnreadableOrder({ orderId: id.data, orderNumber: null }, store.currency) : undefined;
  }
  const { orderId, currency, baseMinor, refunds, cancelledAt, occurredAt } = reading.facts;
  const [from, until] = [new Date(request.from ?? 0), new Date(request.until ?? 0)];
  if (occurredAt < from || occurredAt >= until) return undefined;
  const refundedMinor = refunds.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  return {
    orderId,
    orderNumber: null,
    currency,
    leastMinor: baseMinor,
    mostMinor: baseMinor,
    refundedMinor,
    isRefundExact: true,
    isRefunded: baseMinor > 0 && refundedMinor >= baseMinor,
    isCancelled: cancelledAt !== null,
  };
}

/**
 * Stores the next pages of the store's list. Orders changed since the start of the period include all that were placed
 * in it.
 */
async function readStore(
  context: Context,
  comparison: ComparisonTurn,
): Promise<ReconciliationCursor | { waitMs: number; cursor: ReconciliationCursor }> {
  const { job, request, store, signal } = comparison;
  let { cursor } = comparison;
  if (!store.isConnected) throw new JobFailure('The store is not connected; connect it again.');
  try {
    const storeAccess = Object.assign(await openStore(context, store), getSettings(store));
    for (let pages = 0; pages < PAGES_A_TURN; pages += 1) {
      signal.throwIfAborted();
      const since = { since: new Date(request.from ?? 0), cursor: cursor.page };
      const page = await getClient(store.provider).listOrders(storeAccess, since);
      if (!page) throw new JobFailure('The store does not list its orders; send its CSV as `file`.');
      const orders: TheirOrder[] = [];
      for (const delivery of page.orders) {
        const order = await toListedOrder(comparison, storeAccess, delivery);
        if (order) orders.push(order);
      }
      await insertTheirs(context.postgres.db, job, orders, 'last');
      if (page.cursor === null) return { ...cursor, page: null, step: 'compare' };
      cursor = { ...cursor, page: page.cursor };
      if (page.waitMs > 0) return { waitMs: page.waitMs, cursor };
    }
    return cursor;
  } catch (error) {
    const waitMs = getRetryAfterMs(error);
    if (waitMs !== undefined) return { waitMs, cursor };
    if (needsReconnect(error)) throw new JobFailure('The store refuses its access token; connect it again.');
    throw error;
  }
}

function toFindingRow(
  finding: FindingKind,
  theirs: TheirOrder | undefined,
  ours: TheirsAndOurs | OursAlone | undefined,
): FindingRow {
  const [here, there] = [ours?.ourCurrency ?? null, theirs?.currency ?? null];
  return {
    finding,
    order_id: theirs?.orderId ?? ours?.orderId ?? '',
    placed_at: ours?.occurredAt?.toISOString() ?? null,
    currency_here: here,
    currency_there: there,
    amount_here: toMajorText(ours?.baseMinor ?? null, here ?? ''),
    amount_there: toMajorText(theirs?.leastMinor ?? null, there ?? ''),
    refunded_here: toMajorText(ours?.commissionRefundedMinor ?? null, here ?? ''),
    refunded_there: toMajorText(theirs?.leastMinor === null ? null : (theirs?.refundedMinor ?? null), there ?? ''),
    commission_id: ours?.commissionId ?? null,
    commission_status: ours?.commissionStatus ?? null,
    commission: toMajorText(ours?.commissionMinor ?? null, here ?? ''),
    creator_email: ours?.creatorEmail ?? null,
    order_number: ours?.ourNumber ?? theirs?.orderNumber ?? null,
  };
}

/** Progress of a comparison while its rows are written. */
interface Progress {
  cursor: ReconciliationCursor;
  /** Rows of the whole job. */
  rows: number;
  note(rows: number): void;
  /** Orders compared in this turn. */
  compared: number;
  found: number;
  isDone: boolean;
}

function countFinding(progress: Progress, kind: FindingKind | 'matched'): void {
  const { counts: before } = progress.cursor;
  progress.cursor.counts = { ...before, [kind]: (before[kind] ?? 0) + 1 };
}

/** Counts a difference, and keeps the first ones of each kind for the result. */
function noteFinding(progress: Progress, row: FindingRow): FindingRow {
  const { cursor } = progress;
  countFinding(progress, row.finding);
  progress.found += 1;
  if ((cursor.counts[row.finding] ?? 0) <= SHOWN_OF_KIND) cursor.shown = [...cursor.shown, row];
  return row;
}

async function* compareTheirs(
  context: Context,
  { job, store }: ComparisonTurn,
  progress: Progress,
): AsyncGenerator<FindingRow> {
  const { cursor } = progress;
  const most = Math.min(ORDERS_A_TURN, context.config.exportFileRows);
  while (progress.compared < most) {
    const limit = Math.min(BATCH, most);
    const page = await listTheirs(context.postgres.db, job, store.id, { after: cursor.after, limit });
    for (const pair of page) {
      const isKnown = pair.ourId !== null;
      const findings = listFindings(pair, isKnown ? pair : undefined);
      if (findings.length === 0) countFinding(progress, 'matched');
      for (const kind of findings) yield noteFinding(progress, toFindingRow(kind, pair, isKnown ? pair : undefined));
      const at = pair.occurredAt?.toISOString();
      if (at !== undefined && (cursor.first === null || at < cursor.first)) cursor.first = at;
      if (at !== undefined && (cursor.last === null || at > cursor.last)) cursor.last = at;
      cursor.after = pair.orderId;
    }
    progress.compared += page.length;
    progress.rows += page.length;
    progress.note(progress.rows);
    if (page.length < limit) return void Object.assign(cursor, { step: 'ours', after: '' });
  }
}

/**
 * Returns the period in which the store should list all our orders; undefined if it is unknown. Shopify hides orders
 * older than 60 days from most apps, so there a period begins with the first that it lists.
 */
function getListedPeriod({ job, request, store, cursor }: ComparisonTurn): { from: Date; until: Date } | undefined {
  const { first, last } = cursor;
  const isHidden =
    request.file === null &&
    store.provider === 'shopify' &&
    job.createdAt.getTime() - Date.parse(request.from ?? '') > FIRST_BACK_MS;
  const from = (isHidden ? undefined : request.from) ?? first;
  const until = request.until ?? (last && new Date(Date.parse(last) + 1).toISOString());
  return from && until ? { from: new Date(from), until: new Date(until) } : undefined;
}

async function* compareOurs(
  context: Context,
  comparison: ComparisonTurn,
  progress: Progress,
): AsyncGenerator<FindingRow> {
  const { job, store } = comparison;
  const { cursor } = progress;
  const period = getListedPeriod({ ...comparison, cursor });
  const most = Math.min(ORDERS_A_TURN, context.config.exportFileRows);
  while (period && progress.compared < most) {
    const after = { at: new Date(cursor.afterAt ?? period.from), id: cursor.after };
    const page = await listOursAlone(context.postgres.db, job, store.id, { ...period, after, limit: BATCH });
    for (const ours of page) {
      yield noteFinding(progress, toFindingRow('missing_there', undefined, ours));
      Object.assign(cursor, { after: ours.ourId, afterAt: ours.occurredAt.toISOString() });
    }
    progress.compared += page.length;
    if (page.length < BATCH) break;
  }
  progress.isDone = progress.compared < most;
}

async function* findingRows(
  context: Context,
  comparison: ComparisonTurn,
  progress: Progress,
): AsyncGenerator<FindingRow> {
  if (progress.cursor.step === 'compare') yield* compareTheirs(context, comparison, progress);
  if (progress.cursor.step === 'ours') yield* compareOurs(context, comparison, progress);
}

const REPAIRED = ['missing_here', 'amount', 'refunded_but_paid', 'cancelled_but_paid'] as const;

/**
 * Creates a plan to read the store again, which repairs differences. Null if that is impossible or would repair
 * nothing.
 */
async function offerPlan(context: Context, { job, request, store, cursor }: ComparisonTurn): Promise<string | null> {
  const { counts: found, first } = cursor;
  const from = request.from ?? (first && new Date(Date.parse(first) - DAY_MS).toISOString());
  const until = request.until ?? cursor.last;
  const earliest = context.clock.now().getTime() - FIRST_BACK_MS;
  const isWorthIt = REPAIRED.some((kind) => (found[kind] ?? 0) > 0);
  if (!isWorthIt || !store.isConnected || !from || !until || Date.parse(until) < earliest) return null;
  const since = new Date(Math.max(Date.parse(from), earliest)).toISOString();
  const planAnswer = await makePlan(
    context,
    {
      caller: { brandId: job.brandId, keyId: null },
      circumstances: { requestId: null },
      operation: READ_AGAIN,
      raw: { params: { id: store.id }, query: {}, body: { since }, answer: 'json' },
    },
    async (work) => {
      await readAgain(work, store.id, new Date(since));
      return Buffer.alloc(0);
    },
  );
  return z.object({ plan_id: z.string() }).parse(JSON.parse(planAnswer.toString())).plan_id;
}

/** Compares the next orders and writes the differences to a file. */
async function compareNextOrders(
  context: Context,
  comparison: ComparisonTurn,
  note: (rows: number) => void,
): Promise<TurnOutcome> {
  const { job, store, signal } = comparison;
  const { postgres, files } = context;
  const totalRows = job.totalRows ?? (await countTheirs(postgres.db, job));
  const number = (await listFiles(postgres.db, job)).length + 1;
  const progress: Progress = {
    cursor: { ...comparison.cursor },
    rows: job.rows,
    note,
    compared: 0,
    found: 0,
    isDone: false,
  };
  const storageKey = toStorageKey(job.id, number, job.claim);
  const mimeType = 'text/csv';
  const lines = toCsv(FindingRow, findingRows(context, comparison, progress));
  const storedFile = await storeFile(files, { key: storageKey, mimeType, signal }, lines);
  const { cursor, rows, found, isDone } = progress;
  const period = isDone ? getListedPeriod({ ...comparison, cursor }) : undefined;
  const plan = await findPlan(postgres.db, job);
  const result = {
    integration_id: store.id,
    store: store.name,
    columns: plan ? listColumns(plan) : null,
    not_compared: plan ? listUnread(plan) : [],
    from: period?.from.toISOString() ?? null,
    until: period?.until.toISOString() ?? null,
    ...cursor.counts,
    differences: cursor.shown,
    plan_id: isDone ? await offerPlan(context, { ...comparison, cursor }) : null,
  };
  const name = `differences-${String(number).padStart(4, '0')}.csv`;
  return {
    cursor,
    rows,
    totalRows,
    isDone,
    file: { number, name, mimeType, storageKey, rows: found, ...storedFile },
    ...(isDone ? { result } : {}),
  };
}

async function runReconciliation(
  context: Context,
  job: ClaimedJob,
  { signal, note }: Parameters<JobKind['run']>[2],
): Promise<TurnOutcome> {
  const request = ReconciliationRequest.parse(job.request);
  const store = await findStore(context.postgres.db, job.brandId, request.integration_id);
  if (!store) throw new JobFailure('The store no longer exists.');
  const comparison = { job, request, store, signal, cursor: ReconciliationCursor.parse(job.cursor ?? START) };
  if (comparison.cursor.step !== 'read') return await compareNextOrders(context, comparison, note);
  const next = request.file === null ? await readStore(context, comparison) : await readFile(context, comparison);
  return 'waitMs' in next ? next : { cursor: next, rows: 0, isDone: false };
}

/** Stores the store's orders first, then compares them. A lost turn reads its part again, or writes its file again. */
export const reconciliationKind: JobKind = {
  run: runReconciliation,
  ended: endComparison,
  failed: failImport,
  cancelled: stopImport,
};

/** Removes the store's orders of comparisons that have ended. */
export const removeReconciled: Job = {
  name: 'remove-reconciled-orders',
  everyMs: 60_000,
  asksFor: 'comparisons with a store that have ended',
  run: async ({ postgres }) => {
    for (const endedJob of await listEnded(postgres.db, 50)) {
      while (!(await deleteTheirs(postgres.db, endedJob, REMOVED_AT_ONCE)));
    }
  },
};
