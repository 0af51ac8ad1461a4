import { type Selectable, sql } from 'kysely';
import type { PaymentProfilesTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { queueMail, queueMails } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { toMailbox } from '../../kit/values/email.ts';
import { notFound } from '../../kit/values/errors.ts';
import { lockCreator } from '../creators/creators.ts';

/** How long a changed address waits. */
const WAITS_MS = 72 * HOUR_MS;

/** Where and how a creator is paid; an address of null is the mail address. */
export interface PaymentDetails {
  method: PaymentProfilesTable['method'];
  walletEmail: string | null;
  legalName: string | null;
  country: string | null;
  currency: string | null;
  source: PaymentProfilesTable['source'];
}

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'paymentProfiles.waiting': PaymentDetails;
  }
}

type ProfileRow = Selectable<PaymentProfilesTable>;

const NO_DETAILS: PaymentDetails = {
  method: null,
  walletEmail: null,
  legalName: null,
  country: null,
  currency: null,
  source: null,
};

/** A profile as it is at a time: what waited for that time holds. */
export interface CurrentProfile extends PaymentDetails {
  /** The address that the creator asked for on their page and has not confirmed by mail. */
  requested: string | null;
  waiting: PaymentDetails | null;
  effectiveAt: Date | null;
  version: number;
}

function toCurrent(row: ProfileRow | undefined, now: Date): CurrentProfile {
  if (row === undefined) return { ...NO_DETAILS, requested: null, waiting: null, effectiveAt: null, version: 0 };
  const { waiting, effectiveAt, version, requested, method, walletEmail, legalName, country, currency, source } = row;
  const own = { method, walletEmail, legalName, country, currency, source, requested };
  if (waiting === null || effectiveAt === null) return { ...own, waiting: null, effectiveAt: null, version };
  if (effectiveAt > now) return { ...own, waiting, effectiveAt, version };
  return { ...waiting, requested, waiting: null, effectiveAt: null, version };
}

export async function findProfile(db: Db, brandId: string, creatorId: string, now: Date): Promise<CurrentProfile> {
  const row = await db
    .selectFrom('paymentProfiles')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .executeTakeFirst();
  return toCurrent(row, now);
}

/** The address to which a creator is paid, and what keeps money from going there now. */
export interface PayTo {
  payTo: string | null;
  payToSource: 'mail' | 'brand' | 'creator';
  method: PaymentDetails['method'];
  country: string | null;
  legalName: string | null;
  blocked: { reason: 'payment_change_pending' | 'no_payment_address'; until: Date | null } | null;
}

/** Lists where creators are paid. */
export async function listPayTo(
  db: Db,
  brandId: string,
  creatorIds: readonly string[],
  now: Date,
): Promise<Map<string, PayTo>> {
  const creators = await db
    .selectFrom('creators')
    .innerJoin('brands', 'brands.id', 'creators.brandId')
    .select(['creators.id', 'email', 'requirePaymentProfile as isProfileRequired'])
    .where('brandId', '=', brandId)
    .where('creators.id', '=', sql<string>`any(${creatorIds})`)
    .execute();
  const rows = await db
    .selectFrom('paymentProfiles')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('creatorId', '=', sql<string>`any(${creatorIds})`)
    .execute();
  const profiles = new Map(rows.map((row) => [row.creatorId, row]));
  return new Map(
    creators.map(({ id, email, isProfileRequired }) => [
      id,
      toPayTo(toCurrent(profiles.get(id), now), isProfileRequired === true ? null : email),
    ]),
  );
}

/** Without a profile the mail address is paid, unless it is null. */
function toPayTo(profile: CurrentProfile, mailAddress: string | null): PayTo {
  const { walletEmail, source, method, country, legalName, waiting, effectiveAt } = profile;
  const payTo = walletEmail ?? mailAddress;
  const isPending = waiting !== null;
  return {
    payTo,
    payToSource: walletEmail === null ? 'mail' : (source ?? 'brand'),
    method,
    country,
    legalName,
    blocked: isPending
      ? { reason: 'payment_change_pending', until: effectiveAt }
      : payTo === null
        ? { reason: 'no_payment_address', until: null }
        : null,
  };
}

/** Those of the creators who were ever paid. */
async function listPaid(db: Db, brandId: string, creatorIds: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('payouts')
    .select('creatorId')
    .distinct()
    .where('brandId', '=', brandId)
    .where('creatorId', '=', sql<string>`any(${creatorIds})`)
    .where('paidAt', 'is not', null)
    .execute();
  return new Set(rows.map(({ creatorId }) => creatorId));
}

const wasPaid = async (db: Db, brandId: string, creatorId: string): Promise<boolean> =>
  (await listPaid(db, brandId, [creatorId])).has(creatorId);

/** Creates the profile, or writes it again with the next version. */
async function writeProfile(
  { db, brandId, now }: Work,
  creatorId: string,
  row: Omit<CurrentProfile, 'version'>,
): Promise<void> {
  const waiting = row.waiting === null ? null : JSON.stringify(row.waiting);
  await db
    .insertInto('paymentProfiles')
    .values({ ...row, waiting, brandId, creatorId, version: 1, createdAt: now, updatedAt: null })
    .onConflict((conflict) =>
      conflict
        .columns(['brandId', 'creatorId'])
        .doUpdateSet({ ...row, waiting, version: sql<number>`payment_profiles.version + 1`, updatedAt: now }),
    )
    .execute();
}

const isSameMailbox = (one: string | null, other: string | null): boolean =>
  one === other || (one !== null && other !== null && toMailbox(one) === toMailbox(other));

/** Tells the old payment address, which may confirm the change, and the mail address. */
async function mailChange(
  work: Work,
  creatorId: string,
  { version, effectiveAt }: CurrentProfile,
  addresses: { old: string | null; mail: string | null; next: string | null },
): Promise<void> {
  const { old, mail, next } = addresses;
  const params = {
    creator_id: creatorId,
    version,
    next: next ?? mail ?? '',
    effective_at: effectiveAt?.toISOString() ?? null,
  };
  const recipients = [
    ...(old === null ? [] : [{ to: old, mayConfirm: true }]),
    ...(mail === null || isSameMailbox(mail, old) ? [] : [{ to: mail, mayConfirm: false }]),
  ];
  await queueMails(
    work,
    recipients.map(({ to, mayConfirm }) => ({
      kind: 'payment_change' as const,
      to,
      subjectRow: `${creatorId}:payment:${version}`,
      creatorId,
      params: { ...params, may_confirm: mayConfirm },
    })),
  );
}

/**
 * Changes where a creator is paid. The first address holds at once while the creator was never paid, and so does whatever
 * keeps the address; another address waits, and the old one is told. Lock nothing before it: it locks the creator.
 */
export async function setPayment(work: Work, creatorId: string, details: PaymentDetails): Promise<CurrentProfile> {
  const { db, brandId, now } = work;
  const creator = await lockCreator(db, brandId, creatorId);
  if (creator === undefined) throw notFound('creator on the roster');
  const old = await findProfile(db, brandId, creatorId, now);
  const oldAddress = old.walletEmail ?? creator.email;
  const nextAddress = details.walletEmail ?? creator.email;
  const isKept = isSameMailbox(oldAddress, nextAddress);
  const isFirst = old.walletEmail === null && old.waiting === null && !(await wasPaid(db, brandId, creatorId));
  const holds = { ...details, requested: null, waiting: null, effectiveAt: null };
  const { version: _version, ...before } = old;
  const effectiveAt = new Date(now.getTime() + WAITS_MS);
  await writeProfile(
    work,
    creatorId,
    isKept || isFirst ? holds : { ...before, requested: null, waiting: details, effectiveAt },
  );
  const row = await findProfile(db, brandId, creatorId, now);
  work.audit({ resourceId: creatorId, old, new: row });
  if (!isKept) {
    await mailChange(work, creatorId, row, { old: oldAddress, mail: creator.email, next: details.walletEmail });
  }
  return row;
}

/**
 * Call it when the mail address of a creator changes. Money that went to the old address still does: the new one waits as
 * any other change, and so does one that was to be the payment address already.
 */
export async function followMailAddress(
  work: Work,
  creatorId: string,
  { old: oldMail, next: nextMail }: { old: string; next: string | null },
): Promise<void> {
  const { db, brandId, now } = work;
  const { version: _version, ...old } = await findProfile(db, brandId, creatorId, now);
  const isPaidThere = old.walletEmail === null;
  const isToBePaidThere = old.waiting === null ? isPaidThere : old.waiting.walletEmail === null;
  if (!(isPaidThere || isToBePaidThere) || isSameMailbox(oldMail, nextMail)) return;
  if (isPaidThere && !(await wasPaid(db, brandId, creatorId))) return;
  const { method, legalName, country, currency } = old;
  const next = { method, walletEmail: null, legalName, country, currency, source: null };
  const isChange = isToBePaidThere && nextMail !== null;
  await writeProfile(work, creatorId, {
    ...old,
    ...(isPaidThere ? { walletEmail: oldMail, source: 'brand' as const } : {}),
    ...(isChange ? { waiting: next, effectiveAt: new Date(now.getTime() + WAITS_MS) } : {}),
    requested: null,
  });
  const row = await findProfile(db, brandId, creatorId, now);
  work.audit({ resourceId: creatorId, old, new: row });
  if (isChange) await mailChange(work, creatorId, row, { old: row.walletEmail, mail: nextMail, next: null });
}

/**
 * Ends the profile of a creator who is merged into another: where the other is paid stays as it is, once they were paid.
 * Before that it moves to the other as their first, and their mail address is told.
 */
export async function settleMergedProfile(
  work: Work,
  goneId: string,
  { id: creatorId, email: mail }: { id: string; email: string | null },
): Promise<void> {
  const { db, brandId, now } = work;
  const brandProfiles = db.selectFrom('paymentProfiles').select('creatorId').where('brandId', '=', brandId);
  const isKept = (await brandProfiles.where('creatorId', '=', creatorId).executeTakeFirst()) !== undefined;
  if (!isKept && !(await wasPaid(db, brandId, creatorId))) {
    const moving = await findProfile(db, brandId, goneId, now);
    const { walletEmail: next } = moving;
    if (next === null || isSameMailbox(mail, next)) return;
    return await mailChange(work, creatorId, moving, { old: mail, mail, next });
  }
  await db.deleteFrom('paymentProfiles').where('brandId', '=', brandId).where('creatorId', '=', goneId).execute();
}

/** Finds the profile by the creator's id alone, because a visitor with the link has no brand. */
export async function findPaymentPage(db: Db, creatorId: string, now: Date) {
  const creator = await db
    .selectFrom('creators')
    .select(['brandId', 'email as mailAddress', 'name as creatorName'])
    .where('id', '=', creatorId)
    .executeTakeFirst();
  if (creator === undefined) return undefined;
  const profile = await findProfile(db, creator.brandId, creatorId, now);
  const lastPayout = await db
    .selectFrom('payouts')
    .select('method')
    .where('brandId', '=', creator.brandId)
    .where('creatorId', '=', creatorId)
    .where('paidAt', 'is not', null)
    .orderBy('paidAt', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { ...creator, creatorId, profile, linkVersion: profile.version, lastMethod: lastPayout?.method ?? null };
}

/** Ends a change that waits: it holds at once, or it never does. Returns false if none of this version waits. */
export async function decideChange(work: Work, creatorId: string, version: number, isRight: boolean): Promise<boolean> {
  const { db, brandId, now } = work;
  await lockCreator(db, brandId, creatorId);
  const old = await findProfile(db, brandId, creatorId, now);
  if (old.waiting === null || old.version !== version) return false;
  const { version: _version, ...before } = old;
  const decidedDetails = isRight ? old.waiting : before;
  await writeProfile(work, creatorId, { ...decidedDetails, requested: null, waiting: null, effectiveAt: null });
  work.audit({ resourceId: creatorId, old, new: await findProfile(db, brandId, creatorId, now) });
  return true;
}

/**
 * Keeps the address that a creator asked for on their page, and mails them the link that confirms it. Returns false while
 * another change waits, whose links must stay good.
 */
export async function requestAddress(work: Work, creatorId: string, walletEmail: string): Promise<boolean> {
  const { db, brandId, now } = work;
  const creator = await lockCreator(db, brandId, creatorId);
  const old = await findProfile(db, brandId, creatorId, now);
  if (creator === undefined || creator.email === null || old.waiting !== null) return false;
  const { version: _version, ...before } = old;
  await writeProfile(work, creatorId, { ...before, requested: walletEmail });
  const row = await findProfile(db, brandId, creatorId, now);
  work.audit({ resourceId: creatorId, old, new: row });
  await queueMail(work, {
    kind: 'payment_change_requested',
    to: creator.email,
    subjectRow: `${creatorId}:payment:${row.version}`,
    creatorId,
    params: { creator_id: creatorId, version: row.version, next: walletEmail },
  });
  return true;
}

/** Makes the change that the creator asked for, as any other. Returns undefined if this version asks for none. */
export async function confirmRequest(
  work: Work,
  creatorId: string,
  version: number,
): Promise<CurrentProfile | undefined> {
  const { db, brandId, now } = work;
  await lockCreator(db, brandId, creatorId);
  const { method, legalName, country, currency, requested, ...old } = await findProfile(db, brandId, creatorId, now);
  if (requested === null || old.version !== version) return undefined;
  const details = { method, walletEmail: requested, legalName, country, currency, source: 'creator' as const };
  return await setPayment(work, creatorId, details);
}

/**
 * Enters the first payment address of a creator, for an import or a payout. Returns false, and changes nothing, if there
 * is another address already or money went to the mail address: then only a change by the profile is right.
 */
export async function setFirstAddress(work: Work, creatorId: string, walletEmail: string): Promise<boolean> {
  const { db, brandId, now } = work;
  const creator = await lockCreator(db, brandId, creatorId);
  if (creator === undefined) return false;
  const profile = await findProfile(db, brandId, creatorId, now);
  if (isSameMailbox(profile.walletEmail, walletEmail)) return profile.waiting === null;
  if (profile.walletEmail !== null || profile.waiting !== null) return false;
  if (!isSameMailbox(creator.email, walletEmail) && (await wasPaid(db, brandId, creatorId))) return false;
  const { method, legalName, country, currency } = profile;
  await setPayment(work, creatorId, { method, walletEmail, legalName, country, currency, source: 'brand' });
  return true;
}

/** What a list of another tool says of a creator; null where it says nothing. */
export type ListedPayment = Pick<PaymentDetails, 'walletEmail' | 'method'>;

/** A list's payment beside the profile: the same, missing there, or another one, with the reason that keeps the profile. */
export type PaymentFit = 'same' | 'missing' | 'waiting' | 'other_address' | 'other_method';

function fitPayment(
  { payTo, payToSource, method, blocked }: PayTo,
  listed: ListedPayment,
  isPaid: boolean,
): PaymentFit {
  const isSameAddress = listed.walletEmail === null || isSameMailbox(payTo, listed.walletEmail);
  if (isSameAddress && (listed.method === null || listed.method === method)) return 'same';
  if (blocked?.reason === 'payment_change_pending') return 'waiting';
  if (!isSameAddress && (payToSource !== 'mail' || isPaid)) return 'other_address';
  return listed.method !== null && method !== null && listed.method !== method ? 'other_method' : 'missing';
}

/** Compares payments of a list with the creators' profiles. */
export async function fitPayments(
  db: Db,
  brandId: string,
  listed: readonly (ListedPayment & { creatorId: string })[],
  now: Date,
): Promise<PaymentFit[]> {
  const ids = listed.map(({ creatorId }) => creatorId);
  const payees = await listPayTo(db, brandId, ids, now);
  const paidIds = await listPaid(db, brandId, ids);
  return listed.map((one) => {
    const payee = payees.get(one.creatorId);
    return payee === undefined ? 'other_address' : fitPayment(payee, one, paidIds.has(one.creatorId));
  });
}

/** A profile before a list filled it, and the version that this made of it. */
export interface FilledProfile {
  details: PaymentDetails;
  version: number;
}

/** Fills in what a creator's profile lacks. Undefined, and nothing changes, where something else is known by now. */
export async function fillPayment(
  work: Work,
  creatorId: string,
  listed: ListedPayment,
): Promise<FilledProfile | undefined> {
  const { db, brandId, now } = work;
  await lockCreator(db, brandId, creatorId);
  const [fit] = await fitPayments(db, brandId, [{ ...listed, creatorId }], now);
  if (fit !== 'missing') return undefined;
  const {
    waiting: _waiting,
    effectiveAt: _at,
    version: _version,
    requested: _requested,
    ...details
  } = await findProfile(db, brandId, creatorId, now);
  const walletEmail = listed.walletEmail ?? details.walletEmail;
  const next = { ...details, walletEmail, method: listed.method ?? details.method, source: details.source ?? 'brand' };
  const { version } = await setPayment(work, creatorId, next);
  return { details, version };
}

/** Takes back what a list filled in, unless the profile changed, or money went to its address, since. */
export async function undoFilling(
  work: Work,
  creatorId: string,
  { details, version }: FilledProfile,
): Promise<boolean> {
  const { db, brandId, now } = work;
  await lockCreator(db, brandId, creatorId);
  const old = await findProfile(db, brandId, creatorId, now);
  if (old.version !== version || old.waiting !== null || old.requested !== null) return false;
  const isKept = isSameMailbox(old.walletEmail, details.walletEmail);
  if (!isKept && (await wasPaid(db, brandId, creatorId))) return false;
  await writeProfile(work, creatorId, { ...details, requested: null, waiting: null, effectiveAt: null });
  work.audit({ resourceId: creatorId, old, new: await findProfile(db, brandId, creatorId, now) });
  return true;
}
