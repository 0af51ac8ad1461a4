import { setTimeout as pause } from 'node:timers/promises';
import { errors, type estypes } from '@elastic/elasticsearch';
import { z } from 'zod';
import { unavailable } from '../../values/errors.ts';
import { keptAlias } from './live-index.ts';
import { isUnavailable } from './nodes.ts';
import type { Elastic } from './open.ts';

/** Settings and mappings in the format of `mappings/*.json`. */
export interface IndexDefinition {
  settings: { index: estypes.IndicesIndexSettings; analysis?: estypes.IndicesIndexSettingsAnalysis };
  mappings: estypes.MappingTypeMapping;
}

export interface IndexFacts {
  name: string;
  documents: number;
  bytes: number;
  segments: number;
  createdAt: Date;
}

const POLL_MS = 200;

/** A node that is busy, or that has just lost its master or a shard. */
const AWAY = new Set([429, 502, 503, 504]);

const isAway = (error: unknown): boolean =>
  error instanceof errors.ConnectionError ||
  error instanceof errors.TimeoutError ||
  error instanceof errors.NoLivingConnectionsError ||
  (error instanceof errors.ResponseError && AWAY.has(error.statusCode ?? 0));

/** Throws SERVICE_UNAVAILABLE when Elasticsearch cannot be reached or cannot serve the request at the moment. */
async function reach<T>(requested: Promise<T>): Promise<T> {
  try {
    return await requested;
  } catch (error) {
    throw isAway(error) ? unavailable('Elasticsearch', error) : error;
  }
}

/** For writes that must not be repeated without a check of what the first attempt did. */
const ONCE = { maxRetries: 0 };

/** If the answer to a write was lost, checks whether it was done, and repeats it only if it was not. */
async function once(write: () => Promise<unknown>, isDone: () => Promise<boolean>): Promise<void> {
  try {
    await reach(write());
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    if (await isDone()) return;
    await reach(write()).catch(async (second: unknown) => {
      // The first one may still have been running.
      if (!(await isDone())) throw second;
    });
  }
}

/**
 * More segments than an import of four million creators makes, so that no merge starts during it. Elasticsearch's
 * default of 10 starts a throttled merge towards the end, which the final merge to one segment waits for: 27 s per
 * million creators instead of 15.
 */
const QUIET_SEGMENTS = 100;

const mergingAt = (segments: number | null) => ({ 'merge.policy.segments_per_tier': segments });

/** Creates an index for an import: it refreshes only on request and merges late. */
export async function createQuietIndex(elastic: Elastic, index: string, definition: IndexDefinition): Promise<void> {
  const { settings, mappings } = definition;
  const quiet = { ...settings, index: { ...settings.index, ...mergingAt(QUIET_SEGMENTS), refresh_interval: '-1' } };
  await once(
    () => elastic.client.indices.create({ index, settings: quiet, mappings }, ONCE),
    () => indexExists(elastic, index),
  );
}

/** Gives an index from `createQuietIndex` the refresh interval of its definition and normal merging. */
export async function endQuiet({ client }: Elastic, index: string, { settings }: IndexDefinition): Promise<void> {
  const refresh_interval = settings.index.refresh_interval ?? '5s';
  await reach(client.indices.putSettings({ index, settings: { ...mergingAt(null), refresh_interval } }));
}

/** Throws if the cluster has too few nodes to hold this many replicas of a shard. */
export async function assertNodes({ client }: Elastic, replicas: number): Promise<void> {
  if (replicas === 0) return;
  const { number_of_data_nodes: nodes } = await reach(client.cluster.health());
  if (nodes > replicas) return;
  throw new Error(
    `DIRECTORY_REPLICAS=${replicas} needs ${replicas + 1} data nodes, but Elasticsearch has ${nodes}: set it to ${nodes - 1} or add nodes.`,
  );
}

/** An index lost the only copy of a shard with its node. */
export class ShardsLost extends Error {}

/** The state of an index's shards at one moment. */
interface Copies {
  /** Every shard has at least one copy that can be searched. */
  isWhole: boolean;
  /** Copies that can be searched, of all shards. */
  active: number;
  /** The copies of all shards that the present nodes can hold. */
  possible: number;
  /** All copies that are configured. */
  wanted: number;
}

async function listCopies({ client }: Elastic, index: string, replicas: number): Promise<Copies> {
  const health = await reach(client.cluster.health({ index, level: 'indices' }));
  const shards = health.indices?.[index]?.number_of_shards ?? 0;
  const copies = Math.min(replicas + 1, health.number_of_data_nodes);
  return {
    isWhole: health.status !== 'red',
    active: health.active_shards,
    possible: shards * copies,
    wanted: shards * (replicas + 1),
  };
}

/** Waits until every shard has a copy that can be searched. Throws ShardsLost after `patienceMs`. */
export async function waitUntilWhole(
  elastic: Elastic,
  index: string,
  patienceMs: number,
  onWait: () => void,
): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const copies = await listCopies(elastic, index, 0).catch((error: unknown) => {
      if (!isUnavailable(error) || performance.now() > giveUpAt) throw error;
      return undefined;
    });
    if (copies?.isWhole) return;
    if (performance.now() > giveUpAt) throw new ShardsLost(`${index} lost shards with a node that is not back.`);
    onWait();
    await pause(POLL_MS);
  }
}

/** The delay before a lost node's copies are created on other nodes; null is Elasticsearch's default, a minute. */
const recopiedAfter = (delay: '0s' | null) => ({ 'unassigned.node_left.delayed_timeout': delay });

/**
 * Copies each shard to this many other nodes, and waits until all copies exist. If the cluster has had too few nodes
 * for `patienceMs`, the copies that its nodes can hold are enough. Returns the number of missing copies.
 */
export async function addReplicas(
  elastic: Elastic,
  index: string,
  replicas: number,
  { patienceMs, onWait }: { patienceMs: number; onWait: (share: number) => void },
): Promise<number> {
  const putSettings = (settings: object) => reach(elastic.client.indices.putSettings({ index, settings }));
  if (replicas > 0) await putSettings({ number_of_replicas: replicas, ...recopiedAfter('0s') });
  let fewerSince: number | undefined;
  for (;;) {
    const { isWhole, active, possible, wanted } = await listCopies(elastic, index, replicas);
    if (!isWhole) throw unavailable('Elasticsearch', new ShardsLost(`${index} misses shards.`));
    const hasAll = active >= wanted;
    const isFew = !hasAll && possible < wanted && active >= possible;
    fewerSince = isFew ? (fewerSince ?? performance.now()) : undefined;
    if (hasAll || (fewerSince !== undefined && performance.now() - fewerSince >= patienceMs)) {
      if (replicas > 0) await putSettings(recopiedAfter(null));
      return wanted - active;
    }
    onWait(active / wanted);
    await pause(POLL_MS);
  }
}

export async function deleteIndex({ client }: Elastic, index: string): Promise<void> {
  await reach(client.indices.delete({ index, ignore_unavailable: true }));
}

export function indexExists({ client }: Elastic, index: string): Promise<boolean> {
  return reach(client.indices.exists({ index }));
}

export async function refreshIndex({ client }: Elastic, index: string): Promise<void> {
  await reach(client.indices.refresh({ index }));
}

/** Throws SERVICE_UNAVAILABLE if a shard did not answer. */
function assertComplete(shards: estypes.ShardStatistics | undefined): void {
  if (shards === undefined || shards.failed === 0) return;
  throw unavailable('Elasticsearch', new Error(`${shards.failed} of ${shards.total} shards did not answer.`));
}

export async function countDocuments({ client }: Elastic, index: string): Promise<number> {
  const { count, _shards } = await reach(client.count({ index }));
  assertComplete(_shards);
  return count;
}

export async function getMapping({ client }: Elastic, index: string): Promise<estypes.MappingTypeMapping | undefined> {
  return (await reach(client.indices.getMapping({ index })))[index]?.mappings;
}

/** Reads `_meta` of an index's mapping. */
export async function getMeta({ client }: Elastic, index: string): Promise<Record<string, unknown>> {
  const response = await reach(client.indices.getMapping({ index, filter_path: '*.mappings._meta' }));
  return response[index]?.mappings?._meta ?? {};
}

/** Adds to what the mapping keeps under `_meta`. */
export async function addMeta(elastic: Elastic, index: string, addedMeta: Record<string, unknown>): Promise<void> {
  const _meta = { ...(await getMeta(elastic, index)), ...addedMeta };
  await reach(elastic.client.indices.putMapping({ index, _meta }));
}

/** The version that a mapping names under `_meta`; 1 if it names none. */
export async function getMappingVersion(elastic: Elastic, index: string): Promise<number> {
  const { version } = await getMeta(elastic, index);
  return typeof version === 'number' ? version : 1;
}

const Merged = z.object({
  response: z.object({ _shards: z.object({ failed: z.number(), successful: z.number(), total: z.number() }) }),
});

/** Merges to one segment. This takes minutes on a large index, so it runs as a task that is polled. */
export async function mergeToOneSegment({ client }: Elastic, index: string, onWait: () => void): Promise<void> {
  const mergeTask = await reach(client.indices.forcemerge({ index, max_num_segments: 1, wait_for_completion: false }));
  if (mergeTask.task === undefined) throw new Error('Elasticsearch did not start the merge.');
  const mergeFailure = (reason: string) => unavailable('Elasticsearch', new Error(`The merge failed: ${reason}`));
  for (;;) {
    const response = await reach(client.tasks.get({ task_id: mergeTask.task }, { ignore: [404] }));
    if (!('completed' in response)) throw mergeFailure('its node is gone.');
    if (response.error) throw mergeFailure(response.error.reason ?? response.error.type);
    if (response.completed) {
      assertComplete(Merged.safeParse(response).data?.response._shards);
      return;
    }
    onWait();
    await pause(POLL_MS);
  }
}

/** The index behind an alias, if any. Throws if there are two, because a search could have used either. */
export async function indexBehind({ client }: Elastic, alias: string): Promise<string | undefined> {
  const response = await reach(client.indices.getAlias({ name: alias }, { ignore: [404] }));
  const names = 'error' in response ? [] : Object.keys(response);
  if (names.length > 1) {
    throw new Error(
      `The alias ${alias} points to ${names.length} indices (${names.join(', ')}); it must point to one.`,
    );
  }
  return names[0];
}

/** Moves the alias atomically if it still points to the expected index, and marks the new index as having been live. */
export async function swapAlias(elastic: Elastic, alias: string, from: string | undefined, to: string): Promise<void> {
  const remove = from === undefined || from === to ? [] : [{ remove: { index: from, alias, must_exist: true } }];
  const add = [{ add: { index: to, alias } }, { add: { index: to, alias: keptAlias(alias) } }];
  await once(
    () => elastic.client.indices.updateAliases({ actions: [...remove, ...add] }, ONCE),
    async () => (await indexBehind(elastic, alias)) === to,
  );
}

/** The indices whose names start with `prefix`, and whether each has ever been live under the alias. */
export async function listIndices({ client }: Elastic, prefix: string): Promise<IndexFacts[]> {
  const index = `${prefix}*`;
  const [settings, { indices = {} }] = await Promise.all([
    reach(client.indices.getSettings({ index, name: 'index.creation_date', flat_settings: false })),
    reach(client.indices.stats({ index, metric: ['docs', 'store', 'segments'] })),
  ]);
  return Object.entries(settings).map(([name, { settings: own }]) => {
    const primaries = indices[name]?.primaries;
    return {
      name,
      documents: primaries?.docs?.count ?? 0,
      bytes: primaries?.store?.size_in_bytes ?? 0,
      segments: primaries?.segments?.count ?? 0,
      createdAt: new Date(Number(own?.index?.creation_date ?? 0)),
    };
  });
}

/** The indices that have ever been live under the alias. */
export async function wereLive({ client }: Elastic, alias: string): Promise<Set<string>> {
  const response = await reach(client.indices.getAlias({ name: keptAlias(alias) }, { ignore: [404] }));
  return new Set('error' in response ? [] : Object.keys(response));
}

export interface StoredDocument {
  id: string;
  version: number;
  source: unknown;
}

const BULK_POLL_MS = 50;

/** Waits until no bulk request of the index runs: Elasticsearch completes one whose sender died. */
export async function awaitBulks({ client }: Elastic, index: string): Promise<void> {
  for (;;) {
    const { nodes = {} } = await reach(client.tasks.list({ actions: 'indices:data/write/bulk', detailed: true }));
    const running = Object.values(nodes).flatMap(({ tasks }) => Object.values(tasks));
    if (!running.some(({ description }) => description?.includes(index))) return;
    await pause(BULK_POLL_MS);
  }
}

/** The stored documents with these ids. Missing ones are omitted. */
export async function readDocuments({ client }: Elastic, index: string, ids: string[]): Promise<StoredDocument[]> {
  if (ids.length === 0) return [];
  const { docs } = await reach(client.mget({ index, ids }));
  const failedDocument = docs.find((doc) => 'error' in doc);
  if (failedDocument)
    throw unavailable('Elasticsearch', new Error(`Document ${failedDocument._id} could not be read.`));
  return docs.flatMap((doc) =>
    'found' in doc && doc.found ? [{ id: doc._id, version: doc._version ?? 0, source: doc._source }] : [],
  );
}

/** Documents picked at random. */
export async function sampleDocuments({ client }: Elastic, index: string, size: number): Promise<StoredDocument[]> {
  const { hits } = await reach(
    client.search({
      index,
      size,
      version: true,
      allow_partial_search_results: false,
      query: { function_score: { functions: [{ random_score: {} }] } },
    }),
  );
  return hits.hits.map((hit) => ({ id: hit._id ?? '', version: hit._version ?? 0, source: hit._source }));
}
