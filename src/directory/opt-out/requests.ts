import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { writeLetter } from '../../kit/mail/letter.ts';
import { claimedWork } from '../../kit/operation/claimed-work.ts';
import type { Context } from '../../kit/operation/context.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { foldAccents } from '../../kit/values/fold.ts';
import { newId } from '../../kit/values/ids.ts';
import { keyedHash } from '../../kit/values/secrets.ts';
import { toDirectoryEngines } from '../imports/indexing/writer.ts';
import { forget } from './forget.ts';
import type { ForgetRequest } from './opt-out.ts';

/** Records a request and its mail, unless this address had `most` of them since a time. */
async function insertRequest(
  db: Db,
  { id, email, addressHash, createdAt, expiresAt }: Omit<ForgetRequest, 'attempts' | 'nextAttemptAt'>,
  { most, since }: { most: number; since: Date },
): Promise<void> {
  await sql`
    insert into directory_forget_requests (id, email, address_hash, created_at, expires_at, next_attempt_at)
    select ${id}, ${email}, ${addressHash}, ${createdAt}, ${expiresAt}, ${createdAt}
    where (select count(*) from directory_forget_requests where address_hash = ${addressHash} and created_at > ${since})
      < ${most}::int`.execute(db);
}

async function findRequest(db: Db, id: string): Promise<ForgetRequest | undefined> {
  return await db.selectFrom('directoryForgetRequests').selectAll().where('id', '=', id).executeTakeFirst();
}

const selectDueRequests = (db: Db, now: Date) =>
  db
    .selectFrom('directoryForgetRequests')
    .selectAll()
    .select(sql<null>`null`.as('brandId'))
    .where('nextAttemptAt', '<=', now)
    .orderBy('nextAttemptAt');

/** Records how an attempt ended: null if there is no other. */
async function updateRequest(db: Db, id: string, nextAttemptAt: Date | null): Promise<void> {
  await db
    .updateTable('directoryForgetRequests')
    .set(({ eb }) => ({ nextAttemptAt, attempts: eb('attempts', '+', 1) }))
    .where('id', '=', id)
    .execute();
}

async function deleteExpiredRequests(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('directoryForgetRequests').where('expiresAt', '<=', now).execute();
}

/** The link in the mail works this long. */
const LINK_LIVES_MS = 3 * DAY_MS;
/** The most mails to one address while its links work, however often it requests one. */
const MOST_MAILS = 3;
const PAUSES_MS = [MINUTE_MS, 15 * MINUTE_MS, 3 * HOUR_MS];
const REASON = 'Requested on the page by the owner of the address.';

const sealingContext = (id: string) => `forget request ${id}`;

/** Records a request of the page, without checking whether the directory knows the address. */
export async function requestForgetting({ postgres, clock, secrets }: Context, email: string): Promise<void> {
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + LINK_LIVES_MS);
  const id = newId('fgr', createdAt.getTime());
  const addressHash = keyedHash(secrets.key('forget request'), foldAccents(email));
  const row = { id, email: secrets.seal(email, sealingContext(id)), addressHash, createdAt, expiresAt };
  const since = new Date(createdAt.getTime() - LINK_LIVES_MS);
  await insertRequest(postgres.db, row, { most: MOST_MAILS, since });
}

/** Tells if the link of a request still works. */
export async function isRequested({ postgres }: Context, id: string): Promise<boolean> {
  return (await findRequest(postgres.db, id)) !== undefined;
}

/** Opts the address of a request out. Returns false if the request is gone. */
export async function confirmForgetting(context: Context, id: string): Promise<boolean> {
  const { postgres, secrets } = context;
  const request = await findRequest(postgres.db, id);
  if (!request) return false;
  const value = secrets.open(request.email, sealingContext(id));
  await forget(toDirectoryEngines(context), { kind: 'email', value }, { reason: REASON, by: 'page' });
  return true;
}

async function sendOne({ postgres, clock, secrets, mailer, pageLinks, failures }: Context, row: ForgetRequest) {
  const { id, createdAt: date, expiresAt, attempts: before } = row;
  const attempts = before + 1;
  const url = pageLinks.urlOf({ kind: 'forget', rowId: id, version: 0, expiresAt });
  const letter = writeLetter(
    {
      subject: 'Leave the creator directory',
      paragraphs: [
        'You asked to be removed from the directory of creators that brands search here. The link below leads to a button that removes every profile that shows this address, for good.',
        'If you did not ask for this, ignore this email. Nothing happens.',
      ],
      action: { label: 'Leave the directory', url },
    },
    { name: 'Rollcall', isUnknown: false },
  );
  const to = secrets.open(row.email, sealingContext(id));
  const outcome = await mailer.send({ id, fromName: 'Rollcall', to, date, headers: {}, ...letter });
  const pauseMs = outcome.outcome === 'failed' ? PAUSES_MS[attempts - 1] : undefined;
  await updateRequest(postgres.db, id, pauseMs === undefined ? null : new Date(clock.now().getTime() + pauseMs));
  // Without the reason, which may contain the address.
  if (outcome.outcome !== 'sent') failures.failed('sending an email', undefined, { request: id, attempts });
}

/** Sends the links of new requests. */
export const sendForgetMails = claimedWork({
  name: 'send-opt-out-links',
  everyMs: 5_000,
  asksFor: 'requests on the page whose email is due',
  leaves: true,
  places: 5,
  due: selectDueRequests,
  doing: 'sending the link of an opt-out',
  run: sendOne,
});

export const deleteOldRequests = ({ postgres, clock }: Context) => deleteExpiredRequests(postgres.db, clock.now());
