import { parse as parseAll } from 'csv-parse/sync';
import { z } from 'zod';
import { endOf, startOf } from '../../analytics/figures/schema.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { FilePart } from '../../kit/operation/form-part.ts';
import type { Work } from '../../kit/operation/work.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import { assertRoom, createJob, type ListedJob } from '../../platform/jobs/actions.ts';
import { insertFile } from '../../platform/jobs/queries.ts';
import { receiveFile, releaseFile, type StoredFile } from '../../workflow/assets/actions.ts';
import { takeUpload } from '../../workflow/assets/queries.ts';
import { type Columns, guessColumns, ROLES } from './policy.ts';
import { type ComparedStore, findOnlyStore, findStore, insertReconciliation } from './queries.ts';
import type { ReconciliationCreate, ReconciliationRequest } from './schema.ts';

export const RECONCILIATION = 'reconciliation';
export const MAX_FILE_BYTES = 200 * 1024 * 1024;
/** A header row is no longer. */
const HEADER_BYTES = 64 * 1024;
const DELIMITERS = [',', ';', '\t'] as const;
/** What happened at a store more recently than this may not have reached us yet. */
const ON_ITS_WAY_MS = 15 * MINUTE_MS;

/** The first row of a file, and where its orders begin. */
export interface Header {
  names: string[];
  delimiter: string;
  bytes: number;
}

const Parsed = z.array(z.object({ record: z.array(z.string()), info: z.object({ bytes: z.number() }) }));

const problem = (field: string, code: string, message: string) => validationError([{ field, code, message }]);

function headerBy(sample: Buffer, delimiter: string): Header | undefined {
  try {
    const rows = parseAll(sample, { to: 1, delimiter, bom: true, info: true, relax_quotes: true });
    const [row] = Parsed.parse(rows);
    return row && { names: row.record.map((name) => name.trim()), delimiter, bytes: row.info.bytes };
  } catch {
    return undefined;
  }
}

/** Whether text begins as UTF-16 does. */
const isWide = (bytes: Buffer | undefined) => /^(?:fffe|feff)/.test(bytes?.toString('hex', 0, 2) ?? '');

/** Reads the header row of a file in the storage. */
export async function readHeader(
  { files }: Pick<Context, 'files'>,
  { storageKey, sizeBytes }: Pick<StoredFile, 'storageKey' | 'sizeBytes'>,
): Promise<Header> {
  const end = Math.min(sizeBytes, HEADER_BYTES) - 1;
  const sample: Buffer[] = [];
  for await (const chunk of await files.read(storageKey, { start: 0, end })) sample.push(Buffer.from(chunk));
  if (isWide(sample[0])) throw problem('file', 'invalid', 'must be in UTF-8; this is UTF-16.');
  const headers = DELIMITERS.flatMap((delimiter) => headerBy(Buffer.concat(sample), delimiter) ?? []);
  const [header] = headers.toSorted((a, b) => b.names.length - a.names.length);
  if (!header || header.names.length < 2) throw problem('file', 'invalid', 'must be a CSV with a header row.');
  if (header.bytes < sizeBytes) return header;
  throw problem('file', 'invalid', 'has no orders below its header row.');
}

/** What a call sends: a file, or nothing but its fields. */
export interface SentOrders {
  sha256: string;
  file: (StoredFile & { header: Header }) | null;
}

export async function receiveOrders(context: Context, brandId: string, part: FilePart): Promise<SentOrders> {
  const stored = await receiveFile(context, brandId, part);
  try {
    return { sha256: stored.sha256, file: { ...stored, header: await readHeader(context, stored) } };
  } catch (error) {
    await releaseFile(context, stored);
    throw error;
  }
}

export async function releaseOrders(context: Context, { file }: SentOrders): Promise<void> {
  if (file) await releaseFile(context, file);
}

export const withoutOrders = async (): Promise<SentOrders> => ({ sha256: '', file: null });

function columnsOf({ names }: Header, given: Columns): Columns {
  const unknown = Object.values(given).filter((name) => !names.includes(name));
  const has = `The file has ${names.slice(0, 60).join(', ')}`.slice(0, 2_000);
  if (unknown.length > 0)
    throw problem('columns', 'not_found', `names columns that the file lacks: ${unknown.join(', ')}. ${has}.`);
  const columns = guessColumns(names, given);
  const missing = [
    ...(columns.order_id === undefined ? ['order_id'] : []),
    ...(columns.amount === undefined && columns.total === undefined ? ['amount'] : []),
  ];
  if (missing.length === 0) return columns;
  throw problem('columns', 'required', `must name ${missing.join(' and ')}. ${has}; columns are ${ROLES.join(', ')}.`);
}

async function storeOf({ db, brandId }: Work, id: string | undefined, isFile: boolean): Promise<ComparedStore> {
  if (id === undefined) {
    const only = isFile ? await findOnlyStore(db, brandId) : undefined;
    if (only) return only;
    throw problem('integration_id', 'required', 'is required: the store whose orders are compared.');
  }
  const store = await findStore(db, brandId, id);
  if (!store) throw problem('integration_id', 'not_found', 'is not a store of this brand.');
  if (isFile || store.isConnected) return store;
  throw problem('integration_id', 'not_connected', 'is not connected; connect it, or send its CSV as `file`.');
}

/** The period that a store's list is compared in. It ends some minutes ago at the latest. */
function periodOf({ now }: Work, { from, to }: ReconciliationCreate): { from: Date; until: Date } {
  if (from === undefined) throw problem('from', 'required', 'is required without a file: where the period begins.');
  const last = now.getTime() - ON_ITS_WAY_MS;
  const until = new Date(to === undefined ? last : Math.min(endOf(to).getTime(), last));
  if (startOf(from) < until) return { from: startOf(from), until };
  throw problem('from', 'invalid', 'must be at least 15 minutes ago.');
}

export async function createReconciliation(
  work: Work,
  body: ReconciliationCreate,
  { file }: SentOrders,
): Promise<ListedJob> {
  const { db, now, brandId } = work;
  const columns = file ? columnsOf(file.header, body.columns ?? {}) : null;
  const store = await storeOf(work, body.integration_id, file !== null);
  const { from, until } = file
    ? { from: body.from && startOf(body.from), until: body.to && endOf(body.to) }
    : periodOf(work, body);
  await assertRoom(work);
  const request: ReconciliationRequest = {
    ...{ integration_id: store.id, file: file?.name ?? null, columns },
    ...{ from: from ? from.toISOString() : null, until: until ? until.toISOString() : null },
  };
  const job = await createJob(work, { kind: RECONCILIATION, request, dueAt: now });
  await insertReconciliation(db, job);
  if (!file) return job;
  const { storageKey, name, mimeType, sizeBytes } = file;
  if (!(await takeUpload(db, brandId, storageKey)))
    throw new Error('The file was discarded before its job was created.');
  const sent = { number: 1, name, mimeType, storageKey, rows: 0, sizeBytes, sha256: Buffer.from(file.sha256, 'hex') };
  await insertFile(db, { ...sent, jobId: job.id, brandId, createdAt: now });
  return { ...job, files: [{ ...sent, sha256: file.sha256 }] };
}
