import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Context } from '../src/kit/operation/context.ts';
import type { Server } from './children.ts';
import { cpuSecondsOf } from './load.ts';

const PAUSE_MS = 50;

/** Calls by name that the brand's people, stores and integrations make beside what is measured. */
export type Calls = Readonly<Record<string, (turn: number) => { path: string; body?: object }>>;

export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

export type Latencies = Record<string, number[]>;

/** Makes each call in turn, one at a time, until `isOver`. */
export async function callOthers(
  api: Server,
  nextKey: () => string,
  made: Calls,
  isOver: () => boolean,
): Promise<Latencies> {
  const latencies: Latencies = Object.fromEntries(Object.keys(made).map((name) => [name, []]));
  for (let turn = Date.now(); !isOver(); turn += 1) {
    for (const [name, make] of Object.entries(made)) {
      const { path, body } = make(turn);
      const from = performance.now();
      const { status } = await request(api, nextKey(), path, body);
      if (status >= 300) throw new Error(`${path} answered ${status}.`);
      latencies[name]?.push(performance.now() - from);
      await pause(PAUSE_MS);
    }
  }
  return latencies;
}

export async function request({ url }: Server, key: string, path: string, body?: object) {
  const answer = await fetch(`${url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await answer.text();
  return { status: answer.status, text };
}

/** CPU seconds of PostgreSQL's sessions, without those that have ended. */
export async function postgresCpu({ postgres }: Context): Promise<number> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database()`.execute(postgres.db);
  return rows.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0);
}

export function countdown(ms: number): () => boolean {
  const until = performance.now() + ms;
  return () => performance.now() >= until;
}
