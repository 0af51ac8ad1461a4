import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { ZodError } from 'zod';
import type { Provider } from '../engines/postgres/attribution-tables.ts';
import type { Context } from '../operation/context.ts';
import { openStore } from '../resources/integrations/actions.ts';
import { markStatus, markUninstalled, type Receiver } from '../resources/integrations/queries.ts';
import { clientOf } from '../stores/clients.ts';
import { isToReconnect, type Reading, storeUnavailable } from '../stores/provider.ts';
import { openStoreSecrets, type StoreSecrets } from '../stores/store-secrets.ts';
import { validationError } from '../values/errors.ts';
import { assertShallow } from '../values/nesting.ts';
import { problemsOf } from '../values/problems.ts';

export interface RawDelivery {
  headers: IncomingHttpHeaders;
  rawBody: Buffer;
}

/** Checked in place of a secret that is not there, so that both answers take the same work. */
const NOBODYS_SECRET = 'no integration has this secret';

/** A store retries later. By then its owner, who is notified, may have reconnected it. */
async function refuseForNow({ postgres, clock }: Context, receiver: Receiver, error: unknown): Promise<never> {
  await markStatus(postgres.db, receiver, 'reauth_required', clock.now());
  throw storeUnavailable(error);
}

async function openSecrets(context: Context, receiver: Receiver): Promise<StoreSecrets> {
  try {
    return openStoreSecrets(context.secrets, receiver.secrets, receiver.id);
  } catch (error) {
    return await refuseForNow(context, receiver, error);
  }
}

export async function isAuthentic(
  context: Context,
  provider: Provider,
  receiver: Receiver | undefined,
  { rawBody, headers }: RawDelivery,
): Promise<boolean> {
  const secret = receiver ? (await openSecrets(context, receiver)).webhookSecret : NOBODYS_SECRET;
  return clientOf(provider).verify(rawBody, headers, secret) && receiver !== undefined;
}

export function isPing(provider: Provider, { rawBody, headers }: RawDelivery): boolean {
  return clientOf(provider).isPing(rawBody, headers);
}

/** A whole number that JavaScript would round, such as a store's id, stays as it was written. */
const exact: Parameters<typeof JSON.parse>[1] = (_name, value, context?: { source?: string }) =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source : value;

function parseJson(rawBody: Buffer): unknown {
  if (!isUtf8(rawBody)) throw validationError([{ field: 'body', code: 'invalid_json', message: 'is not UTF-8.' }]);
  assertShallow(rawBody);
  try {
    return JSON.parse(rawBody.toString('utf8'), exact);
  } catch {
    throw validationError([{ field: 'body', code: 'invalid_json', message: 'is not JSON.' }]);
  }
}

/** Reads a delivery whose signature was right. It may ask the store, so it stands before the transaction. */
export async function readDelivery(
  context: Context,
  receiver: Receiver,
  { rawBody, headers }: RawDelivery,
): Promise<Reading | undefined> {
  const { currency, provider, status } = receiver;
  const { postgres, clock } = context;
  const uninstalledAt = clientOf(provider).uninstalledAt?.(headers);
  if (uninstalledAt) {
    await markUninstalled(postgres.db, receiver, uninstalledAt, clock.now());
    return undefined;
  }
  let isHeard = false;
  const onAnswer = () => {
    isHeard = true;
  };
  try {
    const store = { ...(await openStore(context, receiver)), currency, onAnswer };
    const reading = await clientOf(provider).read({ headers, body: parseJson(rawBody) }, store);
    if (isHeard && status !== 'connected') await markStatus(postgres.db, receiver, 'connected', clock.now());
    return reading;
  } catch (error) {
    if (isToReconnect(error)) return await refuseForNow(context, receiver, error);
    if (!(error instanceof ZodError)) throw error;
    throw validationError(problemsOf({ success: false, error }));
  }
}
