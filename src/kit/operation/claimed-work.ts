import { setTimeout as pause } from 'node:timers/promises';
import type { Expression } from 'kysely';
import type { Db } from '../engines/postgres/open.ts';
import {
  type Claim,
  claimRows,
  type DueRow,
  deleteClaim,
  listHeld,
  lockClaim,
  readClaimed,
  renewClaims,
  restAfterFailure,
  type TurnKey,
} from '../engines/postgres/work-claims.ts';
import { MINUTE_MS } from '../values/duration.ts';
import { ignoreFailure } from '../values/errors.ts';
import { randomBase62 } from '../values/ids.ts';
import type { Context } from './context.ts';
import type { Job, JobPlan } from './job.ts';

/** Claims are looked at this often, so that a turn whose row was taken away ends within a second. */
const LOOK_EVERY_MS = 400;
/** Renewals of a claim within the time after which its worker counts as dead. */
const RENEWALS = 3;
/** A turn that ignores its signal loses its place after this time; longer when the process stops. */
const HEEDS_WITHIN_MS = 300;
const STOPS_WITHIN_MS = 5_000;
const MAX_REST_MS = 60 * MINUTE_MS;

export interface Turn extends TurnKey {
  /** Aborted if the row is taken away, as by the cancellation of a job, and when the process stops. */
  signal: AbortSignal;
  /** Failed turns in a row before this one. */
  failures: number;
  /** Locks the row for the turn until the transaction ends. Throws if the row was taken away. */
  hold(db: Db): Promise<void>;
}

/** The turn's row was taken away: another turn has it, or nobody. */
class LostTurn extends Error {}

interface WorkPlan<Row extends DueRow> extends JobPlan {
  /** Selects what is due, the next first, with the columns that a turn needs. A turn takes its row out of it. */
  due: (db: Db, now: Date) => Expression<Row>;
  /** False if the installation lacks what the work needs. */
  isOn?: (config: Context['config']) => boolean;
  /** Turns of one process at once. */
  places: number;
  /** Places that one brand may have, at most half of all; one as long as half of all are taken. */
  placesOfBrand?: number;
  /** For the log of failures, such as `reading the orders of a store`. */
  doing: string;
  run: (context: Context, row: Row, turn: Turn) => Promise<unknown>;
  /** The rest of a row after so many failures in a row; a minute, and twice as long each time, unless given. */
  restMs?: (failures: number) => number;
}

/** Work on due rows that one worker at a time claims. */
export interface ClaimedWork extends Job {
  /** Runs turns until nothing is due, or so many. Returns how many. */
  run(context: Context, most?: number): Promise<number>;
  /** Keeps this process's places filled. */
  start(context: Context): Running;
}

interface Running {
  /** Fills the free places with due rows. */
  wake(): Promise<void>;
  /** Aborts the turns, and resolves when they have ended. */
  close(): Promise<void>;
}

type HeldTurn = TurnKey & { taken: AbortController };

/** The running turns of each process. */
const turnsOf = new WeakMap<Context, Set<HeldTurn>>();

const isSameTurn = (one: TurnKey, other: TurnKey) =>
  one.turn === other.turn && one.id === other.id && one.work === other.work;

/** Renews the claims of a process's turns, and aborts turns whose row was taken away. Ends with the last of them. */
async function watch(context: Context, turns: ReadonlySet<HeldTurn>): Promise<void> {
  const { postgres, clock, config } = context;
  const renewEveryMs = config.workerLostAfterMs / RENEWALS;
  let renewedAtMs = performance.now();
  while (turns.size > 0) {
    await pause(Math.min(LOOK_EVERY_MS, renewEveryMs), undefined, { ref: false });
    const heldTurns = [...turns];
    const isRenewal = performance.now() - renewedAtMs >= renewEveryMs;
    const looking = isRenewal
      ? renewClaims(postgres.db, heldTurns, new Date(clock.now().getTime() + config.workerLostAfterMs))
      : listHeld(postgres.db, heldTurns);
    const own = await looking.catch(ignoreFailure('another worker takes the rows if it cannot be renewed in time'));
    if (own === undefined) continue;
    if (isRenewal) renewedAtMs = performance.now();
    for (const turn of heldTurns) if (!own.some((one) => isSameTurn(one, turn))) turn.taken.abort(new LostTurn());
  }
  turnsOf.delete(context);
}

function addTurn(context: Context, turn: HeldTurn): void {
  const turns = turnsOf.get(context);
  if (turns) return void turns.add(turn);
  const first = new Set([turn]);
  turnsOf.set(context, first);
  void watch(context, first);
}

const doubleRest = (failures: number) => Math.min(MINUTE_MS * 2 ** (failures - 1), MAX_REST_MS);

/** Waits for a turn; rejects if it ignores its signal, such as one that waits for a silent server. */
async function untilIgnored(running: Promise<unknown>, taken: AbortSignal, signal: AbortSignal): Promise<void> {
  const ignoredSignal = Promise.withResolvers<never>();
  const wait = () =>
    void setTimeout(
      () => ignoredSignal.reject(signal.reason),
      taken.aborted ? HEEDS_WITHIN_MS : STOPS_WITHIN_MS,
    ).unref();
  signal.addEventListener('abort', wait);
  try {
    await Promise.race([running, ignoredSignal.promise]);
  } finally {
    signal.removeEventListener('abort', wait);
  }
}

/** Runs a turn, and ends its claim. Never throws: a failure is logged, and the row rests. */
async function runTurn<Row extends DueRow>(
  context: Context,
  plan: WorkPlan<Row>,
  { row, claim, stopping }: { row: Row; claim: Claim; stopping: AbortSignal },
): Promise<void> {
  const { postgres, clock, failures: log } = context;
  const { name: work, doing, restMs = doubleRest } = plan;
  const key = { work, id: claim.id, turn: claim.turn };
  const takenAway = new AbortController();
  const signal = AbortSignal.any([takenAway.signal, stopping]);
  const heldTurn = { ...key, taken: takenAway };
  const hold = async (db: Db) => {
    if (!(await lockClaim(db, key))) throw new LostTurn();
  };
  addTurn(context, heldTurn);
  try {
    const running = plan.run(context, row, { ...key, signal, failures: claim.failures, hold });
    await untilIgnored(running, takenAway.signal, signal);
    log.succeeded(doing);
    await deleteClaim(postgres.db, key);
  } catch (error) {
    const isFailure = !signal.aborted && !(error instanceof LostTurn);
    if (isFailure) log.failed(doing, error, { brandId: row.brandId, id: row.id });
    const until = new Date(clock.now().getTime() + restMs(claim.failures + 1));
    const release = isFailure ? restAfterFailure(postgres.db, key, until) : deleteClaim(postgres.db, key);
    await release.catch(ignoreFailure('the claim runs out'));
  } finally {
    turnsOf.get(context)?.delete(heldTurn);
  }
}

/** Turns of one process at one kind of work. */
function openTurns<Row extends DueRow>(context: Context, plan: WorkPlan<Row>, stopping: AbortSignal) {
  const { postgres, clock, config } = context;
  const { name, isOn = () => true, places, placesOfBrand = Math.max(1, Math.floor(places / 2)) } = plan;
  const running = new Map<Claim, Promise<void>>();

  async function claim(most: number): Promise<number> {
    const now = clock.now();
    const claims = await claimRows(postgres.db, {
      work: name,
      due: plan.due(postgres.db, now),
      now,
      until: new Date(now.getTime() + config.workerLostAfterMs),
      turn: randomBase62(12),
      places: Math.min(most, places - running.size),
      placesOfBrand,
      shared: Math.max(1, Math.floor(places / 2)),
      // Its own rows stay its own after an outage in which no claim could be renewed.
      running: [...running.keys()],
    });
    if (claims.length === 0) return 0;
    const rows = await readClaimed(postgres.db, plan.due(postgres.db, now), claims);
    for (const one of claims) {
      const row = rows.find(({ id }) => id === one.id);
      const turn = row
        ? runTurn(context, plan, { row, claim: one, stopping })
        : deleteClaim(postgres.db, { ...one, work: name }).catch(ignoreFailure('the claim runs out'));
      running.set(
        one,
        turn.finally(() => running.delete(one)),
      );
    }
    return claims.length;
  }

  /** Claims rows until no place is free or none is due. */
  async function fill(most: number): Promise<number> {
    let count = 0;
    if (!isOn(config)) return count;
    while (!stopping.aborted && running.size < places && count < most) {
      const claimedCount = await claim(most - count);
      if (claimedCount === 0) break;
      count += claimedCount;
    }
    return count;
  }
  return { fill, running };
}

/**
 * Declares work on due rows. Several workers may run it: a row has one turn at a time, several rows have theirs at once,
 * and no brand has more than its places, or than one beside half of all. What a dead worker was doing is taken up by another after
 * `WORKER_LOST_AFTER_MS`.
 */
export function claimedWork<Row extends DueRow>(plan: WorkPlan<Row>): ClaimedWork {
  const { name, everyMs, asksFor, leaves } = plan;

  async function run(context: Context, most = Number.POSITIVE_INFINITY): Promise<number> {
    const { fill, running } = openTurns(context, plan, context.stopping.signal);
    let count = 0;
    for (;;) {
      const claimedCount = await fill(most - count);
      count += claimedCount;
      // A turn that has just ended may have left its row due.
      if (claimedCount === 0 && running.size === 0) return count;
      if (running.size > 0) await Promise.race(running.values());
    }
  }

  function start(context: Context): Running {
    const closing = new AbortController();
    const { fill, running } = openTurns(context, plan, AbortSignal.any([closing.signal, context.stopping.signal]));
    let filling: Promise<void> | undefined;

    async function fillPlaces(): Promise<void> {
      // Each ended turn makes room for the next, whenever the schedule comes by.
      if ((await fill(Number.POSITIVE_INFINITY)) > 0) void refill();
    }
    function wake(): Promise<void> {
      filling ??= fillPlaces().finally(() => {
        filling = undefined;
      });
      return filling;
    }
    async function refill(): Promise<void> {
      await Promise.race(running.values());
      await wake().catch((error: unknown) => context.failures.failed(name, error));
    }
    const close = async () => {
      closing.abort();
      await filling?.catch(ignoreFailure('it was reported to whoever woke it'));
      await Promise.all(running.values());
    };
    return { wake, close };
  }
  return { name, everyMs, asksFor, ...(leaves ? { leaves } : {}), run, start };
}
