import path from 'node:path';
import type { Config } from '../../values/config.ts';
import { openDisk } from './disk.ts';
import { openS3 } from './s3.ts';
import type { FileStore } from './store.ts';

/** Opens the storage of `ASSETS_URL`; without it, a folder next to the embedded engines. */
export function openFiles({ assetsUrl, directory }: Pick<Config, 'assetsUrl' | 'directory'>): FileStore {
  return assetsUrl === undefined ? openDisk(path.join(directory, 'assets')) : openS3(assetsUrl);
}
