import type { Insertable } from 'kysely';
import type { Person } from '../../kit/access/keys/callers.ts';
import type { PasskeysTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { violates } from '../../kit/engines/postgres/violation.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Clock } from '../../kit/values/clock.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import type { Assertion, PasskeyCreate } from './passkeys.api.ts';
import { createSession } from './sessions.ts';

interface PasskeyOwner {
  brandId: string;
  personId: string;
}

export const passkeys = listing({
  noun: 'passkey',
  table: 'passkeys',
  time: 'createdAt',
  changed: ['createdAt'],
  matching: (db, _brandId, { personId }: ListWindow & Pick<PasskeyOwner, 'personId'>) =>
    db.selectFrom('passkeys').where('personId', '=', personId),
  rows: (db) => db.selectFrom('passkeys').selectAll(),
});

async function insertPasskey(db: Db, row: Insertable<PasskeysTable>) {
  return await db
    .insertInto('passkeys')
    .values(row)
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      if (!violates(error, 'passkeys_credential_id_key')) throw error;
      throw new ApiError('CONFLICT', 'This passkey is already registered.', { cause: error });
    });
}

export async function deletePasskey(db: Db, { brandId, personId }: PasskeyOwner, id: string) {
  return await db
    .deleteFrom('passkeys')
    .where('brandId', '=', brandId)
    .where('personId', '=', personId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Claims a challenge, which works once, and deletes expired ones. */
async function claimChallenge(db: Db, id: string, personId: string | null, now: Date) {
  const row = await db
    .deleteFrom('passkeyChallenges')
    .where('id', '=', id)
    .where('personId', personId === null ? 'is' : '=', personId)
    .returning(['challenge', 'expiresAt'])
    .executeTakeFirst();
  await db.deleteFrom('passkeyChallenges').where('expiresAt', '<', now).execute();
  return row && row.expiresAt > now ? row.challenge : undefined;
}

/** Finds a passkey by its credential id, if its person still exists. */
async function findPasskeyToSignIn(db: Db, credentialId: string) {
  return await db
    .selectFrom('passkeys')
    .innerJoin('people', 'people.id', 'passkeys.personId')
    .selectAll('passkeys')
    .where('passkeys.credentialId', '=', credentialId)
    .where('people.removedAt', 'is', null)
    .executeTakeFirst();
}

/** Loaded at the first passkey: it would take a fifth of a second of every start. */
const webAuthn = () => import('@simplewebauthn/server');

const CHALLENGE_LIFE_MS = 5 * 60_000;

function invalidPasskey(cause?: unknown): ApiError {
  return new ApiError('INVALID_PASSKEY', 'This passkey was not accepted; try again, or sign in with a link.', {
    cause,
  });
}

/** The origin of the web app, if configured. */
const getConfiguredOrigin = (apiUrl: string | undefined) => (apiUrl === undefined ? undefined : new URL(apiUrl).origin);

/** Refuses an origin other than the configured web app. */
function assertOwnOrigin(origin: string, apiUrl: string | undefined): void {
  const own = getConfiguredOrigin(apiUrl);
  if (own === undefined || new URL(origin).origin === own) return;
  const message = `must be ${own}, the origin of the web app (API_URL); the passkey would not work there.`;
  throw validationError([{ field: 'origin', code: 'invalid', message }]);
}

async function storeChallenge(db: Db, now: Date, challenge: string, personId: string | null): Promise<string> {
  const id = newId('pkc', now.getTime());
  await db
    .insertInto('passkeyChallenges')
    .values({ id, challenge, personId, expiresAt: new Date(now.getTime() + CHALLENGE_LIFE_MS) })
    .execute();
  return id;
}

export async function beginPasskey({ db, now }: Work, person: Person, origin: string, apiUrl: string | undefined) {
  assertOwnOrigin(origin, apiUrl);
  const { generateRegistrationOptions } = await webAuthn();
  const options = await generateRegistrationOptions({
    rpName: 'Rollcall',
    rpID: new URL(origin).hostname,
    userID: new Uint8Array(Buffer.from(person.id)),
    userName: person.email,
    userDisplayName: person.name ?? person.email,
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
  });
  return { challenge_id: await storeChallenge(db, now, options.challenge, person.id), options: { ...options } };
}

export async function addPasskey(work: Work, person: Person, create: PasskeyCreate, apiUrl: string | undefined) {
  const { db, now, brandId } = work;
  const { name, challenge_id, response } = create;
  assertOwnOrigin(create.origin, apiUrl);
  const { origin, hostname } = new URL(create.origin);
  const challenge = await claimChallenge(db, challenge_id, person.id, now);
  if (!challenge) throw invalidPasskey();
  const { transports, ...attestation } = response.response;
  const { verifyRegistrationResponse } = await webAuthn();
  const verification = await verifyRegistrationResponse({
    response: {
      id: response.id,
      rawId: response.rawId,
      type: response.type,
      clientExtensionResults: {},
      response: { ...attestation, ...(transports ? { transports } : {}) },
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: hostname,
    requireUserVerification: false,
  }).catch((error: unknown) => {
    throw invalidPasskey(error);
  });
  if (!verification.verified || !verification.registrationInfo) throw invalidPasskey();
  const { credential } = verification.registrationInfo;
  const row = await insertPasskey(db, {
    id: newId('psk', now.getTime()),
    brandId,
    personId: person.id,
    name,
    rpId: hostname,
    origin,
    createdAt: now,
    lastUsedAt: null,
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports: transports ?? [],
  });
  work.audit({ resourceId: row.id, old: null, new: { id: row.id, personId: person.id, name } });
  await queueMail(work, { kind: 'passkey_added', to: person.email, subjectRow: row.id, params: { name } });
  return row;
}

/** Creates the challenge for a browser that is not signed in. `origin` only names the host whose passkeys the browser offers. */
export async function beginPasskeySignIn(db: Db, now: Date, origin: string, apiUrl: string | undefined) {
  const rpID = new URL(getConfiguredOrigin(apiUrl) ?? origin).hostname;
  const { generateAuthenticationOptions } = await webAuthn();
  const options = await generateAuthenticationOptions({ rpID, userVerification: 'preferred' });
  return { challenge_id: await storeChallenge(db, now, options.challenge, null), options: { ...options } };
}

export async function signInByPasskey(
  db: Db,
  clock: Clock,
  { challenge_id, response }: Assertion,
  { apiUrl, device }: { apiUrl: string | undefined; device: string },
) {
  const now = clock.now();
  const challenge = await claimChallenge(db, challenge_id, null, now);
  const passkey = await findPasskeyToSignIn(db, response.id);
  if (!challenge || !passkey) throw invalidPasskey();
  const { id, rawId, type } = response;
  const { verifyAuthenticationResponse } = await webAuthn();
  const verification = await verifyAuthenticationResponse({
    response: { id, rawId, type, clientExtensionResults: {}, response: response.response },
    expectedChallenge: challenge,
    // Never the origin of the request: any page on another port of this host could sign in.
    expectedOrigin: [passkey.origin, getConfiguredOrigin(apiUrl)].flatMap((one) => one ?? []),
    expectedRPID: passkey.rpId,
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(passkey.publicKey),
      counter: passkey.counter,
    },
    requireUserVerification: false,
  }).catch((error: unknown) => {
    throw invalidPasskey(error);
  });
  if (!verification.verified) throw invalidPasskey();
  await db
    .updateTable('passkeys')
    .set({ counter: verification.authenticationInfo.newCounter, lastUsedAt: now })
    .where('brandId', '=', passkey.brandId)
    .where('id', '=', passkey.id)
    .execute();
  return await createSession(db, clock, passkey, device);
}
