/** The fewest and the most that a process may have under way, and where it begins: generous, because it has measured nothing. */
export const LEAST_UNDER_WAY = 8;
const MOST_UNDER_WAY = 256;
const INITIALLY = 128;

/** A step follows so many samples and so much time, or at the latest after a second with a few. */
const SAMPLES = 20;
const STEP_MS = 100;
const FEW_SAMPLES = 5;
const LATEST_STEP_MS = 1_000;

/** Latency that is no sign of overload: twice that of little work, and a pause of this process more. */
const TOLERANCE = 2;
const PAUSE_MS = 5;
/** One step at most halves the limit, because a single step may be a pause of the machine. */
const LEAST_GRADIENT = 0.5;
const SMOOTHING = 0.5;
/** While others wait, the latency of little work is measured again this often. */
const PROBE_EVERY_MS = 5_000;

export interface AdaptiveLimit {
  /** The work that may be under way now. */
  current(): number;
  /** Something had to wait, so that more at a time might be answered sooner. */
  noteWaiting(): void;
  /** Takes the latency of a piece of work that an engine answered, and the number that was under way then. */
  sample(latencyMs: number, underWay: number, nowMs: number): void;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

/**
 * Finds how much work an engine has use for at a time, from how long it takes: the gradient of Netflix's concurrency-limits.
 * The limit shrinks while work takes more than twice as long as little work does, and grows while it does not and more
 * is wanted. Little work is `LEAST_UNDER_WAY` at a time. Under lasting load its latency is measured anew by letting so few
 * through for a few samples, as Envoy's filter does: a moving average would learn that slow is normal.
 */
export function openAdaptiveLimit(): AdaptiveLimit {
  let limit = INITIALLY;
  let littleMs: number | undefined;
  let measuredAtMs = Number.NEGATIVE_INFINITY;
  let isProbing = false;
  let latencies: number[] = [];
  let beganAtMs: number | undefined;
  let most = 0;
  let hasWaiting = false;

  function beginStep(): void {
    latencies = [];
    beganAtMs = undefined;
    most = 0;
    hasWaiting = false;
  }

  const isLittle = () => most <= LEAST_UNDER_WAY;

  function learnLittle(latencyMs: number, nowMs: number): void {
    littleMs = littleMs === undefined || isProbing ? latencyMs : (littleMs + latencyMs) / 2;
    measuredAtMs = nowMs;
    isProbing = false;
  }

  function step(nowMs: number): void {
    const latencyMs = median(latencies);
    if (isLittle()) learnLittle(latencyMs, nowMs);
    const usualMs = (littleMs ?? latencyMs) * TOLERANCE + PAUSE_MS;
    const gradient = Math.max(LEAST_GRADIENT, Math.min(1, usualMs / latencyMs));
    // Work that nobody waits behind says nothing about more of it.
    const isUsed = hasWaiting || most >= limit / 2;
    const targetLimit = limit * gradient + (isUsed ? Math.sqrt(limit) : 0);
    const smoothedLimit = limit * (1 - SMOOTHING) + targetLimit * SMOOTHING;
    limit = Math.max(LEAST_UNDER_WAY, Math.min(MOST_UNDER_WAY, smoothedLimit));
    isProbing = hasWaiting && limit > LEAST_UNDER_WAY && nowMs - measuredAtMs >= PROBE_EVERY_MS;
  }

  return {
    current: () => (isProbing ? LEAST_UNDER_WAY : Math.floor(limit)),
    noteWaiting: () => {
      hasWaiting = true;
    },
    sample: (latencyMs, underWay, nowMs) => {
      // A probe begins when the work from before it is done.
      if (isProbing && underWay > LEAST_UNDER_WAY) return;
      beganAtMs ??= nowMs;
      latencies.push(latencyMs);
      most = Math.max(most, underWay);
      const tookMs = nowMs - beganAtMs;
      const isDue = isProbing
        ? latencies.length >= FEW_SAMPLES
        : (latencies.length >= SAMPLES && tookMs >= STEP_MS) ||
          (latencies.length >= FEW_SAMPLES && tookMs >= LATEST_STEP_MS);
      if (!isDue) return;
      step(nowMs);
      beginStep();
    },
  };
}
