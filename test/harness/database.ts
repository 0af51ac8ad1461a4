import pg from 'pg';
import { inject } from 'vitest';
import { engineUrls, unique } from './app.ts';

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

/** One without a table. */
export const makeEmptyDatabase = (prefix: string): Promise<TestDatabase> => create(prefix);
