import path from 'node:path';
import type { Config } from '../../values/config.ts';
import { assertLive } from '../postgres/home.ts';
import type { Db } from '../postgres/open.ts';
import { openDisk } from './disk.ts';
import type { OwnBucket } from './s3.ts';
import type { FileStore } from './store.ts';

/** The SDK takes as long to load as a tenth of the server, and only this storage needs it. */
function openS3(address: string): FileStore {
  const opening = import('./s3.ts').then((s3) => s3.openS3(address));
  return {
    write: async (...file) => await (await opening).write(...file),
    read: async (...place) => await (await opening).read(...place),
    remove: async (...place) => await (await opening).remove(...place),
    presignAddress: async (...file) => await (await opening).presignAddress(...file),
  };
}

/** A restored copy may share this storage with its original: it reads there, and changes nothing until it is live. */
const whileLive = (store: FileStore, db: Db): FileStore => ({
  ...store,
  write: async (...file) => {
    await assertLive(db);
    await store.write(...file);
  },
  remove: async (...place) => {
    await assertLive(db);
    await store.remove(...place);
  },
});

/** Opens the storage of `ASSETS_URL`; without it, a folder next to the embedded engines. */
export function openFiles({ assetsUrl, directory }: Pick<Config, 'assetsUrl' | 'directory'>, db: Db): FileStore {
  return assetsUrl === undefined ? openDisk(path.join(directory, 'assets')) : whileLive(openS3(assetsUrl), db);
}

/** Opens a bucket that a brand named. Throws a `BucketRefusal` if its address may not be called. */
export async function openOwnBucket(own: OwnBucket, allow: readonly string[]): Promise<FileStore> {
  const { openOwnBucket: open } = await import('./s3.ts');
  return await open(own, allow);
}
