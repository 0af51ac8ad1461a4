import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError } from '../../kit/values/errors.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { type CreatorRow, lockBrandRoster } from '../../workflow/creators/creators.ts';
import { endMemberships } from '../../workflow/roster/memberships.ts';
import { type Fact, hashErased, toFact } from '../imports/erased.ts';
import { deactivateLink } from '../links/change-link.ts';
import { getSalt, hashEmail } from '../orders/customers.ts';
import { listBalances, type PayeeBalance, toBalance } from '../payouts/balances.ts';
import { lockPayees } from '../payouts/payouts.ts';
import { reviewAll } from '../reviews/reviews.ts';
import { type KeptBooks, takeBooks } from './books.ts';
import {
  addCounts,
  beginErasing,
  CREATOR_FIELDS,
  endErasing,
  eraseTable,
  forgetSeals,
  hashSuppression,
  type Leftovers,
  listRows,
  matchesOwner,
  type Person,
  type Removed,
  type TakenRow,
} from './erase.ts';
import { eraseImported } from './imported.ts';
import { endCopies, eraseMails, eraseTexts, redactMentions, replaceMentions } from './mentions.ts';
import { listNames, type Names, toNames } from './names.ts';
import { OF_CREATORS } from './personal-columns.ts';

/** The outcome of an erasure, with its leftovers for a job and the record for the books. */
export interface Erased {
  removed: Removed;
  leftovers: Leftovers;
  kept?: KeptBooks | undefined;
}

/** The address of an applicant, who may be known by its hash alone. */
async function findApplicant({ db, brandId }: Work, salt: Buffer, applicant: string | null): Promise<string | null> {
  if (applicant === null || applicant.includes('@')) return applicant;
  const applications = db.selectFrom('applications').select('creatorEmail').distinct().where('brandId', '=', brandId);
  const rows = await applications.where('creatorId', 'is', null).execute();
  const isTheirs = (address: string) => hashEmail(salt, address).toString('hex') === applicant;
  return rows.find(({ creatorEmail: one }) => one !== null && isTheirs(one))?.creatorEmail ?? null;
}

/**
 * Erases somebody who is no creator: by their address or, in a copy of before, by its hash, and by what imports name them by.
 * `hashes` has that of the address.
 */
export async function eraseApplicant(
  work: Work,
  secrets: Secrets,
  applicant: string | null,
  facts: readonly Fact[],
): Promise<Erased & { hashes: string[] }> {
  const { db, brandId } = work;
  const salt = await getSalt(db, secrets);
  const email = await findApplicant(work, salt, applicant);
  const nothing = { removed: {}, leftovers: { files: [], mails: [] }, hashes: [] };
  if (email === null && facts.length === 0) return nothing;
  const person = { id: '', brandId, email };
  const rowsByTable = await takeCreatorRows(db, person);
  const ids = [...rowsByTable.values()].flat().flatMap(({ id }) => (isText(id) ? [id] : []));
  const names = await toNames(db, person, [...(email === null ? [] : [email]), ...listTheirNames(rowsByTable)], facts);
  await beginErasing(db);
  const removedCounts: Removed = {};
  for (const [name, table] of Object.entries(OF_CREATORS)) {
    const count = rowsByTable.get(name)?.length ? await eraseTable(work, name, table, person) : 0;
    if (count > 0) removedCounts[name] = count;
  }
  if (email !== null) await hashSuppression(work, email);
  const { removed, leftovers } = await eraseTraces(work, secrets, { creatorId: null, ids, names });
  await endErasing(db);
  const hashes = email === null ? [] : [hashEmail(salt, email).toString('hex')];
  return { removed: addCounts(removedCounts, removed), leftovers, hashes };
}

/** All rows of a creator, by table. */
export async function takeCreatorRows(db: Db, creator: Person): Promise<Map<string, TakenRow[]>> {
  const rowsByTable = new Map<string, TakenRow[]>();
  for (const [name, table] of Object.entries(OF_CREATORS)) {
    rowsByTable.set(name, await listRows(db, name, matchesOwner(table, creator)));
  }
  return rowsByTable;
}

const isDue = (balance: PayeeBalance): boolean =>
  [
    balance.pendingMinor,
    balance.heldMinor,
    balance.unpaidOrdersMinor,
    balance.approvedMinor,
    balance.recordedMinor,
  ].some((minor) => minor !== 0);

/** Refuses while money is due to a creator, unless it is forfeit. Payouts under way must be settled first. */
export async function assertNothingDue(work: Work, { id }: Person, isForfeit: boolean): Promise<void> {
  const { db, brandId, now } = work;
  await lockPayees(db, brandId, [id]);
  const dueBalances = (await listBalances(db, brandId, { creatorIds: [id] }, now)).filter(isDue);
  if (dueBalances.length === 0) return;
  const isUnderWay = dueBalances.some(({ recordedMinor }) => recordedMinor !== 0);
  if (isForfeit && !isUnderWay) return;
  const how = isUnderWay
    ? 'settle or void the payouts that are under way'
    : 'pay it, or send `forfeit: true` to reject it';
  throw new ApiError('MONEY_DUE', `Money is due to this creator; ${how}.`, {
    facts: { balances: dueBalances.map((balance) => toBalance(balance)) },
  });
}

/** Rejects what is left of a creator's commissions. */
async function rejectOpen(work: Work, { id }: Person): Promise<void> {
  const { db, brandId } = work;
  const open = await db
    .selectFrom('commissions')
    .select('id')
    .where('brandId', '=', brandId)
    .where('creatorId', '=', id)
    .where('status', 'in', ['pending', 'approved'])
    .execute();
  const ids = open.map((row) => row.id);
  if (ids.length > 0) await reviewAll(work, ids, { status: 'rejected', note: 'erased' });
}

/** Ends what a creator could go on doing: codes, links, a group, pages. Codes stay, because shops and orders have them. */
async function endParts(work: Work, { id }: Person): Promise<void> {
  const { db, brandId, now } = work;
  const active = db.selectFrom('links').select('id').where('brandId', '=', brandId).where('creatorId', '=', id);
  for (const link of await active.where('active', '=', true).execute()) await deactivateLink(work, link.id);
  await endMemberships(work, [id]);
  await db.deleteFrom('approvalsToMail').where('brandId', '=', brandId).where('creatorId', '=', id).execute();
  for (const table of ['contracts', 'deliverables', 'shipments', 'briefs', 'statements']) {
    await sql`update ${sql.table(table)} set link_version = link_version + 1
      where brand_id = ${brandId} and creator_id = ${id}`.execute(db);
  }
  await sql`update assets set deleted_at = coalesce(deleted_at, ${now}), purged_at = null, thumbnail_retry_at = null
    where brand_id = ${brandId} and creator_id = ${id}`.execute(db);
  await sql`update content set next_refresh_at = null, refresh_requested_at = null, deleted_at = coalesce(deleted_at, ${now})
    where brand_id = ${brandId} and creator_id = ${id}`.execute(db);
}

const KEY_OF: Readonly<Record<string, string>> = { payment_profiles: 'creator_id' };
const SEALED = ['creators', 'links', 'commissions', 'payouts', 'payment_profiles', 'disputes'];
const WORDS: Readonly<Record<string, readonly string[]>> = {
  creators: ['email', 'name'],
  creator_addresses: ['email'],
  applications: ['creator_email', 'creator_name'],
  contracts: ['signer_name'],
  payment_profiles: ['wallet_email', 'legal_name', 'requested', 'waiting'],
  payouts: ['wallet_email'],
  brief_recipients: ['email'],
};

/** Lists what names the person and nobody else. A handle is looked for with its `@`, because alone it may be any word. */
export function listTheirNames(rowsByTable: ReadonlyMap<string, TakenRow[]>): string[] {
  const handles = (rowsByTable.get('creators') ?? []).flatMap((row) => [row.ig_handle, row.tt_handle]).filter(isText);
  const words = Object.entries(WORDS).flatMap(([table, columns]) =>
    (rowsByTable.get(table) ?? []).flatMap((row) => columns.map((column) => row[column])),
  );
  return [...new Set(listNames([...words, ...handles.map((handle) => `@${handle.replace(/^@/, '')}`)]))];
}

/** Lists by what imports name the creator beside their names: handles, where the file says of which platform or does not. */
export function listTheirFacts(rowsByTable: ReadonlyMap<string, TakenRow[]>): Fact[] {
  return (rowsByTable.get('creators') ?? []).flatMap((row) => {
    const handles = [
      { platform: 'instagram' as const, handle: row.ig_handle },
      { platform: 'tiktok' as const, handle: row.tt_handle },
    ];
    return handles.flatMap(({ platform, handle }) =>
      isText(handle) ? [platform, 'handle' as const].map((kind) => ({ fact: toFact(kind, handle), source: null })) : [],
    );
  });
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Takes a creator, or somebody who applied, out of everything that is not their own row. */
async function eraseTraces(
  work: Work,
  secrets: Secrets,
  { creatorId, ids, names }: { creatorId: string | null; ids: readonly string[]; names: Names },
): Promise<{ removed: Removed; leftovers: Leftovers }> {
  const hashes = await hashErased(work.db, secrets, { creators: names.texts, facts: names.facts });
  const { removed: imported, files } = await eraseImported(work, names, hashes);
  const { removed: mailed, ids: mails } = await eraseMails(work, { creatorId, ids }, names);
  const written = await replaceMentions(work, names);
  const traces = { ids, names, fields: CREATOR_FIELDS };
  const told = await redactMentions(work, traces);
  const copied = await endCopies(work, traces);
  await eraseTexts(work, names);
  return { removed: addCounts(imported, mailed, written, told, copied), leftovers: { files, mails } };
}

/**
 * Erases a creator. What stays is the pseudonym with figures, money and codes. Everything is in the caller's transaction but
 * files and mails, which a job removes.
 */
export async function eraseCreator(
  work: Work,
  secrets: Secrets,
  creator: CreatorRow,
  { requestId, isForfeit, isAgain }: { requestId: string; isForfeit: boolean; isAgain: boolean },
): Promise<Erased> {
  const { db, brandId, now } = work;
  await lockBrandRoster(db, brandId);
  if (!isAgain) await assertNothingDue(work, creator, isForfeit);
  const keptBooks = await takeBooks(work, creator);
  const rowsByTable = await takeCreatorRows(db, creator);
  const merges = await db
    .selectFrom('creatorMerges')
    .select('goneId')
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creator.id)
    .execute();
  const names = await toNames(db, creator, listTheirNames(rowsByTable), listTheirFacts(rowsByTable));
  const ids = [
    creator.id,
    ...merges.map(({ goneId }) => goneId),
    ...[...rowsByTable.values()].flat().flatMap(({ id }) => (isText(id) ? [id] : [])),
  ];
  const removedCounts: Removed = {};
  await beginErasing(db);
  for (const [name, table] of Object.entries(OF_CREATORS)) {
    if (name === 'creators') continue;
    const count = await eraseTable(work, name, table, creator);
    if (count > 0) removedCounts[name] = count;
  }
  await sql`update creators set email = null, name = null, ig_handle = null, tt_handle = null, pfp_url = null, tags = '{}',
      ig_followers = null, tt_followers = null, engagement_rate = null, profile_retry_at = null, profiled_at = ${now},
      link_version = link_version + 1, updated_at = ${now}, renamed_at = ${now}, erased_by = ${requestId}
    where brand_id = ${brandId} and id = ${creator.id}`.execute(db);
  removedCounts.creators = 1;
  // The row is written once more: the trigger kept its last address.
  await db.deleteFrom('creatorAddresses').where('brandId', '=', brandId).where('creatorId', '=', creator.id).execute();
  // Only now, so that their audit entries and events name nobody.
  if (!isAgain) await rejectOpen(work, creator);
  await endParts(work, creator);
  for (const table of SEALED) {
    const keys = (rowsByTable.get(table) ?? []).map((row) => row[KEY_OF[table] ?? 'id']).filter(isText);
    await forgetSeals(work, table, keys);
  }
  if (creator.email !== null) await hashSuppression(work, creator.email);
  const { removed, leftovers } = await eraseTraces(work, secrets, { creatorId: creator.id, ids, names });
  await endErasing(db);
  return { removed: addCounts(removedCounts, removed), leftovers, kept: keptBooks };
}
