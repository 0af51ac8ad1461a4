import { openAdaptiveLimit } from '../../kit/access/adaptive-limit.ts';
import { ApiError } from '../../kit/values/errors.ts';
import type { Log } from '../../kit/values/log.ts';
import { limit } from '../../kit/values/within.ts';

/** A call that would wait longer for its place is refused at once, because its client would have given up by its answer. */
const USUAL_WAIT_MS = 400;
/** So many may wait however slow the engine is, because pages and scripts send as many at once, and so many however fast. */
const LEAST_WAITING = 128;
const MOST_WAITING = 256;
/** As many calls may be under way or wait in the first second after a calm. */
const BURST = 256;
/** The time over which calls are counted, the shortest calm before a burst, and the longest burst. */
const LATELY_MS = 1_000;
/** As long as an engine has for an answer. */
const WAITS_MS = 5_000;
/** A call that has waited for longer gives way only to a brand of which none waits: a late refusal is worse than an unequal share. */
const YIELDS_WITHIN_MS = 40;
/** Of the places, one brand has at most so many: others find some free at once, even while its searches wait for each other. */
const SHARE = 0.75;
/** An overload is over when nothing was refused for so long. */
const CALM_MS = 5_000;

const makeRefusal = (seconds: number) =>
  new ApiError('SERVICE_UNAVAILABLE', 'More searches arrive than can be answered; try again shortly.', {
    headers: { 'retry-after': String(seconds) },
    isLogged: true,
  });
/** Several, so that refused clients do not all come again at once. They are made once, because the stack of an error is dear. */
const firstRefusal = makeRefusal(1);
const refusals = [firstRefusal, makeRefusal(2), makeRefusal(3)];

/** For nobody: its client has closed the connection. */
export const clientGone = new ApiError('REQUEST_TIMEOUT', 'The client closed the connection before the answer.');

interface WaitingCall {
  brandId: string;
  sinceMs: number;
  begin(): void;
  refuse(error: ApiError): void;
}

export interface AdmissionFigures {
  limit: number;
  underWay: number;
  waiting: number;
  refused: number;
}

/** Admits calls that search the directory, as many at a time as it answers quickly. */
export interface Admission {
  /**
   * Waits for a place among the calls under way; returns what frees it. Throws SERVICE_UNAVAILABLE at once if too many wait
   * already, and later if none becomes free or the client has gone.
   */
  enter(brandId: string, disconnect?: AbortSignal): Promise<() => void>;
  /** The refusal of a call that `enter` would refuse at once; undefined for any other call, which is not counted here. */
  refuse(brandId: string): ApiError | undefined;
  /** Takes how long Elasticsearch took for one request of a call. */
  measure(latencyMs: number): void;
  figures(): AdmissionFigures;
}

/** Logs once when calls begin to be refused, and once when none was for a while. */
function openOverloadLog(log: Log): (limitNow: number) => void {
  let begunAtMs: number | undefined;
  let lastAtMs = 0;
  let refused = 0;

  function lookAgain(): void {
    const nowMs = performance.now();
    const calmAtMs = lastAtMs + CALM_MS;
    if (nowMs < calmAtMs) {
      setTimeout(lookAgain, calmAtMs - nowMs).unref();
      return;
    }
    const seconds = Math.round((lastAtMs - (begunAtMs ?? lastAtMs)) / 1_000);
    log.warn({ refused, seconds }, 'All searches are answered again');
    begunAtMs = undefined;
    refused = 0;
  }

  return (limitNow) => {
    lastAtMs = performance.now();
    refused += 1;
    if (begunAtMs !== undefined) return;
    begunAtMs = lastAtMs;
    log.warn({ limit: limitNow }, 'More searches arrive than can be answered; the rest is refused');
    setTimeout(lookAgain, CALM_MS).unref();
  };
}

/** Decides how many calls may wait, from how many got a place lately. */
function openRoom() {
  /** The calls that got a place, each weighed by how long ago: those of the last `LATELY_MS`, nearly. */
  let recentStarts = 0;
  let atMs = 0;
  let emptySinceMs = Number.NEGATIVE_INFINITY;
  let burstEndsAtMs = 0;

  function forget(nowMs: number): void {
    recentStarts *= Math.exp((atMs - nowMs) / LATELY_MS);
    atMs = nowMs;
  }

  return {
    /** How many may wait beside those under way. */
    beside: (underWay: number): number => {
      const nowMs = performance.now();
      forget(nowMs);
      const usual = nowMs < burstEndsAtMs ? BURST - underWay : (recentStarts * USUAL_WAIT_MS) / LATELY_MS;
      return Math.max(LEAST_WAITING, Math.min(MOST_WAITING, usual));
    },
    /** A call got a place. */
    note: (): void => {
      forget(performance.now());
      recentStarts += 1;
    },
    /** The first call waits. */
    fill: (): void => {
      const nowMs = performance.now();
      if (nowMs - emptySinceMs >= LATELY_MS) burstEndsAtMs = nowMs + LATELY_MS;
    },
    /** No call waits any more. */
    empty: (): void => {
      emptySinceMs = performance.now();
    },
  };
}

export function openAdmission(log: Log): Admission {
  const adaptive = openAdaptiveLimit();
  const room = openRoom();
  const noteRefusal = openOverloadLog(log);
  /** The places that each brand has. */
  const slotsByBrand = new Map<string, number>();
  /** By brand, the brand that was served least recently first. */
  const waiting = new Map<string, WaitingCall[]>();
  let underWay = 0;
  let queuedCalls = 0;
  let refused = 0;

  function refusal(): ApiError {
    refused += 1;
    noteRefusal(adaptive.current());
    return refusals[Math.floor(Math.random() * refusals.length)] ?? firstRefusal;
  }

  const mayTake = (brandId: string): boolean =>
    (slotsByBrand.get(brandId) ?? 0) < Math.ceil(adaptive.current() * SHARE);

  /** Others may wait although a place is free: they have their share. */
  const isFree = (brandId: string): boolean =>
    underWay < adaptive.current() && mayTake(brandId) && !waiting.has(brandId);

  function take(brandId: string): void {
    underWay += 1;
    room.note();
    slotsByBrand.set(brandId, (slotsByBrand.get(brandId) ?? 0) + 1);
  }

  /** The next brand is the one with the fewest places, so that none waits for the many calls of another. */
  function findNext(): string | undefined {
    let next: string | undefined;
    for (const brandId of waiting.keys()) {
      if (!mayTake(brandId)) continue;
      if (next === undefined || (slotsByBrand.get(brandId) ?? 0) < (slotsByBrand.get(next) ?? 0)) next = brandId;
    }
    return next;
  }

  function remove(brandId: string, call: WaitingCall): boolean {
    const calls = waiting.get(brandId) ?? [];
    const at = calls.indexOf(call);
    if (at < 0) return false;
    calls.splice(at, 1);
    queuedCalls -= 1;
    if (queuedCalls === 0) room.empty();
    if (calls.length === 0) waiting.delete(brandId);
    return true;
  }

  function beginNext(): void {
    while (underWay < adaptive.current()) {
      const brandId = findNext();
      if (brandId === undefined) return;
      const calls = waiting.get(brandId) ?? [];
      const [call] = calls;
      if (!call) return;
      remove(brandId, call);
      // Behind the others, for brands with as many places are served in turn.
      if (waiting.delete(brandId)) waiting.set(brandId, calls);
      take(brandId);
      call.begin();
    }
  }

  function leave(brandId: string): void {
    underWay -= 1;
    const remaining = (slotsByBrand.get(brandId) ?? 1) - 1;
    if (remaining === 0) slotsByBrand.delete(brandId);
    else slotsByBrand.set(brandId, remaining);
    beginNext();
  }

  const isFull = (): boolean => queuedCalls > 0 && queuedCalls >= room.beside(underWay);

  /** The newest call of the brand with the most waiting, if it gives way to a call of a brand that has fewer. */
  function findYielding(brandId: string): WaitingCall | undefined {
    let longest: WaitingCall[] = [];
    for (const calls of waiting.values()) if (calls.length > longest.length) longest = calls;
    const own = waiting.get(brandId)?.length ?? 0;
    const newest = longest.at(-1);
    if (!newest || longest.length < own + 2) return undefined;
    return own === 0 || performance.now() - newest.sinceMs <= YIELDS_WITHIN_MS ? newest : undefined;
  }

  /** Makes room in a full queue, or throws the refusal of a call for which there is none. */
  function makeRoom(brandId: string): void {
    const yielding = findYielding(brandId);
    if (!yielding) throw refusal();
    remove(yielding.brandId, yielding);
    yielding.refuse(refusal());
  }

  async function takeTurn(brandId: string, disconnect: AbortSignal | undefined): Promise<void> {
    adaptive.noteWaiting();
    if (queuedCalls === 0) room.fill();
    else if (isFull()) makeRoom(brandId);
    const turn = Promise.withResolvers<void>();
    const call: WaitingCall = { brandId, sinceMs: performance.now(), begin: turn.resolve, refuse: turn.reject };
    const calls = waiting.get(brandId);
    if (calls) calls.push(call);
    else waiting.set(brandId, [call]);
    queuedCalls += 1;
    const end = limit(WAITS_MS, () => {
      if (remove(brandId, call)) turn.reject(refusal());
    });
    const forget = () => {
      if (remove(brandId, call)) turn.reject(clientGone);
    };
    disconnect?.addEventListener('abort', forget);
    // The limit may have grown since a call ended.
    beginNext();
    try {
      await turn.promise;
    } finally {
      end();
      disconnect?.removeEventListener('abort', forget);
    }
  }

  return {
    enter: async (brandId, disconnect) => {
      if (disconnect?.aborted) throw clientGone;
      if (isFree(brandId)) take(brandId);
      else await takeTurn(brandId, disconnect);
      return () => leave(brandId);
    },
    refuse: (brandId) => {
      if (!isFull() || isFree(brandId) || findYielding(brandId)) return undefined;
      adaptive.noteWaiting();
      return refusal();
    },
    measure: (latencyMs) => adaptive.sample(latencyMs, underWay, performance.now()),
    figures: () => ({ limit: adaptive.current(), underWay, waiting: queuedCalls, refused }),
  };
}
