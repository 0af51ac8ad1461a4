import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { ignoreFailure } from '../../errors.ts';
import { Identity, identityOf, isAlive } from './alive.ts';
import { ENGINE_NAMES, type EngineName } from './engine.ts';
import { type EmbeddedEngines, startEmbedded } from './start.ts';

type EngineUrls = Partial<Record<EngineName, string>>;

const Announcement = z.object({
  server: Identity,
  urls: z.object({
    postgres: z.string().exactOptional(),
    redis: z.string().exactOptional(),
    elasticsearch: z.string().exactOptional(),
    clickhouse: z.string().exactOptional(),
  }),
});

const fileIn = (directory: string) => path.join(directory, 'engines.json');

async function readAnnouncement(file: string): Promise<z.infer<typeof Announcement> | undefined> {
  const stat = await lstat(file).catch(ignoreFailure('no server has announced itself'));
  if (!stat?.isFile() || stat.uid !== (process.getuid?.() ?? stat.uid)) return undefined;
  try {
    return Announcement.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** The engines of a server running on this folder, or undefined: its file must be ours and its process alive. */
export async function findRunning(directory: string): Promise<EngineUrls | undefined> {
  const announcement = await readAnnouncement(fileIn(directory));
  return announcement && isAlive(announcement.server) ? announcement.urls : undefined;
}

/** Lets `cli`, `indexer` and `bench` find this process's engines. The function it gives takes that back. */
export async function announceRunning(directory: string, urls: EngineUrls): Promise<() => Promise<void>> {
  const file = fileIn(directory);
  const draft = `${file}.${process.pid}`;
  await mkdir(directory, { recursive: true });
  await rm(draft, { force: true });
  const announcement = { server: identityOf(process.pid), urls };
  await writeFile(draft, `${JSON.stringify(announcement, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(draft, file);
  return async () => {
    const current = await readAnnouncement(file);
    if (current?.server.pid === process.pid) await rm(file, { force: true });
  };
}

export interface ResolvedEngines {
  urls: Record<EngineName, string | undefined>;
  /** The engines that this call started. */
  embedded: EmbeddedEngines | undefined;
  /** Ends only what this call started. */
  stop(): Promise<void>;
}

/** Each needed engine's URL: the configured one, else a running server's, else that of an engine started now. */
export async function resolveEngines(
  config: Config,
  need: readonly EngineName[],
  options: {
    dataName?: string;
    /** Default: true. False for what must not touch a running server's data. */
    reuseRunning?: boolean;
    elasticsearchHeapMb?: number;
    report: (line: string) => void;
  },
): Promise<ResolvedEngines> {
  const running = (options.reuseRunning ?? true) ? await findRunning(config.directory) : undefined;
  const urlOf = (name: EngineName) => config.urls[name] ?? running?.[name];
  const only = ENGINE_NAMES.filter((name) => need.includes(name) && !urlOf(name));
  const embedded =
    only.length === 0
      ? undefined
      : await startEmbedded({
          directory: config.directory,
          dataName: options.dataName ?? 'data',
          only,
          elasticsearchHeapMb: options.elasticsearchHeapMb ?? 512,
          java: config.java,
          report: options.report,
        });
  const known = (name: EngineName) => urlOf(name) ?? embedded?.urls[name];
  return {
    urls: {
      postgres: known('postgres'),
      redis: known('redis'),
      elasticsearch: known('elasticsearch'),
      clickhouse: known('clickhouse'),
    },
    embedded,
    stop: async () => {
      await embedded?.stop();
    },
  };
}
