import { globSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { expect, inject } from 'vitest';
import { engineUrls, unique } from './app.ts';
import { REDIS_OF_A_FILE, REDIS_OF_AN_ATTEMPT } from './kit/redis-databases.ts';

const ROOT = path.join(import.meta.dirname, '../..');

export interface TestDatabase {
  url: string;
  /** A session of the test's own. */
  open(): Promise<pg.Client>;
  drop(): Promise<void>;
}

async function create(prefix: string, template?: string): Promise<TestDatabase> {
  const name = unique(prefix).replace('-', '_');
  const admin = new pg.Client(engineUrls().postgres);
  await admin.connect();
  await admin.query(`create database ${name}${template === undefined ? '' : ` template ${template}`}`);
  const url = new URL(engineUrls().postgres);
  url.pathname = name;
  return {
    url: url.href,
    open: async () => {
      const client = new pg.Client(url.href);
      await client.connect();
      return client;
    },
    drop: async () => {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

/** A migrated database of its own, for what works on the rows of all brands or locks whole tables. */
export const makeDatabase = (prefix: string): Promise<TestDatabase> => create(prefix, inject('template'));

/** A copy of another as it is now, to which nobody may be connected. */
export const copyDatabase = (prefix: string, of: TestDatabase): Promise<TestDatabase> =>
  create(prefix, new URL(of.url).pathname.slice(1));

/** One without a table. */
export const makeEmptyDatabase = (prefix: string): Promise<TestDatabase> => create(prefix);

/** A Redis database of the test file, for a test that drains queues or counts what is in them; `slot` 1 is another. */
export function ownRedis(slot: 0 | 1 = 0): string {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).sort();
  const file = files.indexOf(path.relative(ROOT, expect.getState().testPath ?? ''));
  if (file === -1 || file * REDIS_OF_A_FILE >= REDIS_OF_AN_ATTEMPT)
    throw new Error('There is no Redis database for this file.');
  const url = new URL(engineUrls().redis);
  url.pathname = `/${1 + inject('attempt') * REDIS_OF_AN_ATTEMPT + file * REDIS_OF_A_FILE + slot}`;
  return url.href;
}
