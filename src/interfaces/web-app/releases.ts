import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { FileStore } from '../../kit/engines/files/store.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';

const KEPT = 'web-app/';
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** A file name with the digest that the build adds. */
const NAME = /^[\w.-]{1,100}-[\w-]{8}\.\w{2,5}$/;

const getContentType = (name: string): string | undefined => (NAME.test(name) ? TYPES[path.extname(name)] : undefined);

/** Stores this release's files for processes of other releases, whose visitors may have a page of this one. */
export async function keepRelease(files: FileStore, folder: string): Promise<void> {
  const assets = path.join(folder, 'assets');
  for (const name of await readdir(assets)) {
    const type = getContentType(name);
    if (type !== undefined) await files.write(`${KEPT}${name}`, createReadStream(path.join(assets, name)), type);
  }
}

/** A file of another release; undefined if none is stored under this name. */
export async function readKept(files: FileStore, name: string): Promise<{ type: string; bytes: Readable } | undefined> {
  const type = getContentType(name);
  if (type === undefined) return undefined;
  const bytes = await files.read(`${KEPT}${name}`).catch(ignoreFailure('a file that cannot be read is not found'));
  return bytes && { type, bytes };
}
