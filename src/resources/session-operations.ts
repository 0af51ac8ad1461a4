import type { Operation } from '../operation/operation.ts';
import { storeOperations } from './integrations/routes.ts';
import { keyOperations } from './keys/routes.ts';
import type { CallOf, OperationId } from './operations.ts';
import { passkeyOperations } from './passkeys/routes.ts';
import { peopleOperations } from './people/routes.ts';
import { savedSearchOperations } from './saved-searches/routes.ts';
import { sessionOperations as ownSessions } from './sessions/routes.ts';

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
