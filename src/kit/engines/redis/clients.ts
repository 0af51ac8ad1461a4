import { Cluster } from 'ioredis';
import { ignoreFailure } from '../../values/errors.ts';
import { describeAddress, isReplica, type RedisAddress } from './address.ts';
import { PatientClient, PatientCluster } from './patient-client.ts';

/** A cluster reports its slots this often, so that a failover is noticed without traffic. */
const SLOTS_EVERY_MS = 2_000;

/** A connection whose commands fail when they cannot be sent or are not answered in time. */
export function openClient(address: RedisAddress, timeoutMs: number): PatientClient | PatientCluster {
  const options = {
    connectTimeout: 1_000,
    maxRetriesPerRequest: 0,
    // A debit whose response was lost must not be sent again.
    autoResendUnfulfilledCommands: false,
  };
  const retry = (attempt: number) => Math.min(50 * attempt, 500);
  if (address.kind === 'cluster') {
    return new PatientCluster(address.nodes, timeoutMs, {
      enableOfflineQueue: false,
      clusterRetryStrategy: retry,
      slotsRefreshInterval: SLOTS_EVERY_MS,
      // Neither is sent again here: the first may have run, and callers do not wait for the second.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      lazyConnect: true,
      redisOptions: { ...address.access, ...options },
    });
  }
  return new PatientClient(address.kind === 'server' ? address.url : undefined, timeoutMs, {
    ...options,
    ...describeAddress(address),
    lazyConnect: true,
    // A command sent while disconnected fails at once, because callers can continue without Redis.
    enableOfflineQueue: false,
    retryStrategy: retry,
    reconnectOnError: isReplica,
  });
}

/** A cluster's connection for BullMQ, whose commands wait for a failover instead of failing. */
export function openWaitingCluster(
  { nodes, access }: RedisAddress,
  options: { connectTimeout: number; maxRetriesPerRequest: number | null },
): Cluster {
  const cluster = new Cluster(nodes, {
    slotsRefreshInterval: SLOTS_EVERY_MS,
    redisOptions: { ...access, ...options },
  });
  cluster.on('error', ignoreFailure('commands report failures themselves'));
  return cluster;
}
