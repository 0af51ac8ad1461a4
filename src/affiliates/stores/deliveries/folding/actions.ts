import { z } from 'zod';
import type { Context } from '../../../../kit/operation/context.ts';
import { inWork } from '../../../../kit/operation/work.ts';
import { ApiError } from '../../../../kit/values/errors.ts';
import { recordReadings } from '../../../orders/actions.ts';
import { openStore } from '../../connections/actions.ts';
import { listReceivers, markStatus, markUninstalled, type Receiver, updateHealth } from '../../connections/queries.ts';
import { clientOf } from '../../formats/clients.ts';
import { parseDelivery } from '../../formats/delivery-body.ts';
import { type Delivery, isToReconnect, type Reading, retryAfterMsOf, type Store } from '../../formats/provider.ts';
import { outcomeOfFailure, outcomeOfReading } from './policy.ts';
import {
  type Claim,
  type Claimed,
  claimDeliveries,
  type Outcome,
  releaseClaim,
  updateOutcomes,
  updateToTryAnswering,
} from './queries.ts';

/** After this many deliveries without an answer, a store is not called again for the same batch. */
const UNANSWERED = 3;

/** A store as one batch asks it. */
interface Sender {
  receiver: Receiver;
  /** Opened when the first delivery has to ask it: most say everything themselves, also those of a disconnected store. */
  opened: Promise<Store> | undefined;
  hasAnswered: boolean;
  /** For how many deliveries it had no answer since its last one. */
  unanswered: number;
  /** Why not. */
  failure: unknown;
}

/** The store was not called, because it had no answer for other deliveries of the batch. */
class NotCalled extends Error {}

/** What a delivery is read with first; it throws where the store has to be called. */
class NotOpened extends Error {}

const unopened = ({ receiver: { baseUrl, currency } }: Sender) => ({
  ...{ baseUrl, currency, allow: [] },
  get token(): string {
    throw new NotOpened();
  },
});

async function open(context: Context, sender: Sender): Promise<Store & { currency: string }> {
  const { receiver, unanswered, failure } = sender;
  if (unanswered >= UNANSWERED || isToReconnect(failure)) throw new NotCalled('It had no answer.', { cause: failure });
  sender.opened ??= openStore(context, receiver);
  const onAnswer = () => {
    sender.hasAnswered = true;
    sender.unanswered = 0;
  };
  return Object.assign(await sender.opened, { currency: receiver.currency, onAnswer });
}

async function readWith(context: Context, sender: Sender, delivery: Delivery): Promise<Reading | undefined> {
  const client = clientOf(sender.receiver.provider);
  try {
    return await client.read(delivery, unopened(sender));
  } catch (error) {
    if (!(error instanceof NotOpened)) throw error;
    return await client.read(delivery, await open(context, sender));
  }
}

/** A delivery that was read, or could not be. */
interface Read {
  claimed: Claimed;
  sender: Sender;
  reading: Reading | undefined;
  outcome: Outcome;
}

const Headers = z.record(z.string(), z.string());
const OF_STORE: ReadonlySet<string> = new Set(['store_unavailable', 'reauth_required']);

async function readOne(context: Context, claimed: Claimed, sender: Sender): Promise<Read> {
  const { secrets, clock, failures } = context;
  let body: unknown;
  try {
    body = parseDelivery(secrets.openBytes(claimed.body, claimed.id));
    const headers = Headers.parse(claimed.headers);
    const uninstalledAt = clientOf(sender.receiver.provider).uninstalledAt?.(headers);
    if (uninstalledAt) await markUninstalled(context.postgres.db, sender.receiver, uninstalledAt, clock.now());
    const reading = await readWith(context, sender, { headers, body });
    return { claimed, sender, reading, outcome: outcomeOfReading(claimed, body, reading) };
  } catch (thrown) {
    const wasTried = !(thrown instanceof NotCalled);
    const error = wasTried ? thrown : thrown.cause;
    const outcome = outcomeOfFailure(claimed, body, { error, wasTried }, clock.now());
    const { code = '' } = outcome.reason ?? {};
    if (code === 'internal_error') failures.failed('reading a delivery of a store', error);
    if (OF_STORE.has(code)) {
      sender.failure = error;
      sender.unanswered += retryAfterMsOf(error) === undefined ? 1 : UNANSWERED;
    }
    return { claimed, sender, reading: undefined, outcome };
  }
}

const newSender = (receiver: Receiver): Sender => ({
  ...{ receiver, opened: undefined, hasAnswered: false, unanswered: 0, failure: undefined },
});

/** Deliveries of a brand that are read at once: reading one may call its store. */
const READ_AT_ONCE = 8;

async function readAll(context: Context, brandId: string, claimed: readonly Claimed[]): Promise<Read[]> {
  const ids = [...new Set(claimed.map(({ integrationId }) => integrationId))];
  const receivers = await listReceivers(context.postgres.db, brandId, ids);
  const stores = new Map(receivers.map((receiver) => [receiver.id, newSender(receiver)]));
  const read = new Map<string, Read>();
  // Those that failed before come last: a store that has no answer for them is still called for the others.
  const left = claimed.toSorted((a, b) => a.attempts - b.attempts).values();
  const work = async () => {
    for (const one of left) {
      const sender = stores.get(one.integrationId);
      if (!sender) throw new Error(`The delivery ${one.id} is of no store of the brand.`);
      read.set(one.id, await readOne(context, one, sender));
    }
  };
  await Promise.all(Array.from({ length: READ_AT_ONCE }, work));
  for (const sender of stores.values()) await noteAnswer(context, sender);
  return claimed.flatMap(({ id }) => read.get(id) ?? []);
}

/** Whether a store accepts its secrets is known once it was called. */
async function noteAnswer({ postgres, clock }: Context, { receiver, hasAnswered, failure }: Sender): Promise<void> {
  if (isToReconnect(failure)) return await markStatus(postgres.db, receiver, 'reauth_required', clock.now());
  if (hasAnswered && receiver.status !== 'connected') {
    await markStatus(postgres.db, receiver, 'connected', clock.now());
  }
}

/** Records what was read, and its outcome, in one transaction: a delivery that another worker folded is left out. */
async function record(context: Context, brandId: string, read: readonly Read[]): Promise<void> {
  const { postgres, clock, secrets } = context;
  const actor = { brandId, keyId: null, operation: 'ingest', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    const outcomes = read.map(({ outcome }) => outcome);
    const own = await updateOutcomes(work.db, brandId, outcomes, work.now);
    const ours = Map.groupBy(
      read.filter(({ outcome }) => own.has(outcome.id)),
      ({ sender }) => sender,
    );
    for (const [{ receiver }, its] of ours) {
      const readings = its.flatMap(({ reading }) => reading ?? []);
      await recordReadings(work, secrets, receiver, readings);
      const ended = its.filter(({ outcome }) => outcome.state !== 'waiting');
      if (ended.length === 0) continue;
      const failed = ended.filter(({ outcome }) => outcome.state === 'failed');
      const isFailing = ended.at(-1)?.outcome.state === 'failed';
      const health = { isSynced: readings.length > 0, failures: failed.length, isFailing };
      await updateHealth(work.db, receiver, health, work.now);
    }
  });
}

/** Records one delivery, or why it cannot be recorded. */
async function recordAlone(context: Context, brandId: string, read: Read): Promise<void> {
  const { clock, failures } = context;
  try {
    await record(context, brandId, [read]);
  } catch (error) {
    const { claimed, outcome } = read;
    const { topic, orderId } = outcome;
    const failure = outcomeOfFailure(claimed, undefined, { error, wasTried: true }, clock.now());
    const failed = { ...failure, topic, orderId };
    if (failed.reason?.code === 'internal_error') failures.failed('recording a delivery of a store', error);
    await record(context, brandId, [{ ...read, reading: undefined, outcome: failed }]);
  }
}

/** Records a batch; where one of its deliveries cannot be recorded, one by one, so that it holds none of the others. */
async function recordAll(context: Context, brandId: string, read: readonly Read[]): Promise<void> {
  try {
    await record(context, brandId, read);
  } catch (error) {
    if (error instanceof ApiError && error.engine === 'PostgreSQL') throw error;
    for (const one of read) await recordAlone(context, brandId, one);
  }
}

/** What waits for a store that answers again is due now. */
async function retryAnswering({ postgres, clock }: Context, read: readonly Read[]): Promise<void> {
  const again = read.filter(({ claimed, sender, reading }) => claimed.attempts > 0 && sender.hasAnswered && reading);
  for (const { receiver } of new Set(again.map(({ sender }) => sender))) {
    await updateToTryAnswering(postgres.db, receiver.brandId, receiver.id, clock.now());
  }
}

const BATCH = { rows: 200, bytes: 8 * 1024 * 1024 };
/** Longer than a batch takes, also where its store answers slowly. */
const CLAIMED_MS = 30_000;

/** Folds a brand's oldest due deliveries. Returns whether it took any. */
export async function foldBatch(context: Context, owner: string, brandId: string): Promise<boolean> {
  const { postgres, clock } = context;
  const now = clock.now();
  const claim: Claim = { brandId, owner, now, until: new Date(now.getTime() + CLAIMED_MS) };
  const claimed = await claimDeliveries(postgres.db, claim, BATCH);
  try {
    if (claimed.length === 0) return false;
    const read = await readAll(context, brandId, claimed);
    await recordAll(context, brandId, read);
    await retryAnswering(context, read);
    return true;
  } finally {
    await releaseClaim(postgres.db, claim);
  }
}
