import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { notFound } from '../../kit/values/errors.ts';
import type { Secrets } from '../../kit/values/secrets.ts';
import { dayIn, timeIn } from '../../kit/values/time-zone.ts';
import type { CreatorRow } from '../../workflow/creators/creators.ts';
import { Books } from './data-requests.shapes.ts';

/** The record that books keep of a creator, and the end of the years for which the brand's law wants it. */
export interface KeptBooks {
  books: Books;
  until: Date;
}

const sealingContext = (requestId: string): string => `books ${requestId}`;

/** Seals what bookkeeping keeps of a creator, as the columns of their request. */
export const toBookColumns = (secrets: Secrets, requestId: string, keptBooks: KeptBooks | undefined) =>
  keptBooks === undefined
    ? {}
    : { books: secrets.seal(JSON.stringify(keptBooks.books), sealingContext(requestId)), booksUntil: keptBooks.until };

/** The end of the brand's year of the last payment and of the years after it; undefined if it is over or was never paid. */
async function findEnd({ db, brandId, now }: Work, creatorId: string): Promise<Date | undefined> {
  const { rows } = await sql<{ last: Date | null; years: number; zone: string }>`
    select max(coalesce(paid_at, payouts.created_at)) as last, min(bookkeeping_years) as years, min(time_zone) as zone
    from payouts join brands on brands.id = payouts.brand_id
    where payouts.brand_id = ${brandId} and creator_id = ${creatorId} and payouts.status not in ('voided', 'returned')`.execute(
    db,
  );
  const { last = null, years = 0, zone = 'UTC' } = rows[0] ?? {};
  if (last === null || years === 0) return undefined;
  const until = timeIn(zone, `${Number(dayIn(zone, last).slice(0, 4)) + years + 1}-01-01`);
  return until > now ? until : undefined;
}

/** Reads what bookkeeping keeps of a creator who was paid, before the erasure takes it. */
export async function takeBooks(work: Work, { id, email, name }: CreatorRow): Promise<KeptBooks | undefined> {
  const { db, brandId } = work;
  const until = await findEnd(work, id);
  if (until === undefined) return undefined;
  const profile = await db
    .selectFrom('paymentProfiles')
    .select(['walletEmail', 'legalName', 'country'])
    .where('brandId', '=', brandId)
    .where('creatorId', '=', id)
    .executeTakeFirst();
  const payoutAddresses = await db
    .selectFrom('payouts')
    .select('walletEmail')
    .distinct()
    .where('brandId', '=', brandId)
    .where('creatorId', '=', id)
    .where('walletEmail', 'is not', null)
    .execute();
  const contracts = await db
    .selectFrom('contracts')
    .select(['id', 'title', 'document', 'signerName', 'signedAt'])
    .where('brandId', '=', brandId)
    .where('creatorId', '=', id)
    .where('signedAt', 'is not', null)
    .orderBy('signedAt')
    .execute();
  const addresses = [profile?.walletEmail, ...payoutAddresses.map(({ walletEmail }) => walletEmail)];
  return {
    until,
    books: {
      email,
      name,
      legal_name: profile?.legalName ?? null,
      country: profile?.country ?? null,
      payment_addresses: [...new Set(addresses.filter((one) => typeof one === 'string'))],
      contracts: contracts.map(({ id: contractId, title, document, signerName, signedAt }) => ({
        id: contractId,
        title,
        document: document ?? '',
        signer_name: signerName,
        signed_at: signedAt?.toISOString() ?? null,
      })),
    },
  };
}

/** Opens what bookkeeping kept; the audit log says why. */
export async function openBooks(work: Work, secrets: Secrets, id: string, reason: string): Promise<Books> {
  const row = await work.db
    .selectFrom('dataRequests')
    .select('books')
    .where('brandId', '=', work.brandId)
    .where('id', '=', id)
    .where('booksUntil', '>', work.now)
    .executeTakeFirst();
  if (!row?.books) throw notFound('record of bookkeeping');
  work.audit({ resourceId: id, old: null, new: { reason } });
  return Books.parse(JSON.parse(secrets.open(row.books, sealingContext(id))));
}

/** Deletes the records whose years are over. */
export const endBooks = async (db: Db, now: Date) =>
  await sql`update data_requests set books = null, books_until = null where books_until <= ${now}`.execute(db);
