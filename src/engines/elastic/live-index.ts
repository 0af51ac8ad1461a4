import type { TransportRequestOptions } from '@elastic/elasticsearch';
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
  /** Increases whenever a search of the live index could see different documents. Local to this process. */
  generation: number;
  /** Indices that have been live and still exist, including the live one. */
  kept: ReadonlySet<string>;
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

interface Reading extends Omit<LiveIndexState, 'generation'> {
  /** Changes when a search could have seen different documents in between. */
  fingerprint: string;
}

/**
 * The refresh count of each copy of each shard. A copy restarts its count under the same allocation id when it starts,
 * so the fingerprint includes its start time.
 */
async function fingerprintOf({ client }: Elastic, index: string, bounded: TransportRequestOptions): Promise<string> {
  const [stats, recovery] = await Promise.all([
    client.indices.stats({ index, metric: 'refresh', level: 'shards', filter_path: REFRESHES }, bounded),
    client.indices.recovery({ index, filter_path: STARTS }, bounded),
  ]);
  const refreshes = Object.values(Refreshes.parse(stats).indices).flatMap(({ shards }) =>
    Object.entries(shards).flatMap(([shard, copies]) =>
      copies.map(({ routing, refresh }) => `${shard} on ${routing.node} at ${refresh.external_total}`),
    ),
  );
  const starts = Object.values(Starts.parse(recovery)).flatMap(({ shards }) =>
    shards.map(({ id, target, start_time_in_millis }) => `${id} on ${target.id} since ${start_time_in_millis}`),
  );
  return [index, ...refreshes.sort(), ...starts.sort()].join('\n');
}

async function readState(elastic: Elastic, alias: string): Promise<Reading> {
  const bounded = { requestTimeout: 2_000, maxRetries: 1, retryOnTimeout: true };
  const names = { name: `${alias},${keptAlias(alias)}` };
  const answer = await elastic.client.indices.getAlias(names, { ...bounded, ignore: [404] });
  const found = Aliases.safeParse(answer);
  const indices = found.success ? Object.entries(found.data) : [];
  const index = indices.find(([, { aliases }]) => alias in aliases)?.[0];
  const kept = new Set(indices.map(([name]) => name));
  const fingerprint = index === undefined ? '' : await fingerprintOf(elastic, index, bounded);
  return { index, fingerprint, kept };
}

/**
 * Polls the alias in the background while searches run, so that a search waits for it only if Elasticsearch is slow or
 * has just come back.
 */
export function openLiveIndex(elastic: Elastic, alias: string): LiveIndex {
  let state: LiveIndexState | undefined;
  let fingerprint = '';
  let readAt = Number.NEGATIVE_INFINITY;
  let wantedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<LiveIndexState> | undefined;

  function read(): Promise<LiveIndexState> {
    reading ??= readState(elastic, alias)
      .then((fresh) => {
        const { index, kept } = fresh;
        const before = state?.generation ?? 0;
        state = { index, kept, generation: fresh.fingerprint === fingerprint ? before : before + 1 };
        fingerprint = fresh.fingerprint;
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
      const known = recent();
      return known?.index ? known : await read();
    },
    known: recent,
    close: () => clearInterval(timer),
  };
}
