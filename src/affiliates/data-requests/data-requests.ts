import { sql } from 'kysely';
import { z } from 'zod';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { wrongState } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { ListWindow, WaitingSort } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { signFileUrl } from '../../workflow/assets/files.ts';
import { hasClearSeals } from '../ledger/convert-seals.ts';
import { getSalt, hashCustomerId } from '../orders/customers.ts';
import { disconnectStore } from '../stores/connections/connect.ts';
import { getIntegration } from '../stores/connections/connections.ts';
import type { PersonWish } from '../stores/formats/provider.ts';
import { toBookColumns } from './books.ts';
import { eraseBuyer, takeBuyerRows } from './buyer-erasure.ts';
import {
  assertNothingDue,
  type Erased,
  eraseApplicant,
  eraseCreator,
  listTheirFacts,
  listTheirNames,
  takeCreatorRows,
} from './creator-erasure.ts';
import { mailOwners } from './data-requests.mails.ts';
import {
  type DataRequestCreate,
  type DataRequestFilter,
  type DataRequestRow,
  readSubject,
  toDataRequest,
} from './data-requests.shapes.ts';
import { listRows, type Removed, type TakenRow } from './erase.ts';
import { type ErasureLine, toLine } from './erasures-file.ts';
import { findPerson } from './find-person.ts';
import { holdImports, listImported } from './imported.ts';
import { toNames } from './names.ts';

/** The law gives the brand so long. */
export const DUE_MS = 30 * DAY_MS;
/** The file of an access, and the selector that it is made by. */
export const FILE_KEPT_MS = 7 * DAY_MS;

export const SHOWN = [
  'id',
  'brandId',
  'kind',
  'subject',
  'source',
  'state',
  'creatorId',
  'reason',
  'removed',
  'dueAt',
  'createdAt',
  'finishedAt',
  'refusal',
  'booksUntil',
] as const;

export const dataRequests = listing({
  noun: 'data request',
  table: 'data_requests',
  time: 'createdAt',
  changed: ['createdAt', 'finishedAt'],
  matching: (db, _brandId, { kind, state }: ListWindow<WaitingSort> & Pick<DataRequestFilter, 'kind' | 'state'>) =>
    db.selectFrom('dataRequests').where((eb) => eb.and(omitUndefined({ kind, state }))),
  rows: (db) => db.selectFrom('dataRequests').select(SHOWN),
  // Ids are in the order of creation, and break the ties.
  ranks: { waiting: { at: sql`(data_requests.state = 'open')::int`, of: ({ state }) => Number(state === 'open') } },
});

const Selector = z.object({
  creatorId: z.string().nullable(),
  /** The address of somebody who is no creator and may have applied, or its hash in a copy of before. */
  applicant: z.string().nullable().default(null),
  /** By what else imports name them. */
  facts: z.array(z.object({ fact: z.string(), source: z.string().nullable() })).default([]),
  isForfeit: z.boolean(),
  /** It was carried out before, and this database is an older copy: what is due stays due, to the pseudonym. */
  isAgain: z.boolean().default(false),
  buyer: z
    .object({
      email: z.string().nullable(),
      integrationId: z.string().nullable(),
      orderIds: z.array(z.string()).nullable(),
      hashes: z.array(z.string()).default([]),
      customerOf: z.string().nullable().default(null),
      join: z.enum(['both', 'either', 'store']),
    })
    .nullable(),
});
type Selector = z.output<typeof Selector>;
const NOBODY = { creatorId: null, applicant: null, facts: [], isForfeit: false, isAgain: false, buyer: null };

const sealingContext = (id: string): string => `data request ${id}`;

async function toSelector({ db, brandId }: Work, body: DataRequestCreate): Promise<Selector> {
  const { forfeit: isForfeit = false } = body;
  if (readSubject(body) === 'creator') {
    return { ...NOBODY, ...(await findPerson(db, brandId, body)), isForfeit };
  }
  const { customer_email: email = null, integration_id: integrationId = null, order_ids: orderIds = null } = body;
  const { customer_of: customerOf = null } = body;
  const join = email !== null && orderIds !== null ? 'both' : 'either';
  return {
    ...NOBODY,
    isForfeit,
    buyer: { email, hashes: [], integrationId, orderIds, customerOf, join },
  };
}

type NewRequest = Pick<DataRequestRow, 'kind' | 'source' | 'reason'>;

/** Notes a request that is to be carried out. */
async function insertRequest(
  work: Work,
  secrets: Secrets,
  facts: NewRequest,
  selector: Selector,
): Promise<DataRequestRow> {
  const { db, brandId, now } = work;
  const id = newId('drq', now.getTime());
  const subject = selector.buyer === null ? ('creator' as const) : ('customer' as const);
  const row = await db
    .insertInto('dataRequests')
    .values({
      id,
      brandId,
      ...facts,
      subject,
      state: 'running' as const,
      creatorId: selector.creatorId,
      selector: secrets.seal(JSON.stringify(selector), sealingContext(id)),
      dueAt: new Date(now.getTime() + DUE_MS),
      createdAt: now,
    })
    .returning(SHOWN)
    .executeTakeFirstOrThrow();
  // Without the reason, which may name the person: the entry is written after the erasure.
  work.audit({ resourceId: id, old: null, new: { ...row, reason: null } });
  return row;
}

/** A person's request, carried out at once unless the brand's seals have to be converted first. */
export async function createRequest(
  work: Work,
  secrets: Secrets,
  body: DataRequestCreate,
  source: DataRequestRow['source'],
): Promise<DataRequestRow> {
  const selector = await toSelector(work, body);
  const row = await insertRequest(work, secrets, { kind: body.kind, source, reason: body.reason ?? null }, selector);
  return await beginRequest(work, secrets, row, selector);
}

async function beginRequest(
  work: Work,
  secrets: Secrets,
  row: DataRequestRow,
  selector: Selector,
): Promise<DataRequestRow> {
  if (row.kind === 'erasure' && (await hasClearSeals(work.db, work.brandId))) {
    const { creatorId: id } = selector;
    if (id !== null) await assertNothingDue(work, { id, brandId: work.brandId, email: null }, selector.isForfeit);
    return row;
  }
  return await finishRequest(work, secrets, row, selector);
}

/** Notes a wish that a store passes on, for a job to carry out. A store that is to be forgotten is disconnected. */
export async function recordWish(
  work: Work,
  secrets: Secrets,
  { id, provider }: { id: string; provider: string },
  wish: PersonWish,
): Promise<void> {
  const { kind, email, customerId, orderIds, isWholeStore } = wish;
  const hashes =
    customerId === null ? [] : [hashCustomerId(await getSalt(work.db, secrets), id, customerId).toString('hex')];
  const buyer = {
    email,
    hashes,
    integrationId: id,
    orderIds: [...orderIds],
    customerOf: null,
    join: isWholeStore ? ('store' as const) : ('either' as const),
  };
  const source = provider === 'woocommerce' ? ('woocommerce' as const) : ('shopify' as const);
  await insertRequest(work, secrets, { kind, source, reason: null }, { ...NOBODY, buyer });
  if (isWholeStore) await disconnectStore(work, id, null);
}

type StoredRequest = DataRequestRow & Pick<{ selector: Buffer | null }, 'selector'>;

async function lockRequest({ db, brandId }: Work, id: string): Promise<StoredRequest> {
  await dataRequests.get(db, brandId, id);
  return await db
    .selectFrom('dataRequests')
    .select([...SHOWN, 'selector'])
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

function readSelector(
  secrets: Secrets,
  { id, selector }: Pick<StoredRequest, 'id' | 'selector'>,
): Selector | undefined {
  return selector === null ? undefined : Selector.parse(JSON.parse(secrets.open(selector, sealingContext(id))));
}

/** Carries out a request that waits for the brand. One that is done stays as it is. */
export async function carryOut(work: Work, secrets: Secrets, id: string, isForfeit: boolean): Promise<DataRequestRow> {
  const { selector: _sealed, ...row } = await lockRequest(work, id);
  if (row.state !== 'open') return row;
  const selector = { ...NOBODY, creatorId: row.creatorId, isForfeit };
  if (row.creatorId === null) throw wrongState('request', row.state, 'running', []);
  const sealedSelector = secrets.seal(JSON.stringify(selector), sealingContext(id));
  const running = await work.db
    .updateTable('dataRequests')
    .set({ state: 'running', selector: sealedSelector })
    .where('brandId', '=', work.brandId)
    .where('id', '=', id)
    .returning(SHOWN)
    .executeTakeFirstOrThrow();
  work.audit({ resourceId: id, old: row, new: running });
  return await beginRequest(work, secrets, running, selector);
}

/** Carries out a running request, once its brand's seals are converted. */
export async function carryOutRunning(work: Work, secrets: Secrets, id: string): Promise<void> {
  const row = await lockRequest(work, id);
  const selector = readSelector(secrets, row);
  if (row.state !== 'running' || selector === undefined) return;
  await finishRequest(work, secrets, row, selector);
}

/** Lets a request wait for the brand, because money became due to the creator meanwhile. */
export async function letWait({ db, brandId, audit }: Work, id: string): Promise<void> {
  const old = await dataRequests.get(db, brandId, id);
  const row = await db
    .updateTable('dataRequests')
    .set({ state: 'open' })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .returning(SHOWN)
    .executeTakeFirst();
  if (row) audit({ resourceId: id, old, new: row });
}

const countRows = (rowsByTable: ReadonlyMap<string, TakenRow[]>): Removed =>
  Object.fromEntries([...rowsByTable].flatMap(([table, rows]) => (rows.length > 0 ? [[table, rows.length]] : [])));

async function takeRows(
  db: Db,
  secrets: Secrets,
  brandId: string,
  selector: Selector,
): Promise<Map<string, TakenRow[]>> {
  const { creatorId, applicant, facts, buyer } = selector;
  const nobody = { id: '', brandId, email: null };
  if (buyer !== null) return await takeBuyerRows(db, brandId, secrets, buyer);
  const person =
    creatorId === null
      ? { ...nobody, email: applicant }
      : await db
          .selectFrom('creators')
          .select(['id', 'brandId', 'email'])
          .where('brandId', '=', brandId)
          .where('id', '=', creatorId)
          .executeTakeFirst();
  if (person === undefined || (creatorId === null && applicant === null && facts.length === 0)) return new Map();
  const rows = await takeCreatorRows(db, person);
  const known = [...(applicant === null ? [] : [applicant]), ...listTheirNames(rows)];
  const names = await toNames(db, person, known, [...facts, ...listTheirFacts(rows)]);
  for (const [table, found] of await listImported(db, brandId, names)) rows.set(table, found);
  if (creatorId === null) return rows;
  const toThem = sql`own.brand_id = ${brandId}
    and (own.creator_id = ${creatorId} or lower(own.to_email) = lower(${person.email}))`;
  return rows.set('mails', await listRows(db, 'mails', toThem));
}

async function erase(
  work: Work,
  secrets: Secrets,
  requestId: string,
  { creatorId, applicant, facts, isForfeit, isAgain, buyer }: Selector,
): Promise<Erased & { hashes?: string[] }> {
  await holdImports(work);
  if (buyer !== null) return await eraseBuyer(work, secrets, buyer, requestId);
  if (applicant !== null || facts.length > 0) return await eraseApplicant(work, secrets, applicant, facts);
  const nothing = { removed: {}, leftovers: { files: [], mails: [] } };
  if (creatorId === null) return nothing;
  const creator = await work.db
    .selectFrom('creators')
    .selectAll()
    .where('brandId', '=', work.brandId)
    .where('id', '=', creatorId)
    .where('erasedBy', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  return creator === undefined
    ? nothing
    : await eraseCreator(work, secrets, creator, { requestId, isForfeit, isAgain });
}

async function finishRequest(
  work: Work,
  secrets: Secrets,
  request: DataRequestRow,
  selector: Selector,
): Promise<DataRequestRow> {
  const { db, brandId, now } = work;
  const { id } = request;
  const completion = { state: 'done' as const, finishedAt: now };
  async function carryOut() {
    if (request.kind === 'access') {
      await tellOwners(work, request, selector);
      return { removed: JSON.stringify(countRows(await takeRows(db, secrets, brandId, selector))) };
    }
    const { removed, leftovers, kept, hashes } = await erase(work, secrets, id, selector);
    const line = selector.isAgain ? null : toLine(request, now, selector, hashes);
    return {
      removed: JSON.stringify(removed),
      leftovers: JSON.stringify({ ...leftovers, line }),
      selector: null,
      ...toBookColumns(secrets, id, kept),
    };
  }
  return await db
    .updateTable('dataRequests')
    .set({ ...completion, ...(await carryOut()) })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returning(SHOWN)
    .executeTakeFirstOrThrow();
}

/** Tells the owners that a store asks for a file which they have to pass on. */
async function tellOwners(work: Work, request: DataRequestRow, { buyer }: Selector): Promise<void> {
  if (request.source !== 'shopify' || buyer?.integrationId === null || buyer === null) return;
  const { name } = await getIntegration(work.db, work.brandId, buyer.integrationId);
  await mailOwners(work, request, { what: 'file', who: name });
}

/** Notes an erasure of which this database knows nothing, because it is an older copy. False if it knows it. */
export async function noteAgain(db: Db, secrets: Secrets, line: ErasureLine): Promise<boolean> {
  const { request: id, brand: brandId, creator_id: creatorId, applicant, buyer } = line;
  const selector = { ...NOBODY, creatorId, applicant, isAgain: true, buyer: buyer && { ...buyer, email: null } };
  const { numInsertedOrUpdatedRows: count } = await db
    .insertInto('dataRequests')
    .values({
      id,
      brandId,
      kind: 'erasure',
      subject: line.subject,
      source: line.source,
      state: 'running',
      creatorId,
      selector: secrets.seal(JSON.stringify(selector), sealingContext(id)),
      createdAt: new Date(line.created_at),
      dueAt: new Date(Date.parse(line.created_at) + DUE_MS),
    })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((eb) => ({ state: 'running', selector: eb.ref('excluded.selector') }))
        .where('dataRequests.state', 'in', ['open', 'refused']),
    )
    .executeTakeFirst();
  return (count ?? 0n) > 0n;
}

type FileContext = Pick<Context, 'config' | 'secrets' | 'clock'>;

/** The creator's files, each at an address that works for an hour. A buyer has none. */
async function listFiles(context: FileContext, db: Db, brandId: string, { creatorId }: Selector) {
  if (creatorId === null) return [];
  const assets = await db
    .selectFrom('assets')
    .select(['id', 'name'])
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('deletedAt', 'is', null)
    .orderBy('id')
    .execute();
  return assets.map(({ id, name }) => ({ name, url: signFileUrl(context, { assetId: id, form: 'original' }) }));
}

/** The file of an access; undefined once it has ended. */
export async function readFile(context: FileContext, db: Db, brandId: string, id: string) {
  const { secrets } = context;
  const now = context.clock.now();
  const row = await dataRequests.get(db, brandId, id);
  const request = await db
    .selectFrom('dataRequests')
    .select(['id', 'selector'])
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const selector = readSelector(secrets, request);
  const isOver = row.createdAt.getTime() + FILE_KEPT_MS <= now.getTime();
  if (row.kind !== 'access' || row.state !== 'done' || selector === undefined || isOver) return undefined;
  const rowsByTable = await takeRows(db, secrets, brandId, selector);
  return {
    request: { id, created_at: row.createdAt.toISOString() },
    tables: Object.fromEntries([...rowsByTable].filter(([, rows]) => rows.length > 0)),
    files: await listFiles(context, db, brandId, selector),
    received_by: await listReceivers(db, brandId),
    kept: toDataRequest(row).kept,
  };
}

/** Everybody else who received anything that a brand keeps of people. */
async function listReceivers(db: Db, brandId: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select storefront_host as name from integrations where brand_id = ${brandId}
    union select split_part(split_part(url, '://', 2), '/', 1) from webhook_subscriptions where brand_id = ${brandId}
    union select bucket from export_schedules where brand_id = ${brandId} and deleted_at is null order by 1`.execute(
    db,
  );
  // A shop whose orders come by a key has no host.
  return rows.map(({ name }) => name).filter((name) => name !== '');
}
