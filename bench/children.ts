import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Config } from '../src/kit/values/config.ts';
import { findFreePort } from '../src/local/engines/port.ts';
import { dyingWithParent } from '../src/local/engines/process.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';

const ROOT = path.join(import.meta.dirname, '..');
/** Shared by every process of a bench, because one reads what another mints. */
export const SECRET = 'be'.repeat(32);
const READY_WITHIN_MS = 120_000;

/** The environment of a project process that runs on the bench's engines. */
export function environmentOf(config: Config, urls: EngineUrls): Record<string, string> {
  return {
    PATH: config.java.searchPath,
    ROLLCALL_DIR: config.directory,
    LOG_LEVEL: 'error',
    ROLLCALL_SECRET: SECRET,
    ASSETS_URL: 'local',
    SMTP_URL: 'local',
    DATABASE_URL: urls.postgres,
    REDIS_URL: urls.redis,
    ELASTICSEARCH_URL: urls.elasticsearch,
    CLICKHOUSE_URL: urls.clickhouse,
  };
}

/** Starts a script of this project as a separate process, which ends with this one. The caller must read its output. */
export function startNode(
  args: readonly string[],
  env: Record<string, string>,
  stdin: 'ignore' | 'pipe' = 'ignore',
): ChildProcess {
  const wrapped = dyingWithParent(process.execPath, [...args], 'TERM');
  return spawn(wrapped.command, wrapped.args, { cwd: ROOT, env, stdio: [stdin, 'pipe', 'pipe'] });
}

export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

export async function stopNode(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await exitOf(child);
}

const KEPT_CHARACTERS = 2_000;

/** Reads everything that a process prints and keeps the end of it, for an error message. */
export function lastWords(child: ChildProcess): () => string {
  let words = '';
  const keep = (chunk: Buffer) => {
    words = `${words}${chunk}`.slice(-KEPT_CHARACTERS);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  return () => words;
}

export interface Server {
  url: string;
  /** The URL of its links host, if it has one. */
  links: string;
  pid: number;
  readyAfterMs: number;
  stop(): Promise<void>;
}

/** The address of an engine that a bench does without. */
export const NOWHERE = 'http://127.0.0.1:9';

const Starting = z.object({ waiting_for: z.array(z.string()) });

/** True if a process answers /readyz, and on its first start waits for nothing but engines that the bench does without. */
async function isReady(url: string, env: Record<string, string>): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`);
    if (answer.ok) return true;
    const { waiting_for } = Starting.parse(await answer.json());
    return waiting_for.every((engine) => env[`${engine.toUpperCase()}_URL`] === NOWHERE);
  } catch {
    return false;
  }
}

/** Starts a process that listens on PORT or on the port among its arguments, and waits until it answers /readyz. */
export async function startServer(argsOn: (port: number) => string[], env: Record<string, string>): Promise<Server> {
  const [port, linksPort] = [await findFreePort(), await findFreePort()];
  const [url, links] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${linksPort}`];
  const from = performance.now();
  const child = startNode(argsOn(port), { ...env, PORT: String(port), LINKS_PORT: String(linksPort) });
  const said = lastWords(child);
  for (;;) {
    if (await isReady(url, env)) break;
    if (child.exitCode !== null) throw new Error(`${argsOn(port).join(' ')} ended with ${child.exitCode}:\n${said()}`);
    if (performance.now() - from > READY_WITHIN_MS)
      throw new Error(`${argsOn(port).join(' ')} did not become ready in time:\n${said()}`);
    await pause(25);
  }
  return { url, links, pid: child.pid ?? 0, readyAfterMs: performance.now() - from, stop: () => stopNode(child) };
}
