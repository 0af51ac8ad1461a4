import { z } from 'zod';
import { unavailable } from '../../values/errors.ts';
import type { Elastic } from './open.ts';

const POLL_MS = 500;
const MAX_AGE_MS = 1_000;
/** The alias is polled while somebody searches, and for this long after the last search. */
const FOLLOWED_MS = 60_000;

const Aliases = z.record(z.string(), z.object({ aliases: z.record(z.string(), z.unknown()) }));
const Refreshes = z.object({
  _all: z.object({ total: z.object({ refresh: z.object({ external_total: z.number() }) }) }),
});

export interface LiveIndexState {
  /** The concrete index behind the alias; undefined before the first import. */
  index: string | undefined;
  /** Changes whenever a search of the live index could see other documents. */
  generation: number;
  /** Indices that were live and still exist, the live one included. */
  kept: ReadonlySet<string>;
}

export interface LiveIndex {
  alias: string;
  /** At most a second old. SERVICE_UNAVAILABLE when Elasticsearch does not say. */
  get(): Promise<LiveIndexState>;
  /** What is known without asking; undefined when that is more than a second old. */
  known(): LiveIndexState | undefined;
  close(): void;
}

/** The alias that marks every index that has been live: what `directory_version` may pin. */
export const keptAlias = (alias: string) => `${alias}-kept`;

async function readState(elastic: Elastic, alias: string): Promise<LiveIndexState> {
  const { client } = elastic;
  const bounded = { requestTimeout: 2_000, maxRetries: 0 };
  const answer = await client.indices.getAlias({ name: `${alias},${keptAlias(alias)}` }, { ...bounded, ignore: [404] });
  const found = Aliases.safeParse(answer);
  const indices = found.success ? Object.entries(found.data) : [];
  const index = indices.find(([, { aliases }]) => alias in aliases)?.[0];
  const kept = new Set(indices.map(([name]) => name));
  if (index === undefined) return { index, generation: 0, kept };
  const stats = await client.indices.stats({ index, metric: 'refresh' }, bounded);
  return { index, generation: Refreshes.parse(stats)._all.total.refresh.external_total, kept };
}

/** Follows the alias in the background while it is searched, so that a search waits for it only when Elasticsearch is slow or just back. */
export function openLiveIndex(elastic: Elastic, alias: string): LiveIndex {
  let state: LiveIndexState | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let wantedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<LiveIndexState> | undefined;

  function read(): Promise<LiveIndexState> {
    reading ??= readState(elastic, alias)
      .then((fresh) => {
        state = fresh;
        readAt = performance.now();
        return fresh;
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

  // A failed poll is reported to whoever asks next, by get().
  const timer = setInterval(() => {
    if (performance.now() - wantedAt < FOLLOWED_MS) void read().catch(() => undefined);
  }, POLL_MS);
  timer.unref();

  return {
    alias,
    // That there is no index yet is never taken from memory: the first import is seen at once.
    get: async () => {
      wantedAt = performance.now();
      const known = recent();
      return known?.index ? known : await read();
    },
    known: recent,
    close: () => clearInterval(timer),
  };
}
