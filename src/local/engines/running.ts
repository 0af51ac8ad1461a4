import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Config } from '../../kit/values/config.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { makeSecretOnce } from '../../kit/values/secrets.ts';
import { Identity, isAlive, readIdentity } from './alive.ts';
import { ENGINE_NAMES, type EngineName } from './engine.ts';
import { hasDatabase } from './postgres.ts';
import { type EmbeddedEngines, startEmbedded } from './start.ts';

const Announcement = z.object({
  server: Identity,
  /** The URL that the server listens on; missing until it does. */
  url: z.string().exactOptional(),
  /** The URL of its links host. */
  linksUrl: z.string().exactOptional(),
  urls: z.object({
    postgres: z.string().exactOptional(),
    redis: z.string().exactOptional(),
    elasticsearch: z.string().exactOptional(),
    clickhouse: z.string().exactOptional(),
  }),
});

/** The data folder of `npm start`. */
const SERVER_DATA = 'data';

const fileIn = (directory: string) => path.join(directory, 'engines.json');

type RunningStack = Omit<z.infer<typeof Announcement>, 'server'>;

async function readAnnouncement(file: string): Promise<z.infer<typeof Announcement> | undefined> {
  const stat = await lstat(file).catch(ignoreFailure('no server is running'));
  if (!stat?.isFile() || stat.uid !== (process.getuid?.() ?? stat.uid)) return undefined;
  try {
    return Announcement.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** A server that runs on this folder, and its engines; undefined unless its file is ours and its process is alive. */
export async function findRunning(directory: string): Promise<RunningStack | undefined> {
  const announcement = await readAnnouncement(fileIn(directory));
  if (!announcement || !isAlive(announcement.server)) return undefined;
  const { server: _server, ...running } = announcement;
  return running;
}

/**
 * Records this process and its engines, so that `cli`, `indexer` and `bench` find them. The returned function removes
 * the record.
 */
export async function announceRunning(directory: string, running: RunningStack): Promise<() => Promise<void>> {
  const file = fileIn(directory);
  const draft = `${file}.${process.pid}`;
  await mkdir(directory, { recursive: true });
  await rm(draft, { force: true });
  const announcement = { server: readIdentity(process.pid), ...running };
  await writeFile(draft, `${JSON.stringify(announcement, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(draft, file);
  return async () => {
    const current = await readAnnouncement(file);
    if (current?.server.pid === process.pid) await rm(file, { force: true });
  };
}

export interface ResolvedEngines {
  urls: Record<EngineName, string | undefined>;
  /** The URL of the server that runs on the same PostgreSQL, if known. */
  serverUrl: string | undefined;
  /** The URL of its links host. */
  linksUrl: string | undefined;
  /** The engines that this call started. */
  embedded: EmbeddedEngines | undefined;
  /** Stops only what this call started. */
  stop(): Promise<void>;
}

/** The URL of each engine needed: the configured one, or a running server's, or that of an engine started now. */
export async function resolveEngines(
  config: Config,
  need: readonly EngineName[],
  options: {
    dataName?: string;
    /** Default: true. False if a running server's data must not be touched. */
    reuseRunning?: boolean;
    elasticsearchHeapMb?: number;
    later?: readonly EngineName[];
    revives?: boolean;
    report: (line: string) => void;
  },
): Promise<ResolvedEngines> {
  const running = (options.reuseRunning ?? true) ? await findRunning(config.directory) : undefined;
  const toUrl = (name: EngineName) => config.urls[name] ?? running?.urls[name];
  const only = ENGINE_NAMES.filter((name) => need.includes(name) && !toUrl(name));
  if (only.includes('postgres')) {
    // The server's data counts even if other engines are used, because both have the same secret.
    const dataNames = [SERVER_DATA, options.dataName ?? SERVER_DATA];
    makeSecretOnce(
      config,
      dataNames.some((name) => hasDatabase(config.directory, name)),
    );
  }
  const embedded =
    only.length === 0
      ? undefined
      : await startEmbedded({
          directory: config.directory,
          dataName: options.dataName ?? SERVER_DATA,
          only,
          elasticsearchHeapMb: options.elasticsearchHeapMb ?? 512,
          java: config.java,
          later: options.later ?? [],
          revives: options.revives ?? false,
          report: options.report,
        });
  const server = toUrl('postgres') === running?.urls.postgres ? running : undefined;
  const resolveUrl = (name: EngineName) => toUrl(name) ?? embedded?.urls[name];
  return {
    urls: {
      postgres: resolveUrl('postgres'),
      redis: resolveUrl('redis'),
      elasticsearch: resolveUrl('elasticsearch'),
      clickhouse: resolveUrl('clickhouse'),
    },
    serverUrl: server?.url,
    linksUrl: server?.linksUrl,
    embedded,
    stop: async () => {
      await embedded?.stop();
    },
  };
}
