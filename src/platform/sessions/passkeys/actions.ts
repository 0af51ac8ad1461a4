import type { Person } from '../../../kit/access/keys/queries.ts';
import { createSession } from '../../../kit/access/sessions/actions.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { Work } from '../../../kit/operation/work.ts';
import type { Clock } from '../../../kit/values/clock.ts';
import { ApiError, validationError } from '../../../kit/values/errors.ts';
import { newId } from '../../../kit/values/ids.ts';
import { findPasskeyToSignIn, insertChallenge, insertPasskey, takeChallenge, updatePasskeyUse } from './queries.ts';
import type { Assertion, PasskeyCreate } from './schema.ts';

/** Loaded at the first passkey: it would take a fifth of a second of every start. */
const webAuthn = () => import('@simplewebauthn/server');

const CHALLENGE_LIFE_MS = 5 * 60_000;

function invalidPasskey(cause?: unknown): ApiError {
  return new ApiError('INVALID_PASSKEY', 'This passkey was not accepted; try again, or sign in with a link.', {
    cause,
  });
}

const hostOf = (origin: string) => new URL(origin).hostname;

/** The origin of the web app, if configured. */
const ownOrigin = (apiUrl: string | undefined) => (apiUrl === undefined ? undefined : new URL(apiUrl).origin);

/** Refuses an origin other than the configured web app. */
function assertOwnOrigin(origin: string, apiUrl: string | undefined): void {
  const own = ownOrigin(apiUrl);
  if (own === undefined || new URL(origin).origin === own) return;
  const message = `must be ${own}, the origin of the web app (API_URL); the passkey would not work there.`;
  throw validationError([{ field: 'origin', code: 'invalid', message }]);
}

async function keepChallenge(db: Db, now: Date, challenge: string, personId: string | null): Promise<string> {
  const id = newId('pkc', now.getTime());
  await insertChallenge(db, { id, challenge, personId, expiresAt: new Date(now.getTime() + CHALLENGE_LIFE_MS) });
  return id;
}

export async function beginPasskey({ db, now }: Work, person: Person, origin: string, apiUrl: string | undefined) {
  assertOwnOrigin(origin, apiUrl);
  const { generateRegistrationOptions } = await webAuthn();
  const options = await generateRegistrationOptions({
    rpName: 'Rollcall',
    rpID: hostOf(origin),
    userID: new Uint8Array(Buffer.from(person.id)),
    userName: person.email,
    userDisplayName: person.name ?? person.email,
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
  });
  return { challenge_id: await keepChallenge(db, now, options.challenge, person.id), options: { ...options } };
}

export async function addPasskey(work: Work, person: Person, create: PasskeyCreate, apiUrl: string | undefined) {
  const { db, now, brandId } = work;
  const { name, challenge_id, response } = create;
  assertOwnOrigin(create.origin, apiUrl);
  const { origin } = new URL(create.origin);
  const challenge = await takeChallenge(db, challenge_id, person.id, now);
  if (!challenge) throw invalidPasskey();
  const { transports, ...attested } = response.response;
  const { verifyRegistrationResponse } = await webAuthn();
  const made = await verifyRegistrationResponse({
    response: {
      id: response.id,
      rawId: response.rawId,
      type: response.type,
      clientExtensionResults: {},
      response: { ...attested, ...(transports ? { transports } : {}) },
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: hostOf(origin),
    requireUserVerification: false,
  }).catch((error: unknown) => {
    throw invalidPasskey(error);
  });
  if (!made.verified || !made.registrationInfo) throw invalidPasskey();
  const { credential } = made.registrationInfo;
  const row = await insertPasskey(db, {
    id: newId('psk', now.getTime()),
    brandId,
    personId: person.id,
    name,
    rpId: hostOf(origin),
    origin,
    createdAt: now,
    lastUsedAt: null,
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports: transports ?? [],
  });
  work.audit({ resourceId: row.id, old: null, new: { id: row.id, personId: person.id, name } });
  return row;
}

/** The challenge for a browser that is not signed in. `origin` only says where the browser looks for a passkey. */
export async function beginPasskeySignIn(db: Db, now: Date, origin: string, apiUrl: string | undefined) {
  const rpID = hostOf(ownOrigin(apiUrl) ?? origin);
  const { generateAuthenticationOptions } = await webAuthn();
  const options = await generateAuthenticationOptions({ rpID, userVerification: 'preferred' });
  return { challenge_id: await keepChallenge(db, now, options.challenge, null), options: { ...options } };
}

export async function signInByPasskey(
  db: Db,
  clock: Clock,
  { challenge_id, response }: Assertion,
  { apiUrl, device }: { apiUrl: string | undefined; device: string },
) {
  const now = clock.now();
  const challenge = await takeChallenge(db, challenge_id, null, now);
  const passkey = await findPasskeyToSignIn(db, response.id);
  if (!challenge || !passkey) throw invalidPasskey();
  const { id, rawId, type } = response;
  const { verifyAuthenticationResponse } = await webAuthn();
  const verified = await verifyAuthenticationResponse({
    response: { id, rawId, type, clientExtensionResults: {}, response: response.response },
    expectedChallenge: challenge,
    // Never the origin of the request: any page on another port of this host could sign in.
    expectedOrigin: [passkey.origin, ownOrigin(apiUrl)].flatMap((one) => one ?? []),
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
  if (!verified.verified) throw invalidPasskey();
  await updatePasskeyUse(db, passkey, verified.authenticationInfo.newCounter, now);
  return await createSession(db, clock, passkey, device);
}
