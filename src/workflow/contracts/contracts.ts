import { type Selectable, sql, type Updateable } from 'kysely';
import type { PageLinks } from '../../kit/access/page-tokens.ts';
import type { ContractItemsTable, ContractsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { lockOwn, updateOwn } from '../../kit/engines/postgres/own.ts';
import type { Work } from '../../kit/operation/work.ts';
import { storedCompensation } from '../../kit/values/compensation.ts';
import type { Compensation } from '../../kit/values/compensation-text.ts';
import { ApiError, validationError, wrongState } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { applyPatch, omitUndefined } from '../../kit/values/patch.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { getBrand, getBrandCurrency } from '../../platform/brands/brands.ts';
import { findAddressee, notOnRoster } from '../applications/applications.ts';
import { campaignProblems, getCampaign, validateCompensation } from '../campaigns/campaigns.ts';
import { matchesCreator } from '../creators/creators.ts';
import { showCreator } from '../creators/renamed.ts';
import {
  cancelContractDeliverables,
  createContractDeliverables,
  updateContractDeliverables,
} from '../deliverables/deliverables.ts';
import { mailEnded, mailSent, mailSigned, signingLink } from './contracts.mails.ts';
import {
  type ContractCreate,
  type ContractFilter,
  type ContractPatch,
  type EXPIRED_REASONS,
  type ItemInput,
  toContract,
} from './contracts.shapes.ts';
import { hashDocument, writeDocument } from './document.ts';

export type ContractStatus = ContractsTable['status'];

export type ContractRow = Selectable<ContractsTable>;
export type ItemRow = Pick<Selectable<ContractItemsTable>, 'type' | 'platform' | 'quantity' | 'dueDate'>;

/** The promised deliverables, in order; as `json`, which keeps the order of keys. */
const items = sql<ItemRow[]>`(
  select coalesce(json_agg(json_build_object(
    'type', item.type, 'platform', item.platform, 'quantity', item.quantity, 'dueDate', item.due_date
  ) order by item.position), '[]')
  from contract_items as item
  where item.brand_id = contracts.brand_id and item.contract_id = contracts.id)`;

/** A contract with its promised deliverables. */
export type ContractFacts = Awaited<ReturnType<typeof getContract>>;

export const contracts = listing({
  noun: 'contract',
  table: 'contracts',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt', 'sentAt', 'signedAt', 'expiredAt'],
  shown: [showCreator('contracts')],
  matching: (db, brandId, { creator_email, campaign_id, status }: Omit<ContractFilter, keyof Page>) =>
    db
      .selectFrom('contracts')
      .where((eb) => eb.and(omitUndefined({ status, campaignId: campaign_id })))
      .where(matchesCreator('contracts.creatorId', brandId, creator_email)),
  rows: (db: Db) =>
    db
      .selectFrom('contracts')
      .innerJoin('creators', 'creators.id', 'contracts.creatorId')
      .selectAll('contracts')
      .select(['creators.email as creatorEmail', 'creators.name as creatorName', items.as('items')]),
  ranks: {
    // What nobody waits for comes last.
    due: {
      at: sql`case when contracts.status in ('draft', 'sent') then coalesce(contracts.expires_at, 'infinity')
        else 'infinity' end`,
      of: ({ status, expiresAt }) => (status === 'draft' || status === 'sent' ? expiresAt : null) ?? 'infinity',
      isAscending: true,
    },
  },
});
export const { get: getContract } = contracts;

/** Found by id alone, because a visitor with the page's link has no brand. */
export async function findLinkedContract(db: Db, id: string, version: number): Promise<ContractFacts | undefined> {
  const row = await db
    .selectFrom('contracts')
    .select('brandId')
    .where('id', '=', id)
    .where('linkVersion', '=', version)
    .executeTakeFirst();
  return row && (await contracts.find(db, row.brandId, id));
}

const lockContract = (db: Db, brandId: string, id: string): Promise<ContractRow> =>
  lockOwn(db.selectFrom('contracts').selectAll(), 'contract', brandId, id);

const updateContract = (db: Db, brandId: string, id: string, change: Updateable<ContractsTable>) =>
  updateOwn(db.updateTable('contracts').set(change).returningAll(), brandId, id);

/** Contracts that are past their end and unsigned, oldest first. */
export async function listExpired(db: Db, now: Date, limit: number): Promise<{ id: string; brandId: string }[]> {
  return await db
    .selectFrom('contracts')
    .select(['id', 'brandId'])
    .where('status', 'in', ['draft', 'sent'])
    .where('expiresAt', '<=', now)
    .orderBy('expiresAt')
    .limit(limit)
    .execute();
}

/** The brand's moves. Only the creator's signature makes a contract `signed`. */
const MOVES = {
  draft: ['sent', 'expired'],
  sent: ['sent', 'expired'],
  signed: [],
  expired: [],
} as const satisfies Record<ContractStatus, readonly ContractStatus[]>;

interface ContractState {
  status: ContractStatus;
  expiresAt: Date | null;
}

/** The status at a given time: a contract past its end is expired even before the job records that. */
function statusAt({ status, expiresAt }: ContractState, now: Date): ContractStatus {
  const isOpen = status === 'draft' || status === 'sent';
  return isOpen && expiresAt !== null && expiresAt <= now ? 'expired' : status;
}

function assertMayBecome(contract: ContractState, target: 'sent' | 'expired', now: Date): void {
  const status = statusAt(contract, now);
  const allowed: readonly ContractStatus[] = MOVES[status];
  if (!allowed.includes(target)) throw wrongState('contract', status, target, allowed);
}

const UNKNOWN: Compensation = { type: '', amount: null, currency: null };

/** The row for the audit log, without sealed fields, and with the text's hash instead of the text. */
function toAuditRow(row: ContractRow) {
  const { document: _text, signerIpSealed: _ip, signerAgentSealed: _agent, contentHash, ...rest } = row;
  return { ...rest, contentSha256: contentHash?.toString('hex') ?? null };
}

async function compensationColumns({ db, brandId }: Work, compensation: ContractCreate['compensation']) {
  const currency = await getBrandCurrency(db, brandId);
  return storedCompensation(
    compensation ? validateCompensation(applyPatch(UNKNOWN, compensation), currency) : null,
    currency,
  );
}

/**
 * Checks everything that a body refers to and throws all problems at once. Returns the creator's id, if the body names
 * one.
 */
async function checkReferences(work: Work, { creator_email, campaign_id, expires_at }: ContractPatch) {
  const { db, now, brandId } = work;
  const problems = await campaignProblems(work, campaign_id);
  if (expires_at && expires_at <= now) {
    const message = `must be in the future; got ${expires_at.toISOString()}.`;
    problems.push({ field: 'expires_at', code: 'past', message });
  }
  const addressee = creator_email === undefined ? undefined : await findAddressee(db, brandId, creator_email);
  if (creator_email !== undefined && !addressee) problems.push(notOnRoster(creator_email));
  if (problems.length > 0) throw validationError(problems);
  return addressee?.id;
}

async function setItems(work: Work, contract: ContractRow, inputs: readonly ItemInput[]): Promise<void> {
  const items = inputs.map(({ type, platform = null, quantity, due_date: dueDate = null }: ItemInput) => ({
    type,
    platform,
    quantity,
    dueDate,
  }));
  const { db, brandId } = work;
  const contractId = contract.id;
  await db.deleteFrom('contractItems').where('brandId', '=', brandId).where('contractId', '=', contractId).execute();
  const rows = items.map((item, position) => ({ ...item, brandId, contractId, position }));
  if (rows.length > 0) await db.insertInto('contractItems').values(rows).execute();
  await createContractDeliverables(work, contract, items);
}

/** Creates a draft, with one deliverable for each promised unit. */
export async function createContract(work: Work, input: ContractCreate): Promise<ContractFacts> {
  const { db, now, brandId } = work;
  const creatorId = await checkReferences(work, input);
  if (creatorId === undefined) throw validationError([notOnRoster(input.creator_email)]);
  const id = newId('ctr', now.getTime());
  await db
    .insertInto('contracts')
    .values({
      id,
      brandId,
      creatorId,
      title: input.title,
      status: 'draft',
      createdAt: now,
      ...(await compensationColumns(work, input.compensation)),
      campaignId: input.campaign_id ?? null,
      usageRights: input.usage_rights ?? null,
      terms: input.terms ? JSON.stringify(input.terms) : null,
      expiresAt: input.expires_at ?? null,
    })
    .execute();
  const row = await lockContract(db, brandId, id);
  await setItems(work, row, input.deliverables);
  work.audit({ resourceId: id, old: null, new: toAuditRow(row) });
  return input.send_for_signature ? await sendContract(work, id) : await getContract(db, brandId, id);
}

/** Set changes, omit keeps, null clears; only for a draft. */
export async function patchContract(work: Work, id: string, patch: ContractPatch): Promise<ContractFacts> {
  const { db, now, brandId } = work;
  const old = await lockContract(db, brandId, id);
  const status = statusAt(old, now);
  // A sent contract cannot be changed: the creator must know what they sign.
  if (status !== 'draft') {
    throw new ApiError('INVALID_STATE_TRANSITION', `The contract is ${status}; only a draft can be changed.`, {
      facts: { current_status: status, allowed: MOVES[status] },
    });
  }
  const creatorId = await checkReferences(work, patch);
  const { title, campaign_id: campaignId, usage_rights: usageRights, expires_at: expiresAt, terms } = patch;
  const row = await updateContract(db, brandId, id, {
    ...omitUndefined({ title, creatorId, campaignId, usageRights, expiresAt }),
    ...(terms === undefined ? {} : { terms: terms && JSON.stringify(terms) }),
    ...(patch.compensation === undefined ? {} : await compensationColumns(work, patch.compensation)),
    updatedAt: now,
  });
  if (patch.deliverables) await setItems(work, row, patch.deliverables);
  else await updateContractDeliverables(db, brandId, id, { creatorId: row.creatorId, campaignId: row.campaignId });
  work.audit({ resourceId: id, old: toAuditRow(old), new: toAuditRow(row) });
  return await getContract(db, brandId, id);
}

/** The text that is signed, frozen at the first sending, whatever is renamed afterwards. */
async function freezeText({ db, brandId }: Work, facts: ContractFacts, creatorEmail: string) {
  if (facts.document !== null) return {};
  const brand = await getBrand(db, brandId);
  const campaign = facts.campaignId === null ? null : await getCampaign(db, brandId, facts.campaignId);
  const document = writeDocument(facts, { brand, creatorEmail, campaign });
  return { document, contentHash: hashDocument(document) };
}

/** Sends it to its creator, or sends it again with a new link, which revokes the previous one. */
export async function sendContract(work: Work, id: string): Promise<ContractFacts> {
  const { db, now, brandId } = work;
  const old = await lockContract(db, brandId, id);
  assertMayBecome(old, 'sent', now);
  const facts = await getContract(db, brandId, id);
  const email = facts.creatorEmail ?? '';
  const addressee = await findAddressee(db, brandId, email);
  if (!addressee) throw validationError([notOnRoster(email)]);
  const row = await updateContract(db, brandId, id, {
    ...(await freezeText(work, facts, addressee.email)),
    status: 'sent',
    sentAt: now,
    linkVersion: old.linkVersion + 1,
    updatedAt: now,
  });
  // The text contains the contract's id, so for a contract that this change creates the hash differs each time.
  const generated = old.createdAt.getTime() === now.getTime() ? ['contentSha256'] : [];
  work.audit({ resourceId: id, old: toAuditRow(old), new: toAuditRow(row), generated });
  await mailSent(work, row, addressee);
  return await getContract(db, brandId, id);
}

/** Ends it unsigned, and cancels its deliverables. */
async function endContract(work: Work, old: ContractRow, reason: (typeof EXPIRED_REASONS)[number]): Promise<void> {
  const { db, now, brandId } = work;
  const row = await updateContract(db, brandId, old.id, {
    status: 'expired',
    expiredAt: now,
    expiredReason: reason,
    updatedAt: now,
    linkVersion: old.linkVersion + 1,
  });
  work.audit({ resourceId: old.id, old: toAuditRow(old), new: toAuditRow(row) });
  await cancelContractDeliverables(work, old.id);
  if (old.status === 'sent') await mailEnded(work, await getContract(db, brandId, old.id), reason);
}

/** The brand voids it before it is signed. A second call changes nothing. */
export async function voidContract(work: Work, id: string): Promise<ContractFacts> {
  const { db, now, brandId } = work;
  const old = await lockContract(db, brandId, id);
  if (old.expiredReason !== 'voided') {
    assertMayBecome(old, 'expired', now);
    await endContract(work, old, 'voided');
  }
  return await getContract(db, brandId, id);
}

/** Expires it if its time has come without a signature; false if it was signed, voided or expired in the meantime. */
export async function expireContract(work: Work, id: string): Promise<boolean> {
  const { db, now, brandId } = work;
  const old = await lockContract(db, brandId, id);
  const isOpen = old.status === 'draft' || old.status === 'sent';
  if (!isOpen || old.expiresAt === null || old.expiresAt > now) return false;
  await endContract(work, old, 'expired');
  return true;
}

/** Null unless it is awaiting its signature. */
export function signatureUrl(links: PageLinks, row: ContractRow): string | null {
  return row.status === 'sent' && row.sentAt !== null ? links.urlOf(signingLink(row, row.sentAt)) : null;
}

export interface Signature {
  name: string;
  address: string;
  userAgent: string;
}

/**
 * The creator signs the sent contract. Undefined if it can no longer be signed, because it was already signed or has
 * expired. The signer's name, network address and browser are kept as evidence, the latter two sealed.
 */
export async function signContract(
  work: Work,
  secrets: Secrets,
  old: ContractFacts,
  { name, address, userAgent }: Signature,
): Promise<ContractFacts | undefined> {
  const { db, now, brandId } = work;
  // Sealed for one contract, so that a copy of the table reveals neither value, and neither can be moved to another
  // contract.
  const seal = (text: string) => secrets.seal(text, `contract ${old.id}`);
  // Only one of several concurrent signatures succeeds, and only by the current link of a contract that has not expired.
  const row = await db
    .updateTable('contracts')
    .set({
      signerName: name,
      signerIpSealed: seal(address),
      signerAgentSealed: seal(userAgent.slice(0, 1_000)),
      status: 'signed',
      signedAt: now,
      updatedAt: now,
    })
    .where('brandId', '=', brandId)
    .where('id', '=', old.id)
    .where('linkVersion', '=', old.linkVersion)
    .where('status', '=', 'sent')
    .where((eb) => eb.or([eb('expiresAt', 'is', null), eb('expiresAt', '>', now)]))
    .returningAll()
    .executeTakeFirst();
  if (!row) return undefined;
  const { creatorEmail: _email, creatorName: _name, items: _items, ...before } = old;
  work.audit({ resourceId: row.id, old: toAuditRow(before), new: toAuditRow(row) });
  const facts = await getContract(db, brandId, row.id);
  work.emit('contract.signed', toContract(facts));
  await mailSigned(work, facts);
  return facts;
}
