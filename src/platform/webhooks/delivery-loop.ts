import { openKeptConnections } from '../../kit/engines/http/kept-connections.ts';
import { isHeld } from '../../kit/engines/postgres/home.ts';
import type { Context } from '../../kit/operation/context.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { type AttemptResult, attemptDelivery, recordAttempts } from './attempts.ts';
import { type ClaimedDelivery, claimDue, isAnythingDue, releaseClaims } from './claims.ts';

/** Concurrent attempts: for responsive subscriptions, and separately for slow ones. */
const SLOTS = { fast: 128, slow: 64 } as const;
const CLAIM_EVERY_MS = 500;
/** An attempt without a response for this long gives up its slot among the responsive ones. */
const STALLED_AFTER_MS = 1_000;
const STOP_WITHIN_MS = 6_000;

type Pool = keyof typeof SLOTS;

export interface DeliveryLoop {
  /** Looks for due deliveries now instead of at the next turn. */
  wake(): void;
  stop(): Promise<void>;
}

interface Flight {
  delivery: ClaimedDelivery;
  pool: Pool;
  isStalled: boolean;
}

/** Delivers due events until it is stopped. Several processes may run it. */
export function startDelivering(context: Context): DeliveryLoop {
  const { postgres, clock, failures } = context;
  const connections = openKeptConnections();
  const flights = new Map<string, Flight>();
  let finishedAttempts: AttemptResult[] = [];
  let isStopping = false;
  let isAwake = false;
  let turn: Promise<void> | undefined;
  let recording: Promise<void> | undefined;

  const listStalled = () => [
    ...new Set(
      [...flights.values()].filter(({ isStalled }) => isStalled).map(({ delivery }) => delivery.subscriptionId),
    ),
  ];

  /** Attempts that end during a write are recorded together in the next one. */
  async function recordDone(): Promise<void> {
    while (finishedAttempts.length > 0) {
      const results = finishedAttempts;
      finishedAttempts = [];
      await recordAttempts(context, results).catch((error: unknown) =>
        // They are still delivery; when the claims expire, they are attempted again.
        failures.failed('recording attempts of webhooks', error, { attempts: results.length }),
      );
      for (const { nextAttemptAt } of results) wakeAt(nextAttemptAt);
    }
  }

  function flush(): Promise<void> {
    recording ??= recordDone().finally(() => {
      recording = undefined;
    });
    return recording;
  }

  function wakeAt(time: Date | null): void {
    const inMs = time === null ? 0 : time.getTime() - clock.now().getTime();
    if (inMs < 5_000) setTimeout(wake, Math.max(inMs, 0)).unref();
  }

  async function attempt(delivery: ClaimedDelivery, pool: Pool): Promise<void> {
    const flight: Flight = { delivery, pool, isStalled: false };
    flights.set(delivery.id, flight);
    const stallTimer = setTimeout(() => {
      flight.isStalled = pool === 'fast';
      wake();
    }, STALLED_AFTER_MS);
    try {
      const result = await attemptDelivery(context, connections, delivery);
      finishedAttempts.push(result);
      while (finishedAttempts.includes(result)) await flush();
    } catch (error) {
      failures.failed('attempting a webhook', error, { delivery: delivery.id });
    } finally {
      clearTimeout(stallTimer);
      flights.delete(delivery.id);
    }
  }

  async function claimAll(): Promise<void> {
    if (!(await isAnythingDue(postgres.db, clock.now())) || (await isHeld(postgres.db))) return;
    for (const pool of ['fast', 'slow'] as const) {
      const slots =
        SLOTS[pool] - [...flights.values()].filter((flight) => flight.pool === pool && !flight.isStalled).length;
      if (slots <= 0 || isStopping) continue;
      const request = { now: clock.now(), slots, slow: pool === 'slow', stalled: listStalled() };
      for (const delivery of await claimDue(postgres.db, request)) void attempt(delivery, pool);
    }
  }

  async function takeTurns(): Promise<void> {
    while (isAwake && !isStopping) {
      isAwake = false;
      await claimAll().catch((error: unknown) => failures.failed('claiming webhooks', error));
    }
  }

  function wake(): void {
    isAwake = true;
    turn ??= takeTurns().finally(() => {
      turn = undefined;
    });
  }

  const timer = setInterval(wake, CLAIM_EVERY_MS);

  async function stop(): Promise<void> {
    isStopping = true;
    clearInterval(timer);
    await turn;
    const end = performance.now() + STOP_WITHIN_MS;
    while (flights.size > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
    await releaseClaims(postgres.db, [...flights.keys()], clock.now()).catch(
      ignoreFailure('a claim that is not released runs out'),
    );
    connections.close();
  }
  return { wake, stop };
}
