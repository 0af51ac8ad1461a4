import { openSlots, type Slots } from '../../kit/access/slots.ts';
import { getMappingVersion } from '../../kit/engines/elastic/indices.ts';
import type { LiveIndex, LiveIndexState } from '../../kit/engines/elastic/live-index.ts';
import type { Elastic } from '../../kit/engines/elastic/open.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Redis } from '../../kit/engines/redis/open.ts';
import { ApiError, unavailable } from '../../kit/values/errors.ts';
import { type Lists, openLists } from '../lists/list-filter.ts';
import type { Admission } from './admission.ts';
import { type Counts, openCounts, type Snapshot } from './counts.ts';
import { MAPPING_VERSION } from './document.ts';
import { type Facets, openFacets } from './facets.ts';
import { versionGone } from './search.ts';
import { openWorkGate, type WorkGate } from './search-work.ts';

/** The directory as searches see it: the live index and its cached counts until the next refresh. */
export interface Directory {
  elastic: Elastic;
  counts: Counts;
  facets: Facets;
  /** Searches of this process that are under way, and all that began so far; walks make room for them. */
  searching: { count: number; begun: number };
  work: WorkGate;
  /** Calls that search, of all brands. */
  admission: Admission;
  /** The directory of one call: its requests are measured, and cancelled when its client has gone. */
  forCall(disconnect: AbortSignal | undefined): Directory;
  /** Two walks a brand. */
  walks: Slots;
  lists: Lists;
  /** The live index; asks Elasticsearch if the cached answer is too old. */
  live(): Promise<LiveIndexState>;
  /** The version to search: the pinned one while it is kept, or the live one. */
  snapshot(pinned?: string): Promise<Snapshot>;
  /** Throws SERVICE_UNAVAILABLE if a parameter needs fields that an index of an earlier mapping lacks. */
  assertServes(snapshot: Snapshot, parameter: string | undefined): Promise<void>;
  /** Throws CONFLICT if the cached state shows that the version is no longer kept. */
  assertMayBeKept(pinned: string | undefined): void;
}

declare module '../../kit/operation/context.ts' {
  interface Context {
    directory: Directory;
  }
}

const WALKS = 2;

/** What a directory is opened with. */
interface DirectoryParts {
  elastic: Elastic;
  live: LiveIndex;
  db: Db;
  redis: Redis;
  admission: Admission;
}

export function openDirectory({ elastic, live, db, redis, admission }: DirectoryParts): Directory {
  const counts = openCounts(elastic);
  /** A mapping's version never changes, so each index is read once. */
  const mappings = new Map<string, number>();
  const directory: Directory = {
    elastic,
    counts,
    facets: openFacets(counts),
    searching: { count: 0, begun: 0 },
    work: openWorkGate(),
    admission,
    forCall: (disconnect) => {
      const post: Elastic['post'] = async (path, body, options) => {
        const beganAtMs = performance.now();
        const bytes = await elastic.post(path, body, { ...options, signal: disconnect });
        admission.measure(performance.now() - beganAtMs);
        return bytes;
      };
      return { ...directory, elastic: { ...elastic, post } };
    },
    walks: openSlots(redis, 'walks', WALKS),
    lists: openLists(db, openWorkGate()),
    live: () => live.get(),
    snapshot: async (pinned) => {
      const { index, kept } = await live.get();
      if (pinned !== undefined && pinned !== index) {
        const generation = kept.get(pinned);
        if (generation === undefined) throw versionGone(pinned);
        return { index: pinned, generation };
      }
      if (index === undefined)
        throw unavailable('The directory', new Error(`No index behind the alias ${live.alias}.`), 30);
      return { index, generation: kept.get(index) ?? 0 };
    },
    assertServes: async ({ index }, parameter) => {
      if (parameter === undefined) return;
      const version = mappings.get(index) ?? (await getMappingVersion(elastic, index));
      mappings.set(index, version);
      if (version >= MAPPING_VERSION) return;
      const message = `${parameter} needs a newer index, which the next import creates.`;
      throw new ApiError('SERVICE_UNAVAILABLE', message);
    },
    assertMayBeKept: (pinned) => {
      const knownVersions = live.known();
      if (pinned !== undefined && knownVersions && !knownVersions.kept.has(pinned) && knownVersions.index !== pinned)
        throw versionGone(pinned);
    },
  };
  return directory;
}
