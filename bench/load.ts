import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

/** Searches in flight on every side: with more, neither side is faster (raw from 16 on, the API from 32). */
export const CONNECTIONS = 32;

/** Linux counts a process's CPU time in ticks of a hundredth of a second. */
const TICKS_PER_SECOND = 100;

export interface Shot {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

/** One side of a comparison: the target of requests, and the headers of each. */
export interface Target {
  pool: Pool;
  headers: () => Record<string, string>;
}

export interface Volley {
  /** Successful requests per second. */
  perSecond: number;
  sent: number;
  errors: number;
  /** The number of responses with each status other than 200; 0 means no response. */
  refusals: Record<number, number>;
  latenciesMs: number[];
}

export function openTarget(url: string, headers: Target['headers']): Target {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1, keepAliveTimeout: 60_000 });
  return { pool, headers };
}

function send(target: Target, shot: Shot, done: (status: number) => void): void {
  let status = 0;
  const { method, path, body } = shot;
  target.pool.dispatch(
    { method, path, headers: target.headers(), ...(body === undefined ? {} : { body }) },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, statusCode) => {
        status = statusCode;
      },
      onResponseData: () => {},
      onResponseEnd: () => done(status),
      onResponseError: () => done(0),
    },
  );
}

/**
 * Closed loop: always CONNECTIONS requests in flight. Sends every shot once or, with `forMs`, repeatedly for that long.
 * Responses are read completely and discarded, at the same small cost on every side.
 */
export function volley(target: Target, shots: readonly Shot[], forMs?: number): Promise<Volley> {
  return new Promise((resolve) => {
    const latenciesMs: number[] = [];
    const start = performance.now();
    let sent = 0;
    let errors = 0;
    const refusals: Record<number, number> = {};
    const hasNext = () => (forMs === undefined ? sent < shots.length : performance.now() - start < forMs);
    const fire = () => {
      const shot = shots[sent % shots.length];
      if (!shot) return;
      sent += 1;
      const from = performance.now();
      send(target, shot, (status) => {
        const now = performance.now();
        if (status === 200) latenciesMs.push(now - from);
        else {
          errors += 1;
          refusals[status] = (refusals[status] ?? 0) + 1;
        }
        if (hasNext()) fire();
        else if (latenciesMs.length + errors === sent) {
          resolve({ perSecond: (latenciesMs.length * 1000) / (now - start), sent, errors, refusals, latenciesMs });
        }
      });
    };
    for (let i = 0; i < CONNECTIONS && hasNext(); i += 1) fire();
  });
}

/** Measures one request at a time: how long a search takes on an otherwise idle machine. */
export async function latencyMs(target: Target, shot: Shot): Promise<number> {
  const from = performance.now();
  const status = await new Promise<number>((resolve) => send(target, shot, resolve));
  if (status !== 200) throw new Error(`${shot.method} ${shot.path} answered ${status}.`);
  return performance.now() - from;
}

export async function readJson(target: Target, shot: Shot): Promise<unknown> {
  const { method, path, body } = shot;
  const headers = target.headers();
  const answer = await target.pool.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text);
}

/** User and system time that a process has used so far, in all threads. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/**
 * Runs the sides in turn, `rounds` times, each round in a different order, so that a slow machine or a slow first run
 * affects every side alike. Results are in the order of the given sides.
 */
export async function alternate<Result>(
  rounds: number,
  sides: readonly (() => Promise<Result>)[],
): Promise<Result[][]> {
  const results: Result[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < sides.length; turn += 1) {
      const side = (round % 2 === 0 ? turn : sides.length - 1 - turn) % sides.length;
      const result = await sides[side]?.();
      if (result !== undefined) results[side]?.push(result);
    }
  }
  return results;
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * (percent / 100);
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

export const median = (values: readonly number[]): number => percentile(values, 50);

/** The median of the ratios of each round. */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]): number {
  return median(numerators.map((value, round) => value / (denominators[round] ?? Number.NaN)));
}
