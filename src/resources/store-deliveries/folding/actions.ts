import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { inWork } from '../../../operation/work.ts';
import { clientOf } from '../../../stores/clients.ts';
import { parseDelivery } from '../../../stores/delivery-body.ts';
import { type Delivery, isToReconnect, type Reading, retryAfterMsOf, type Store } from '../../../stores/provider.ts';
import { ApiError } from '../../../values/errors.ts';
import { openStore } from '../../integrations/actions.ts';
import { listReceivers, markStatus, markUninstalled, type Receiver, updateHealth } from '../../integrations/queries.ts';
import { recordReadings } from '../../orders/actions.ts';
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

/** So many deliveries for which a store has no answer, and it is asked for no other of the batch. */
const UNANSWERED = 3;

/** A store as one batch asks it. */
interface Asked {
  receiver: Receiver;
  /** Opened when the first delivery has to ask it: most say everything themselves, also those of a disconnected store. */
  opened: Promise<Store> | undefined;
  hasAnswered: boolean;
  /** For how many deliveries it had no answer since its last one. */
  unanswered: number;
  /** Why not. */
  failure: unknown;
}

/** A store that is not asked, because it had no answer for other deliveries of the batch. */
class NotAsked extends Error {}

/** What a delivery is read with first; it throws where the store has to be asked. */
class NotOpened extends Error {}

const unopened = ({ receiver: { baseUrl, currency } }: Asked) => ({
  ...{ baseUrl, currency, allow: [] },
  get token(): string {
    throw new NotOpened();
  },
});

async function open(context: Context, asked: Asked): Promise<Store & { currency: string }> {
  const { receiver, unanswered, failure } = asked;
  if (unanswered >= UNANSWERED || isToReconnect(failure)) throw new NotAsked('It had no answer.', { cause: failure });
  asked.opened ??= openStore(context, receiver);
  const onAnswer = () => {
    asked.hasAnswered = true;
    asked.unanswered = 0;
  };
  return Object.assign(await asked.opened, { currency: receiver.currency, onAnswer });
}

async function readWith(context: Context, asked: Asked, delivery: Delivery): Promise<Reading | undefined> {
  const client = clientOf(asked.receiver.provider);
  try {
    return await client.read(delivery, unopened(asked));
  } catch (error) {
    if (!(error instanceof NotOpened)) throw error;
    return await client.read(delivery, await open(context, asked));
  }
}

/** A delivery that was read, or could not be. */
interface Read {
  claimed: Claimed;
  asked: Asked;
  reading: Reading | undefined;
  outcome: Outcome;
}

const Headers = z.record(z.string(), z.string());
const OF_STORE: ReadonlySet<string> = new Set(['store_unavailable', 'reauth_required']);

async function readOne(context: Context, claimed: Claimed, asked: Asked): Promise<Read> {
  const { secrets, clock, failures } = context;
  let body: unknown;
  try {
    body = parseDelivery(secrets.openBytes(claimed.body, claimed.id));
    const headers = Headers.parse(claimed.headers);
    const uninstalledAt = clientOf(asked.receiver.provider).uninstalledAt?.(headers);
    if (uninstalledAt) await markUninstalled(context.postgres.db, asked.receiver, uninstalledAt, clock.now());
    const reading = await readWith(context, asked, { headers, body });
    return { claimed, asked, reading, outcome: outcomeOfReading(claimed, body, reading) };
  } catch (thrown) {
    const wasTried = !(thrown instanceof NotAsked);
    const error = wasTried ? thrown : thrown.cause;
    const outcome = outcomeOfFailure(claimed, body, { error, wasTried }, clock.now());
    const { code = '' } = outcome.reason ?? {};
    if (code === 'internal_error') failures.failed('reading a delivery of a store', error);
    if (OF_STORE.has(code)) {
      asked.failure = error;
      asked.unanswered += retryAfterMsOf(error) === undefined ? 1 : UNANSWERED;
    }
    return { claimed, asked, reading: undefined, outcome };
  }
}

const notAskedYet = (receiver: Receiver): Asked => ({
  ...{ receiver, opened: undefined, hasAnswered: false, unanswered: 0, failure: undefined },
});

/** Stores are asked for this many deliveries of a brand at once. */
const READ_AT_ONCE = 8;

async function readAll(context: Context, brandId: string, claimed: readonly Claimed[]): Promise<Read[]> {
  const ids = [...new Set(claimed.map(({ integrationId }) => integrationId))];
  const receivers = await listReceivers(context.postgres.db, brandId, ids);
  const stores = new Map(receivers.map((receiver) => [receiver.id, notAskedYet(receiver)]));
  const read = new Map<string, Read>();
  // Those that failed before come last: a store that has no answer for them is still asked for the others.
  const left = claimed.toSorted((a, b) => a.attempts - b.attempts).values();
  const work = async () => {
    for (const one of left) {
      const asked = stores.get(one.integrationId);
      if (!asked) throw new Error(`The delivery ${one.id} is of no store of the brand.`);
      read.set(one.id, await readOne(context, one, asked));
    }
  };
  await Promise.all(Array.from({ length: READ_AT_ONCE }, work));
  for (const asked of stores.values()) await noteAnswer(context, asked);
  return claimed.flatMap(({ id }) => read.get(id) ?? []);
}

/** Whether a store accepts its secrets is known once it was asked. */
async function noteAnswer({ postgres, clock }: Context, { receiver, hasAnswered, failure }: Asked): Promise<void> {
  if (isToReconnect(failure)) return await markStatus(postgres.db, receiver, 'reauth_required', clock.now());
  if (hasAnswered && receiver.status !== 'connected') {
    await markStatus(postgres.db, receiver, 'connected', clock.now());
  }
}

/** Records what was read, and what became of it, in one transaction: a delivery that another worker folded is left out. */
async function record(context: Context, brandId: string, read: readonly Read[]): Promise<void> {
  const { postgres, clock, secrets } = context;
  const actor = { brandId, keyId: null, operation: 'ingest', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    const outcomes = read.map(({ outcome }) => outcome);
    const own = await updateOutcomes(work.db, brandId, outcomes, work.now);
    const ours = Map.groupBy(
      read.filter(({ outcome }) => own.has(outcome.id)),
      ({ asked }) => asked,
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
  const again = read.filter(({ claimed, asked, reading }) => claimed.attempts > 0 && asked.hasAnswered && reading);
  for (const { receiver } of new Set(again.map(({ asked }) => asked))) {
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
