import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { listMailboxDomains, showAddress, toMailbox } from '../../kit/values/email.ts';
import { validationError } from '../../kit/values/errors.ts';
import { readAnyHandle } from '../../workflow/creators/creators.shapes.ts';
import { type CreatorRow, matchesPerson } from '../../workflow/creators/creators.ts';
import { type Fact, toFact } from '../imports/erased.ts';
import type { DataRequestCreate } from './data-requests.shapes.ts';

/** A creator, or somebody whom only an application or an import names: by their address, by a handle, or by both. */
interface FoundPerson {
  creatorId: string | null;
  applicant: string | null;
  facts: Fact[];
}

const NOBODY: FoundPerson = { creatorId: null, applicant: null, facts: [] };

/** Finds the one creator who had an address before that nobody has now. */
async function findByEarlierAddress(db: Db, brandId: string, email: string): Promise<CreatorRow | undefined> {
  const rows = await db
    .selectFrom('creators')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('erasedBy', 'is', null)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('creatorAddresses')
        .select('creatorId')
        .where('brandId', '=', brandId)
        .where(sql<string>`lower(email)`, '=', email.toLowerCase()),
    )
    .limit(2)
    .execute();
  return rows.length === 1 ? rows[0] : undefined;
}

interface KnownAddress {
  /** Null if they only applied. */
  creatorId: string | null;
  address: string;
  isPaid: boolean;
}

/** Addresses of the same mailbox under which somebody is kept, their own first. */
async function listSameMailbox(db: Db, brandId: string, email: string): Promise<KnownAddress[]> {
  const { rows } = await sql<KnownAddress>`
    select distinct on (creator_id, lower(address)) creator_id, address, is_paid from (
      select id, email, false from creators where brand_id = ${brandId}
      union all select creator_id, email, false from creator_addresses where brand_id = ${brandId}
      union all select null, creator_email, false from applications where brand_id = ${brandId} and creator_id is null
      union all select creator_id, wallet_email, true from payment_profiles where brand_id = ${brandId}
      union all select creator_id, requested, true from payment_profiles where brand_id = ${brandId}
      union all select creator_id, waiting ->> 'walletEmail', true from payment_profiles where brand_id = ${brandId}
      union all select creator_id, wallet_email, true from payouts where brand_id = ${brandId}
    ) as known (creator_id, address, is_paid)
    where lower(split_part(address, '@', 2)) = any(${listMailboxDomains(email)})
    order by creator_id, lower(address), is_paid`.execute(db);
  const mailbox = toMailbox(email);
  return rows.filter(({ address }) => toMailbox(address) === mailbox);
}

function describeAddress({ creatorId, address, isPaid }: KnownAddress): string {
  const shown = showAddress(address);
  if (creatorId === null) return `${shown} reaches the same mailbox; name them by this address if you mean them`;
  const what = isPaid ? `is where a creator is paid` : `reaches the same mailbox`;
  return `${shown} ${what}; name them by creator_id ${creatorId} if you mean them`;
}

/**
 * Asks if an address that nobody has is another spelling of somebody's, or one to which they are paid: an erasure cannot be
 * undone, and one that says it is done while the person stays would be no better.
 */
async function assertNoOtherAddress(db: Db, brandId: string, email: string): Promise<void> {
  const applications = db.selectFrom('applications').select('id').where('brandId', '=', brandId);
  const isTheirs = sql<boolean>`lower(creator_email) = lower(${email})`;
  if (await applications.where(isTheirs).limit(1).executeTakeFirst()) return;
  const known = await listSameMailbox(db, brandId, email);
  if (known.length === 0) return;
  const message = `is no creator's, but ${known.map(describeAddress).join('; and ')}.`;
  throw validationError([{ field: 'creator_email', code: 'ambiguous', message }]);
}

const FIELD = { photo_app: 'instagram', video_app: 'tiktok' } as const;

/** Finds somebody who is no creator by a handle: who applied with it, and whom imports name by it. */
async function findByHandle(db: Db, brandId: string, text: string): Promise<FoundPerson> {
  const { handle, platforms } = readAnyHandle(text);
  const isTheirs = platforms.map(
    (platform) => sql<boolean>`lower(ltrim(own.${sql.ref(`creator_${platform}`)}, '@')) = lower(${handle})`,
  );
  const has = sql.join(isTheirs, sql` or `);
  const { rows } = await sql<{ creatorId: string | null; email: string | null; isOwn: boolean }>`
    select creator_id, lower(creator_email) as email, bool_or(has.is_own) as is_own from applications join (
      select own.id, true from applications as own where own.brand_id = ${brandId} and (${has})
      union all select own.application_id, false from application_changes as own where own.brand_id = ${brandId} and (${has})
    ) as has (id, is_own) using (id) group by creator_id, lower(creator_email) order by 1, 2`.execute(db);
  const facts = [...platforms.map((platform) => toFact(FIELD[platform], handle)), toFact('handle', handle)];
  const person = { ...NOBODY, facts: facts.map((fact) => ({ fact, source: null })) };
  const [applicant, another] = rows;
  if (applicant === undefined) return person;
  // A change that nobody confirmed may be somebody else's.
  const isSure = another === undefined && applicant.isOwn;
  if (isSure && applicant.creatorId === null) return { ...person, applicant: applicant.email };
  const names = rows.map(({ creatorId, email }) => (creatorId === null ? email : `creator_id ${creatorId}`));
  const message = `is no creator's, but was given by who applied as ${names.join(' and ')}; name the one you mean.`;
  throw validationError([{ field: 'creator_handle', code: 'ambiguous', message }]);
}

/** Finds whom a request means as a creator. Asks if they may be somebody else than it says. */
export async function findPerson(db: Db, brandId: string, body: DataRequestCreate): Promise<FoundPerson> {
  const { creator_id: id, creator_email, creator_handle: handle } = body;
  const [person, another] = await db
    .selectFrom('creators')
    .selectAll()
    .where('brandId', '=', brandId)
    .where((eb) => (id === undefined ? matchesPerson({ creator_email, handle }) : eb('id', '=', id)))
    .where('erasedBy', 'is', null)
    .limit(2)
    .execute();
  if (another) {
    const message = `${handle} is the handle of several creators; name one by creator_id, creator_email or the address of the profile.`;
    throw validationError([{ field: 'creator_handle', code: 'ambiguous', message }]);
  }
  if (person) return { ...NOBODY, creatorId: person.id };
  if (handle !== undefined) return await findByHandle(db, brandId, handle);
  if (creator_email === undefined) return NOBODY;
  const earlier = await findByEarlierAddress(db, brandId, creator_email);
  if (earlier) return { ...NOBODY, creatorId: earlier.id };
  await assertNoOtherAddress(db, brandId, creator_email);
  return { ...NOBODY, applicant: creator_email };
}
