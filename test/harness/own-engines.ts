import { rm } from 'node:fs/promises';
import path from 'node:path';
import { readConfig } from '../../src/config.ts';
import type { Engine, EngineName } from '../../src/local/engines/engine.ts';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { type EmbeddedEngines, startEmbedded } from '../../src/local/engines/start.ts';

/** Engines that a test may kill, beside those of all tests. */
export async function startOwnEngines(
  dataName: string,
  only: readonly EngineName[],
  engines: Partial<Record<EngineName, Engine>> = {},
): Promise<EmbeddedEngines> {
  const { directory, java } = readConfig();
  const report = () => undefined;
  return await startEmbedded({ directory, dataName, only, engines, elasticsearchHeapMb: 512, java, report });
}

/** Of such engines, once they are stopped. */
export const removeEngineData = (dataName: string): Promise<void> =>
  rm(path.join(engineFolder(readConfig().directory), dataName), {
    ...{ recursive: true, force: true, maxRetries: 10, retryDelay: 100 },
  });
