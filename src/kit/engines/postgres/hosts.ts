import type { PostgresPool } from 'kysely';
import type pg from 'pg';
import { IsStandby } from './session.ts';

const HOSTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/;

/** The URL of each host of `postgres://user@first:5432,second:5432/database`. */
export function splitHosts(url: string): string[] {
  const [, scheme, hosts = '', rest = ''] = HOSTS.exec(url) ?? [];
  if (scheme === undefined) return [url];
  return hosts.split(',').map((host) => `${scheme}${host}${rest}`);
}

/** No connection of the pool became free in time. That says nothing about the host. */
const isBusy = (error: unknown) =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect';

export interface Hosts {
  areSeveral: boolean;
  /** The URL for the next new connection. */
  url(): string;
  /** Keeps track of the existing connections. */
  opened(client: pg.ClientBase): void;
  /** Replaces every connection, because its server may no longer accept writes. */
  distrust(): void;
  /** Takes connections of the pool from the host that answers and, if one is needed, is the primary. */
  over(pool: pg.Pool): PostgresPool;
}

export function openHosts(url: string): Hosts {
  const urls = splitHosts(url);
  const ages = new WeakMap<object, number>();
  let age = 0;
  let at = 0;
  const current = () => urls[at] ?? url;
  return {
    areSeveral: urls.length > 1,
    url: current,
    opened: (client) => void ages.set(client, age),
    distrust: () => {
      age += 1;
    },
    over: (pool) => {
      async function connect(tries: number): ReturnType<PostgresPool['connect']> {
        const triedAt = at;
        pool.options.connectionString = current();
        try {
          const client = await pool.connect();
          if (ages.get(client) === age) return client;
          client.release(true);
          return await connect(tries);
        } catch (error) {
          if (urls.length === 1 || tries === urls.length || isBusy(error)) throw error;
          if (at === triedAt) at = (at + 1) % urls.length;
        }
        return await connect(tries + 1);
      }
      return { options: pool.options, connect: () => connect(1), end: () => pool.end() };
    },
  };
}

export const isStandby = (error: unknown): boolean => error instanceof IsStandby;
