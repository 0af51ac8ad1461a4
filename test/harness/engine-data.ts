import { rm } from 'node:fs/promises';
import path from 'node:path';
import { readConfig } from '../../src/config.ts';
import { engineFolder } from '../../src/engines/embedded/folder.ts';

/** Of engines that a test had of its own, once they are stopped. */
export const removeEngineData = (dataName: string): Promise<void> =>
  rm(path.join(engineFolder(readConfig().directory), dataName), {
    ...{ recursive: true, force: true, maxRetries: 10, retryDelay: 100 },
  });
