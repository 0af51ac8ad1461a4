import { requirePerson } from '../../../kit/access/keys/rules.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { read, write } from '../../../kit/operation/kit.ts';
import { answersWhere, type ListCall } from '../../../kit/operation/list.ts';
import { notFound } from '../../../kit/values/errors.ts';
import type { ListWindow } from '../../../kit/values/page.ts';
import { toWire } from '../../../kit/values/wire.ts';
import { addPasskey, beginPasskey, deletePasskey, passkeys } from '../../people/passkeys.ts';
import {
  Passkey,
  PasskeyAnswer,
  PasskeyBegin,
  PasskeyCreate,
  PasskeyFilter,
  PasskeyList,
  PasskeyOptions,
} from './schema.ts';

const tag = 'Passkeys';
const apiUrlOf = async ({ config }: Context) => config.apiUrl;
// Viewers manage their own passkeys too, so these count as reads of the brand.
const ofOneself = { readOnly: true, idempotent: false, destructive: false };

export const passkeyOperations = [
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
    description: 'Returns the options for the browser. The challenge works once, within five minutes.',
    callers: ['session'],
    body: PasskeyBegin,
    response: PasskeyOptions,
    hints: ofOneself,
    lookUp: apiUrlOf,
    apply: async (work, { caller, body }, apiUrl) => ({
      data: await beginPasskey(work, requirePerson(caller), body.origin, apiUrl),
    }),
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
    hints: ofOneself,
    lookUp: apiUrlOf,
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
    description: 'The passkey can no longer sign in. Sessions it started continue.',
    callers: ['session'],
    response: PasskeyAnswer,
    errors: ['NOT_FOUND'],
    hints: { ...ofOneself, destructive: true },
    apply: async ({ db, brandId, audit }, { caller, params: { id } }) => {
      const row = await deletePasskey(db, { brandId, personId: requirePerson(caller).id }, id);
      if (!row) throw notFound('passkey');
      audit({ resourceId: id, old: { id, name: row.name }, new: null });
      return { data: toWire(row) };
    },
  }),
] as const;
