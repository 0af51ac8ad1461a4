import { rm } from 'node:fs/promises';
import path from 'node:path';
import { readConfig } from '../../../src/config.ts';
import type { Engine, EngineName } from '../../../src/local/engines/engine.ts';
import { engineFolder } from '../../../src/local/engines/folder.ts';
import { type EmbeddedEngines, startEmbedded } from '../../../src/local/engines/start.ts';

/** Elasticsearch alone takes more than two minutes to start on a machine that has ten times as much to do. */
export const ENGINE_PATIENCE = 5;

/** Engines that a test may kill, beside those of all tests. */
export async function startOwnEngines(
  dataName: string,
  only: readonly EngineName[],
  engines: Partial<Record<EngineName, Engine>> = {},
): Promise<EmbeddedEngines> {
  const { directory, java } = readConfig();
  const report = () => undefined;
  const how = { elasticsearchHeapMb: 512, java, patience: ENGINE_PATIENCE, report };
  return await startEmbedded({ directory, dataName, only, engines, ...how });
}

/** Of such engines, once they are stopped. */
export const removeEngineData = (dataName: string): Promise<void> =>
  rm(path.join(engineFolder(readConfig().directory), dataName), {
    ...{ recursive: true, force: true, maxRetries: 10, retryDelay: 100 },
  });
