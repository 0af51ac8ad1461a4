import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError, unavailable } from '../../values/errors.ts';
import type { ByteRange, FileStore } from './store.ts';

const unavailableStore = (cause: unknown): ApiError =>
  cause instanceof ApiError ? cause : unavailable('The file storage', cause);

/** A new file survives a power cut only after its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Stores files in a local folder. A file gets its name only when it is complete and on the disk. */
export function openDisk(folder: string): FileStore {
  const toFilePath = (key: string) => path.join(folder, ...key.split('/'));
  const toDraftPath = (key: string) => `${toFilePath(key)}.part`;

  async function write(key: string, bytes: AsyncIterable<Buffer>): Promise<void> {
    const file = toFilePath(key);
    try {
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      await pipeline(bytes, createWriteStream(toDraftPath(key), { mode: 0o600, flush: true }));
      await rename(toDraftPath(key), file);
      await syncFolder(path.dirname(file));
    } catch (error) {
      await rm(toDraftPath(key), { force: true });
      throw unavailableStore(error);
    }
  }

  async function read(key: string, range?: ByteRange): Promise<Readable> {
    const handle = await open(toFilePath(key), 'r').catch((error: unknown) => {
      throw unavailableStore(error);
    });
    return handle.createReadStream(range ? { start: range.start, end: range.end } : {});
  }

  async function remove(key: string): Promise<void> {
    await rm(toFilePath(key), { force: true });
    await rm(toDraftPath(key), { force: true });
  }

  return { write, read, remove, presignAddress: () => undefined };
}
