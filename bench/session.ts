import type { Context } from '../src/kit/operation/context.ts';
import type { Config } from '../src/kit/values/config.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import type { Server } from './children.ts';
import { cpuSecondsOf, openTarget, type Shot, type Target, type Volley, volley } from './load.ts';
import type { Search } from './searches.ts';

/** How much is measured: the `--quick` scale or the full one. */
export interface Scale {
  creators: number;
  /** The last page at 100 creators a page. */
  lastPage: number;
  rounds: number;
  /** Rounds of slow measurements. */
  slowRounds: number;
  /** How often a new process runs the whole mix before it counts, so that it is optimized. */
  warmUps: number;
  /** How often a fast side repeats the mix within one round. */
  repeats: number;
  /** A slow side gets one in this many variants. */
  slowStep: number;
  /** How long one side searches, with and without updates of the directory. */
  updateMs: number;
  /** Floors that grow with the data only apply at a million creators. */
  isFull: boolean;
}

/** What every measurement of searches needs: a full directory, the API, and the mix. */
export interface Session {
  scale: Scale;
  config: Config;
  urls: EngineUrls;
  /** The environment of project processes on these engines. */
  env: Record<string, string>;
  context: Context;
  index: string;
  searches: readonly Search[];
  api: Server;
  /** A data key for one call, in turn. */
  nextKey: () => string;
  /** Headers of a caller with a data key, a different key each time. */
  asCaller: () => Record<string, string>;
}

const JSON_BODY = { 'content-type': 'application/json' };

export const targetApi = (session: Session, server: Server): Target => openTarget(server.url, session.asCaller);
export const targetElastic = (session: Session): Target => openTarget(session.urls.elasticsearch, () => JSON_BODY);
export const targetProxy = (server: Server): Target => openTarget(server.url, () => JSON_BODY);

export interface Measured extends Volley {
  cpuMicrosPerRequest: number;
}

/** A volley without any error, and its CPU cost for the responding process. */
export async function flawless(
  what: string,
  target: Target,
  shots: readonly Shot[],
  options: { pid?: number; forMs?: number } = {},
): Promise<Measured> {
  const { pid, forMs } = options;
  const before = pid === undefined ? 0 : cpuSecondsOf(pid);
  const result = await volley(target, shots, forMs);
  const used = pid === undefined ? 0 : cpuSecondsOf(pid) - before;
  if (result.errors > 0) {
    const statuses = JSON.stringify(result.refusals);
    throw new Error(`${what}: ${result.errors} of ${result.sent} requests failed, by status: ${statuses}.`);
  }
  return { ...result, cpuMicrosPerRequest: (used * 1e6) / result.sent };
}

export const repeated = <T>(values: readonly T[], times: number): T[] =>
  Array.from({ length: times }, () => values).flat();

/** The first ten kinds, which from/size can answer too. */
export const shallowMix = (session: Session): Search[] =>
  session.searches.filter(({ kind, isDeep }) => !isDeep || kind === 'page 100');

/** One in `step` queries, evenly over the kinds. */
export function someOfEach(searches: readonly Search[], step: number): Search[] {
  const seen = new Map<string, number>();
  return searches.filter(({ kind }) => {
    const count = seen.get(kind) ?? 0;
    seen.set(kind, count + 1);
    return count % step === 0;
  });
}
