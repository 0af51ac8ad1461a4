import { z } from 'zod';
import { refreshAccess } from '../../kit/access/credits/access.ts';
import { bumpVersion } from '../../kit/access/credits/entries.ts';
import { requirePerson } from '../../kit/access/keys/identify.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read, write } from '../../kit/operation/kit.ts';
import { answersWhere, type ListCall } from '../../kit/operation/list.ts';
import { noun } from '../../kit/operation/noun.ts';
import { notFound } from '../../kit/values/errors.ts';
import { createdAt, idField } from '../../kit/values/fields.ts';
import { ListQuery, type ListWindow, listSchema, timestamp } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { endPersonAccess } from './end-access.ts';
import { addPasskey, beginPasskey, deletePasskey, passkeys } from './passkeys.ts';
import { assertFresh } from './sessions.ts';

const name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .describe('Name of the passkey, such as the device.')
  .meta({ example: 'Laptop' });

const Passkey = z
  .object({
    id: idField('psk', 'Passkey id.'),
    name,
    created_at: createdAt,
    last_used_at: timestamp.nullable().describe('When the passkey last signed in; null if never.'),
  })
  .meta({ id: 'Passkey' });
const PasskeyFilter = z.object({ ...ListQuery });
const PasskeyList = listSchema(Passkey).meta({ id: 'PasskeyList' });
const PasskeyAnswer = z.object({ data: Passkey }).meta({ id: 'PasskeyAnswer' });

const origin = z
  .url({ protocol: /^https?$/ })
  .max(300)
  .describe('`location.origin` of the page. The passkey signs in only there; must match `API_URL` if that is set.');
const challengeId = z
  .string()
  .max(100)
  .describe('Id of the challenge, for `POST /v1/passkeys`.')
  .meta({ example: 'pkc_0Uo3xK2mVdT2aXs7LpRb' });

const PasskeyBegin = z.object({ origin }).meta({ id: 'PasskeyBegin' });
const PasskeyOptions = z
  .object({
    data: z.object({
      challenge_id: challengeId,
      options: z
        .record(z.string(), z.unknown())
        .describe('JSON argument of `PublicKeyCredential.parseCreationOptionsFromJSON`.'),
    }),
  })
  .meta({ id: 'PasskeyOptions' });

const text = z.string().max(20_000);
const Attestation = z.object({
  id: text.describe('Credential id, base64url.'),
  rawId: text.describe('Raw credential id, base64url.'),
  type: z.literal('public-key').describe('Credential type.'),
  response: z
    .looseObject({
      clientDataJSON: text.describe('Client data that the browser signed, base64url.'),
      attestationObject: text.describe('Attestation with the new public key, base64url.'),
      transports: z
        .array(z.enum(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']))
        .optional()
        .describe('How the browser reaches the authenticator.'),
    })
    .describe('Attestation response of the authenticator.'),
  clientExtensionResults: z.looseObject({}).describe('Results of WebAuthn extensions; may be empty.'),
  authenticatorAttachment: z
    .enum(['cross-platform', 'platform'])
    .optional()
    .describe('`platform` is built into the device, `cross-platform` is a separate key.'),
});

export const PasskeyCreate = z
  .object({
    name,
    origin,
    challenge_id: challengeId,
    response: Attestation.describe('Credential from `navigator.credentials.create`, as its `toJSON()` returns it.'),
  })
  .meta({ id: 'PasskeyCreate' });
export type PasskeyCreate = z.output<typeof PasskeyCreate>;

export const Assertion = z.object({
  challenge_id: challengeId,
  response: z.object({
    id: text,
    rawId: text,
    type: z.literal('public-key'),
    response: z.looseObject({ clientDataJSON: text, authenticatorData: text, signature: text }),
    clientExtensionResults: z.looseObject({}),
    authenticatorAttachment: z.enum(['cross-platform', 'platform']).optional(),
  }),
});
export type Assertion = z.output<typeof Assertion>;

const tag = 'Passkeys';
const getApiUrl = async ({ config }: Context) => config.apiUrl;
// Viewers manage their own passkeys too, so these count as reads of the brand.
const OWN_HINTS = { readOnly: true, idempotent: false, destructive: false };

const passkeyOperations = [
  read({
    id: 'list_passkeys',
    path: '/v1/passkeys',
    tag,
    summary: 'Your passkeys',
    description: 'Newest first.',
    callers: ['session'],
    query: PasskeyFilter,
    response: PasskeyList,
    handler: answersWhere(
      passkeys,
      (_context, { caller, query }: ListCall<ListWindow>) => ({ ...query, personId: requirePerson(caller).id }),
      Passkey,
      (row) => toWire(row),
    ).handler,
  }),
  write({
    id: 'begin_passkey',
    method: 'POST',
    path: '/v1/passkeys/challenge',
    tag,
    summary: 'Start registering a passkey',
    description:
      'Returns the options for the browser. The challenge works once, within five minutes. Your session must have begun ' +
      'in the last 15 minutes.',
    callers: ['session'],
    body: PasskeyBegin,
    response: PasskeyOptions,
    errors: ['SIGN_IN_AGAIN'],
    hints: OWN_HINTS,
    lookUp: getApiUrl,
    apply: async (work, { caller, body }, apiUrl) => {
      await assertFresh(work, caller);
      return { data: await beginPasskey(work, requirePerson(caller), body.origin, apiUrl) };
    },
  }),
  write({
    id: 'create_passkey',
    method: 'POST',
    path: '/v1/passkeys',
    tag,
    summary: 'Register a passkey',
    description: 'Verifies the credential that the browser created and stores it.',
    callers: ['session'],
    body: PasskeyCreate,
    response: PasskeyAnswer,
    status: 201,
    errors: ['INVALID_PASSKEY', 'CONFLICT'],
    hints: OWN_HINTS,
    lookUp: getApiUrl,
    apply: async (work, { caller, body }, apiUrl) => ({
      data: toWire(await addPasskey(work, requirePerson(caller), body, apiUrl)),
    }),
  }),
  write({
    id: 'remove_passkey',
    method: 'DELETE',
    path: '/v1/passkeys/{id}',
    tag,
    summary: 'Remove a passkey',
    description:
      'The passkey can no longer sign in. Ends your other sessions and the access of agents that you let in, within a ' +
      'second.',
    callers: ['session'],
    response: PasskeyAnswer,
    errors: ['NOT_FOUND'],
    hints: { ...OWN_HINTS, destructive: true },
    apply: async ({ db, brandId, now, audit }, { caller, params: { id } }) => {
      const personId = requirePerson(caller).id;
      const row = await deletePasskey(db, { brandId, personId }, id);
      if (!row) throw notFound('passkey');
      await endPersonAccess(db, { brandId, personId, at: now, keptKeyId: caller.keyId });
      await bumpVersion(db, caller.subscription.id);
      audit({ resourceId: id, old: { id, name: row.name }, new: null });
      return { data: toWire(row) };
    },
    afterwards: ({ postgres, redis, clock }, { caller }) =>
      refreshAccess({ db: postgres.db, redis, clock }, [caller.subscription.id]),
  }),
] as const;

export const passkeysNoun = noun({
  name: 'passkeys',
  operations: passkeyOperations,
});
