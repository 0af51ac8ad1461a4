import { errors, type TransportRequestOptions } from '@elastic/elasticsearch';
import { z } from 'zod';
import { unavailable } from '../../values/errors.ts';
import type { Elastic } from './open.ts';

const POLL_MS = 500;
const MAX_AGE_MS = 1_000;
/** The alias is polled for this long after the last search. */
const FOLLOWED_MS = 60_000;

const REFRESHES = ['indices.*.shards.*.routing.node', 'indices.*.shards.*.refresh.external_total'];
const STARTS = ['*.shards.id', '*.shards.target.id', '*.shards.start_time_in_millis'];

const Aliases = z.record(z.string(), z.object({ aliases: z.record(z.string(), z.unknown()) }));
const Shards = <T extends z.ZodType>(copy: T) => z.record(z.string(), z.object({ shards: copy }));
const Refreshes = z.object({
  indices: Shards(
    z.record(
      z.string(),
      z.array(z.object({ routing: z.object({ node: z.string() }), refresh: z.object({ external_total: z.number() }) })),
    ),
  ),
});
const Starts = Shards(
  z.array(z.object({ id: z.number(), target: z.object({ id: z.string() }), start_time_in_millis: z.number() })),
);

export interface LiveIndexState {
  /** The concrete index behind the alias; undefined before the first import. */
  index: string | undefined;
  /**
   * The indices that have been live and still exist, including the live one, with a number that increases whenever a search
   * of the index could see different documents. Local to this process.
   */
  kept: ReadonlyMap<string, number>;
}

export interface LiveIndex {
  alias: string;
  /** The state, at most a second old. Throws SERVICE_UNAVAILABLE when Elasticsearch does not respond. */
  get(): Promise<LiveIndexState>;
  /** The cached state; undefined if it is more than a second old. */
  known(): LiveIndexState | undefined;
  close(): void;
}

/** The alias that marks every index that has been live: what `directory_version` may pin. */
export const keptAlias = (alias: string) => `${alias}-kept`;

interface Reading extends Pick<LiveIndexState, 'index'> {
  /** By index: changes when a search could have seen different documents in between. */
  fingerprints: ReadonlyMap<string, string>;
}

/**
 * The refresh count of each copy of each shard. A copy restarts its count under the same allocation id when it starts,
 * so the fingerprint includes its start time.
 */
async function readFingerprints(
  { client }: Elastic,
  indices: string[],
  bounded: TransportRequestOptions,
): Promise<Map<string, string>> {
  if (indices.length === 0) return new Map();
  const [stats, recovery] = await Promise.all([
    client.indices.stats({ index: indices, metric: 'refresh', level: 'shards', filter_path: REFRESHES }, bounded),
    client.indices.recovery({ index: indices, filter_path: STARTS }, bounded),
  ]);
  const [refreshed, recoveries] = [Refreshes.parse(stats).indices, Starts.parse(recovery)];
  return new Map(
    indices.map((index) => {
      const refreshes = Object.entries(refreshed[index]?.shards ?? {}).flatMap(([shard, copies]) =>
        copies.map(({ routing, refresh }) => `${shard} on ${routing.node} at ${refresh.external_total}`),
      );
      const starts = (recoveries[index]?.shards ?? []).map(
        ({ id, target, start_time_in_millis }) => `${id} on ${target.id} since ${start_time_in_millis}`,
      );
      return [index, [...refreshes.sort(), ...starts.sort()].join('\n')];
    }),
  );
}

async function readState(elastic: Elastic, alias: string): Promise<Reading> {
  const timeouts = { requestTimeout: 2_000, maxRetries: 1, retryOnTimeout: true };
  const aliases = { name: `${alias},${keptAlias(alias)}` };
  const answer = await elastic.client.indices.getAlias(aliases, { ...timeouts, ignore: [404] });
  const response = Aliases.safeParse(answer);
  const indices = response.success ? Object.entries(response.data) : [];
  const index = indices.find(([, { aliases }]) => alias in aliases)?.[0];
  const names = indices.map(([name]) => name);
  return { index, fingerprints: await readFingerprints(elastic, names, timeouts) };
}

/**
 * Polls the alias in the background while searches run, so that a search waits for it only if Elasticsearch is slow or
 * has just come back.
 */
export function openLiveIndex(elastic: Elastic, alias: string): LiveIndex {
  let state: LiveIndexState | undefined;
  let fingerprints: ReadonlyMap<string, string> = new Map();
  let generation = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let wantedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<LiveIndexState> | undefined;

  function read(): Promise<LiveIndexState> {
    reading ??= readState(elastic, alias)
      // An index may have been removed between the two requests.
      .catch((error: unknown) =>
        error instanceof errors.ResponseError && error.statusCode === 404
          ? readState(elastic, alias)
          : Promise.reject(error),
      )
      .then((fresh) => {
        const retainedIndices = new Map<string, number>();
        for (const [name, fingerprint] of fresh.fingerprints) {
          const before = fingerprint === fingerprints.get(name) ? state?.kept.get(name) : undefined;
          if (before === undefined) generation += 1;
          retainedIndices.set(name, before ?? generation);
        }
        state = { index: fresh.index, kept: retainedIndices };
        fingerprints = fresh.fingerprints;
        readAt = performance.now();
        return state;
      })
      .catch((error: unknown) => {
        throw unavailable('Elasticsearch', error);
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  const recent = () => (performance.now() - readAt < MAX_AGE_MS ? state : undefined);

  // get() reports a failed poll to its next caller.
  const timer = setInterval(() => {
    if (performance.now() - wantedAt < FOLLOWED_MS) void read().catch(() => undefined);
  }, POLL_MS);
  timer.unref();

  return {
    alias,
    // A missing index is never cached, so that the first import is visible at once.
    get: async () => {
      wantedAt = performance.now();
      const cached = recent();
      return cached?.index ? cached : await read();
    },
    known: recent,
    close: () => clearInterval(timer),
  };
}
