import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Redis as Client } from 'ioredis';
import { ApiError, ignoreFailure, unavailable } from '../../values/errors.ts';
import { PatientClient } from './patient-client.ts';

export interface RedisOptions {
  /** Bounds every command, so that a Redis that hangs costs a request this long and no longer. */
  timeoutMs?: number;
  onError?: (error: Error) => void;
}

type Argument = string | number;

export type Script = (keys: string[], args: Argument[]) => Promise<unknown>;

export interface Redis {
  client: Client;
  /** A Lua script as a function of its keys and arguments: one round trip, loaded on first use. */
  script(lua: string): Script;
  /** Runs commands and turns a Redis that cannot be reached into SERVICE_UNAVAILABLE. */
  use<T>(commands: (client: Client) => Promise<T>): Promise<T>;
  /** Resolves when connected; SERVICE_UNAVAILABLE when that takes longer than `waitMs`. */
  ready(waitMs?: number): Promise<void>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export function openRedis(url: string, options: RedisOptions = {}): Redis {
  const client: Client = new PatientClient(url, options.timeoutMs ?? 1_000, {
    connectTimeout: 1_000,
    // A command sent while disconnected fails at once: the caller has a way to go on without Redis.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // A debit whose answer was lost must not be sent a second time.
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(50 * attempt, 500),
    lazyConnect: true,
  });
  client.on('error', (error: Error) => options.onError?.(error));
  client.connect().catch(ignoreFailure('the retry strategy goes on connecting; commands fail at once until then'));

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
      // A connection that fails meanwhile is tried again.
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

/** Whether a command that failed may have run: only one that never left this process surely did not. */
export function mayHaveRun(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return !(cause instanceof Error && cause.message.includes("isn't writeable"));
}
