import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../src/kit/values/config.ts';
import { isPidAlive } from '../src/local/engines/alive.ts';
import { engineFolder, makeOpenFolder } from '../src/local/engines/folder.ts';

const FOLDER = 'bench-';

/** Removes the folders of killed runs. */
async function removeLeftovers(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = name.startsWith(FOLDER) ? Number(name.slice(FOLDER.length)) : Number.NaN;
    if (Number.isInteger(pid) && !isPidAlive(pid)) await rm(path.join(base, name), { recursive: true, force: true });
  }
}

/** Runs with a temporary folder for engines' data, which is removed afterwards, like those of killed runs. */
export async function withOwnData<T>(
  { directory }: Pick<Config, 'directory'>,
  run: (dataName: string) => Promise<T>,
): Promise<T> {
  const base = engineFolder(directory);
  const dataName = `${FOLDER}${process.pid}`;
  await removeLeftovers(base);
  makeOpenFolder(path.join(base, dataName));
  try {
    return await run(dataName);
  } finally {
    await rm(path.join(base, dataName), { recursive: true, force: true });
  }
}
