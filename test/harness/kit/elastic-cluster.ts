import path from 'node:path';
import type { Elastic } from '../../../src/kit/engines/elastic/open.ts';
import { elasticsearch } from '../../../src/local/engines/elasticsearch.ts';
import { writeForEngine } from '../../../src/local/engines/folder.ts';
import { findFreePort } from '../../../src/local/engines/port.ts';
import { longDeadlineMs } from '../../run/deadline.ts';
import { until } from '../app.ts';
import { type ClusterNodes, startNodes } from './cluster.ts';

const NODES = 3;

/** The embedded Elasticsearch as one node of a cluster. */
const nodeOf = (name: string, names: string[], port: number, ports: number[]): typeof elasticsearch => ({
  ...elasticsearch,
  // A node is ready once it has joined: `untilNodes` waits for the shards.
  isReady: async (port) =>
    (await fetch(`http://127.0.0.1:${port}/_cluster/health?timeout=1s`, { signal: AbortSignal.timeout(5_000) })).ok,
  readyWithinMs: longDeadlineMs,
  prepare: async (seat) => {
    await elasticsearch.prepare(seat);
    const lines = [
      `cluster.name: rollcall-${ports.join('-')}`,
      `node.name: ${name}`,
      `cluster.initial_master_nodes: ${JSON.stringify(names)}`,
      `discovery.seed_hosts: ${JSON.stringify(ports.map((one) => `127.0.0.1:${one}`))}`,
      'network.host: 127.0.0.1',
      `transport.port: ${port}`,
      `http.port: ${seat.port}`,
      `path.data: ${seat.data}/data`,
      `path.logs: ${seat.data}/logs`,
      'xpack.security.enabled: false',
      'cluster.routing.allocation.disk.threshold_enabled: false',
      'xpack.inference.elastic.authorization.enabled: false',
      'indices.breaker.total.use_real_memory: false',
    ];
    writeForEngine(path.join(seat.data, 'config/elasticsearch.yml'), `${lines.join('\n')}\n`);
    // What runs for a minute spends half of its CPU on compiling what it will not use again.
    writeForEngine(path.join(seat.data, 'config/jvm.options.d/short-lived.options'), '-XX:TieredStopAtLevel=1\n');
  },
});

export interface ElasticCluster extends ClusterNodes {
  /** For `ELASTICSEARCH_URL`. */
  urls: string;
}

/** Three nodes with 512 MB of heap each. */
export async function startElasticCluster(): Promise<ElasticCluster> {
  const ports: number[] = [];
  while (ports.length < NODES) ports.push(await findFreePort());
  const names = ports.map((_, i) => `node-${i}`);
  const cluster = await startNodes(
    'elasticsearch',
    ports.map((port, i) => nodeOf(names[i] ?? '', names, port, ports)),
  );
  return { ...cluster, urls: cluster.nodes.map(({ url }) => url).join(',') };
}

/** Resolves when the cluster has this many nodes and, if they are all there, every copy of every shard. */
export async function untilNodes({ client }: Elastic, count: number): Promise<void> {
  const isSo = async () => {
    const health = await client.cluster.health().catch(() => undefined);
    return health?.number_of_nodes === count && (count < NODES || health.status === 'green');
  };
  await until(`${count} nodes`, isSo, longDeadlineMs);
}
