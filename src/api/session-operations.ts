import { storeOperations } from '../resources/integrations/routes.ts';
import { keyOperations } from '../resources/keys/routes.ts';
import { passkeyOperations } from '../resources/passkeys/routes.ts';
import { peopleOperations } from '../resources/people/routes.ts';
import { savedSearchOperations } from '../resources/saved-searches/routes.ts';
import { sessionOperations as ownSessions } from '../resources/sessions/routes.ts';
import type { Operation } from './operation.ts';
import type { CallOf, OperationId } from './operations.ts';

/** What people do in the web app and no API key may: not in the OpenAPI document, and no tool of an agent. */
const declared = [
  ...ownSessions,
  ...peopleOperations,
  ...keyOperations,
  ...passkeyOperations,
  ...storeOperations,
  ...savedSearchOperations,
] as const;

export const sessionOperations: readonly Operation[] = declared;

type Declared = (typeof declared)[number];
type SessionOperationId = Declared['id'];

/** Every operation that a page of the web app may call. */
export type AppOperationId = OperationId | SessionOperationId;
export type AppCallOf<Id extends AppOperationId> = Id extends SessionOperationId
  ? NonNullable<Extract<Declared, { id: Id }>['types']>
  : Id extends OperationId
    ? CallOf<Id>
    : never;
