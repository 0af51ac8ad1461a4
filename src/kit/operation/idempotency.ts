import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Caller } from '../access/keys/callers.ts';
import type { Db } from '../engines/postgres/open.ts';
import { transact } from '../engines/postgres/transaction.ts';
import { canonicalJson, type Json } from '../values/canonical.ts';
import { keyReused, unavailable, validationError } from '../values/errors.ts';
import type { Context } from './context.ts';
import type { RawInput } from './input.ts';
import type { Job } from './job.ts';
import type { Circumstances } from './operation.ts';
import { inTransaction, type Work } from './work.ts';

export interface KeptAnswer {
  requestHash: Buffer;
  answer: Buffer;
  isSealed: boolean;
}

/**
 * Claims the caller's key for this transaction. Returns undefined if the claim succeeded, otherwise the stored
 * response. A concurrent call with the same key waits here, at most `waitMs`, for the first to commit or roll back.
 */
async function claimKey(
  db: Db,
  claim: { brandId: string; key: string; requestHash: Buffer; now: Date; oldest: Date },
  waitMs: number,
): Promise<KeptAnswer | undefined> {
  const { brandId, key, requestHash, now, oldest } = claim;
  await sql`set local lock_timeout = ${sql.lit(waitMs)}`.execute(db);
  await db
    .deleteFrom('idempotencyKeys')
    .where('brandId', '=', brandId)
    .where('key', '=', key)
    .where('createdAt', '<', oldest)
    .execute();
  const insertedKey = await db
    .insertInto('idempotencyKeys')
    .values({ brandId, key, requestHash, answer: null, createdAt: now })
    .onConflict((conflict) => conflict.columns(['brandId', 'key']).doNothing())
    .returning('key')
    .executeTakeFirst();
  await sql`set local lock_timeout = 0`.execute(db);
  if (insertedKey) return undefined;
  const storedAnswer = await findAnswer(db, claim);
  if (!storedAnswer) throw new Error('The key was taken, but its stored response is missing.');
  return storedAnswer;
}

/** The stored response of a finished call; undefined while the call is running. */
async function findAnswer(
  db: Db,
  { brandId, key, oldest }: { brandId: string; key: string; oldest: Date },
): Promise<KeptAnswer | undefined> {
  const storedAnswer = await db
    .selectFrom('idempotencyKeys')
    .select(['requestHash', 'answer', 'isSealed'])
    .where('brandId', '=', brandId)
    .where('key', '=', key)
    .where('createdAt', '>=', oldest)
    .executeTakeFirst();
  return storedAnswer?.answer ? { ...storedAnswer, answer: storedAnswer.answer } : undefined;
}

async function keepAnswer(
  db: Db,
  brandId: string,
  key: string,
  { answer, isSealed }: Pick<KeptAnswer, 'answer' | 'isSealed'>,
): Promise<void> {
  await db
    .updateTable('idempotencyKeys')
    .set({ answer, isSealed })
    .where('brandId', '=', brandId)
    .where('key', '=', key)
    .execute();
}

async function deleteOldKeys(db: Db, oldest: Date): Promise<void> {
  await db.deleteFrom('idempotencyKeys').where('createdAt', '<', oldest).execute();
}

/** A concurrent call waits this long for the first one with the same key. */
const TWIN_WAIT_MS = 10_000;
const KEPT_MS = 24 * 60 * 60 * 1_000;
const FORM = /^[\x21-\x7e]{1,255}$/;

export interface ChangeRequest {
  caller: Caller;
  circumstances: Circumstances;
  operation: string;
  /** The response contains a secret, so it is stored encrypted. */
  sealsAnswer: boolean;
  raw: RawInput;
}

/** Throws VALIDATION_ERROR if the Idempotency-Key is malformed. */
export function assertKeyForm({ idempotencyKey: key }: Pick<Circumstances, 'idempotencyKey'>): void {
  if (key === undefined || FORM.test(key)) return;
  const message = 'must have 1 to 255 visible ASCII characters.';
  throw validationError([{ field: 'Idempotency-Key', code: 'invalid_format', message }]);
}

const toText = ({ operation, raw }: ChangeRequest): string =>
  JSON.stringify([operation, raw.params, raw.query, raw.body]);

const hashText = (text: string): Buffer => createHash('sha256').update(text).digest();

/** One hash for one request, whatever the order of its fields and parameters is. */
function hashRequest(request: ChangeRequest): Buffer {
  const json: Json = JSON.parse(toText(request));
  return hashText(canonicalJson(json));
}

/** Releases before 1.1.0 stored a hash of the request as it was written, which still identifies its repeats. */
const isSameRequest = ({ requestHash }: KeptAnswer, request: ChangeRequest): boolean =>
  requestHash.equals(hashRequest(request)) || requestHash.equals(hashText(toText(request)));

const oldestAt = (now: Date) => new Date(now.getTime() - KEPT_MS);

/** The encryption context, so that a stored response can be opened only for this brand and key. */
const sealedFor = (brandId: string, key: string) => `idempotency ${brandId} ${key}`;

function replay(
  { secrets }: Pick<Context, 'secrets'>,
  storedAnswer: KeptAnswer,
  request: ChangeRequest,
  key: string,
): Buffer {
  const { brandId } = request.caller;
  if (!isSameRequest(storedAnswer, request)) {
    throw keyReused();
  }
  request.circumstances.setHeader('idempotency-replayed', 'true');
  return storedAnswer.isSealed
    ? Buffer.from(secrets.open(storedAnswer.answer, sealedFor(brandId, key)))
    : storedAnswer.answer;
}

/** The stored response for the request's key, so that a repeated change makes no outside calls. */
export async function findReplay(context: Context, request: ChangeRequest): Promise<Buffer | undefined> {
  const { postgres, clock } = context;
  const { caller, circumstances } = request;
  const { idempotencyKey: key } = circumstances;
  if (key === undefined) return undefined;
  const storedAnswer = await findAnswer(postgres.db, { brandId: caller.brandId, key, oldest: oldestAt(clock.now()) });
  return storedAnswer && replay(context, storedAnswer, request, key);
}

/**
 * Runs a change in one transaction with its audit entries and events. With an idempotency key, a successful response is
 * stored in the same transaction and returned to every later call with that key.
 */
export async function runOnce(
  context: Context,
  request: ChangeRequest,
  change: (work: Work) => Promise<Buffer>,
): Promise<Buffer> {
  const { postgres, clock, secrets } = context;
  const { caller, circumstances, operation, sealsAnswer } = request;
  const { brandId, keyId } = caller;
  const { idempotencyKey: key, requestId } = circumstances;
  const now = clock.now();
  const runInTransaction = async (trx: Db): Promise<Buffer> => {
    if (key !== undefined) {
      const claim = { brandId, key, requestHash: hashRequest(request), now, oldest: oldestAt(now) };
      const storedAnswer = await claimKey(trx, claim, TWIN_WAIT_MS).catch((error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === '55P03')) throw error;
        throw unavailable('The first call with this Idempotency-Key', error, 5);
      });
      if (storedAnswer) return replay(context, storedAnswer, request, key);
    }
    const actor = { brandId, keyId, operation, requestId, byAgent: circumstances.byAgent ?? false };
    return await inTransaction(trx, clock, actor, async (work) => {
      const { guard } = circumstances;
      const bytes = await (guard ? guard(work, change) : change(work));
      if (key !== undefined) {
        const answer = sealsAnswer ? secrets.seal(bytes.toString('utf8'), sealedFor(brandId, key)) : bytes;
        await keepAnswer(trx, brandId, key, { answer, isSealed: sealsAnswer });
      }
      return bytes;
    });
  };
  return await postgres.changes.run(brandId, () => transact(postgres.db, runInTransaction));
}

export const forgetIdempotencyKeys: Job = {
  name: 'forget-idempotency-keys',
  everyMs: 3_600_000,
  asksFor: 'expired idempotency keys',
  run: ({ postgres, clock }) => deleteOldKeys(postgres.db, new Date(clock.now().getTime() - KEPT_MS)),
};
