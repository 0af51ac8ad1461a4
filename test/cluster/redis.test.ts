import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeCluster } from '../harness/cluster.ts';
import { type RedisCluster, startRedisCluster } from '../harness/redis-cluster.ts';

describeCluster('Redis Cluster of three primaries with a replica each', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster?.stop());

  it('is started by the tests, serves every slot and has a copy of each', async () => {
    const infos = await Promise.all(cluster.nodes.map((node) => cluster.on(node, 'CLUSTER', 'INFO')));
    expect(infos.filter((info) => info.includes('cluster_slots_ok:16384'))).toHaveLength(6);
  });
});
