import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Redis as Client } from 'ioredis';
import { ApiError, ignoreFailure, unavailable } from '../../values/errors.ts';
import { PatientClient } from './patient-client.ts';

export interface RedisOptions {
  /** Timeout of every command, so that a hanging Redis delays a request no longer than this. */
  timeoutMs?: number;
  onError?: (error: Error) => void;
}

type Argument = string | number;

export type Script = (keys: string[], args: Argument[]) => Promise<unknown>;

export interface Redis {
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

/** A primary that became a replica keeps its connections; only a new connection leads to the new primary. */
export const isReplica = (error: Error): boolean => error.message.startsWith('READONLY');

export function openRedis(url: string, options: RedisOptions = {}): Redis {
  const client: Client = new PatientClient(url, options.timeoutMs ?? 1_000, {
    connectTimeout: 1_000,
    // A command sent while disconnected fails at once, because callers can continue without Redis.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // A debit whose response was lost must not be sent again.
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(50 * attempt, 500),
    reconnectOnError: isReplica,
    lazyConnect: true,
  });
  client.on('error', (error: Error) => options.onError?.(error));
  client.connect().catch(ignoreFailure('the retry strategy keeps connecting; commands fail at once until then'));

  const use = async <T>(commands: (client: Client) => Promise<T>): Promise<T> => {
    try {
      return await commands(client);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (
        error instanceof Error &&
        error.name === 'ReplyError' &&
        !/^(LOADING|READONLY|MISCONF|OOM|CLUSTERDOWN|TRYAGAIN)/.test(error.message)
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
      // A connection that fails meanwhile is retried.
      while (client.status !== 'ready') {
        await once(client, 'ready', { signal: deadline }).catch((error: unknown) => {
          if (deadline.aborted) throw unavailable('Redis', error);
        });
      }
    },
    ping: async () => void (await client.ping()),
    close: async () => {
      await client.quit().catch(() => client.disconnect());
    },
  };
}

/** Whether a failed command may have run. Only a command that never left this process certainly did not. */
export function mayHaveRun(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return !(cause instanceof Error && cause.message.includes("isn't writeable"));
}
