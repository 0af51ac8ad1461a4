import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Cluster, Redis as Server } from 'ioredis';
import { ApiError, ignoreFailure, unavailable } from '../../values/errors.ts';
import { span } from '../../values/tracing.ts';
import { readAddress } from './address.ts';
import { openClient } from './clients.ts';
import { PatientCluster } from './patient-client.ts';

export interface RedisOptions {
  /** Timeout of every command, so that a hanging Redis delays a request no longer than this. */
  timeoutMs?: number;
  onError?: (error: Error) => void;
}

type Client = Server | Cluster;

type Argument = string | number;

export type Script = (keys: string[], args: Argument[]) => Promise<unknown>;

export interface Redis {
  /** Keys of one command or script share a hash tag, and a pipeline has keys of one tag only: on a cluster they are on one node. */
  client: Client;
  /** Makes a Lua script a function of its keys and arguments. It takes one round trip and is loaded on first use. */
  script(lua: string): Script;
  /** Runs commands. Throws SERVICE_UNAVAILABLE when Redis cannot be reached. */
  use<T>(commands: (client: Client) => Promise<T>): Promise<T>;
  /** Resolves when connected. Throws SERVICE_UNAVAILABLE if that takes longer than `waitMs`. */
  ready(waitMs?: number): Promise<void>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

const REDIS = { 'db.system.name': 'redis' };

export function openRedis(url: string, options: RedisOptions = {}): Redis {
  const client: Client = openClient(readAddress(url), options.timeoutMs ?? 1_000);
  client.on('error', (error: Error) => options.onError?.(error));
  client.connect().catch(ignoreFailure('the retry strategy keeps connecting; commands fail at once until then'));

  const use = async <T>(commands: (client: Client) => Promise<T>): Promise<T> => {
    try {
      return await span('redis', { kind: 'client', attributes: REDIS }, () => commands(client));
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (
        error instanceof Error &&
        error.name === 'ReplyError' &&
        !/^(LOADING|READONLY|MISCONF|OOM|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS)/.test(error.message)
      ) {
        throw error;
      }
      throw unavailable('Redis', error);
    }
  };

  return {
    client,
    use,
    script: (lua) => {
      const sha = createHash('sha1').update(lua).digest('hex');
      const send = async (keys: string[], args: Argument[]) => {
        try {
          return await client.evalsha(sha, keys.length, ...keys, ...args);
        } catch (error) {
          if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
          return await client.eval(lua, keys.length, ...keys, ...args);
        }
      };
      return (keys, args) => use(() => send(keys, args));
    },
    ready: async (waitMs = 5_000) => {
      const deadline = AbortSignal.timeout(waitMs);
      // A connection that fails in the meantime is retried.
      while (client.status !== 'ready') {
        await once(client, 'ready', { signal: deadline }).catch(async (error: unknown) => {
          if (!deadline.aborted) return;
          // Data that arrived while the process was blocked is read first, as for commands.
          await new Promise(setImmediate);
          if (client.status !== 'ready') throw unavailable('Redis', error);
        });
      }
    },
    ping: async () => void (await (client instanceof PatientCluster ? client.pingPrimaries() : client.ping())),
    close: async () => {
      await client.quit().catch(() => client.disconnect());
    },
  };
}

/** True if a failed command may have run. Only a command that never left this process certainly did not. */
export function mayHaveRun(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return !(cause instanceof Error && /isn't (?:writeable|ready)/.test(cause.message));
}
