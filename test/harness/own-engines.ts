import { rm } from 'node:fs/promises';
import path from 'node:path';
import { readConfig } from '../../src/config.ts';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { type EmbeddedEngines, startEmbedded } from '../../src/local/engines/start.ts';

/** Engines that a test may kill, beside those of all tests. */
export async function startOwnEngines(
  dataName: string,
  only: readonly ('redis' | 'clickhouse')[],
): Promise<EmbeddedEngines> {
  const { directory, java } = readConfig();
  return await startEmbedded({ directory, dataName, only, elasticsearchHeapMb: 512, java, report: () => undefined });
}

/** Of such engines, once they are stopped. */
export const removeEngineData = (dataName: string): Promise<void> =>
  rm(path.join(engineFolder(readConfig().directory), dataName), {
    ...{ recursive: true, force: true, maxRetries: 10, retryDelay: 100 },
  });
