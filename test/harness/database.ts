import pg from 'pg';
import { engineUrls, unique } from './app.ts';

export interface TestDatabase {
  url: string;
  /** A session of the test's own. */
  open(): Promise<pg.Client>;
  drop(): Promise<void>;
}

/** An empty database of its own, for what works on the rows of all brands or locks whole tables. */
export async function makeDatabase(prefix: string): Promise<TestDatabase> {
  const name = unique(prefix).replace('-', '_');
  const admin = new pg.Client(engineUrls().postgres);
  await admin.connect();
  await admin.query(`create database ${name}`);
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
