import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isPidAlive } from './alive.ts';
import { runCommand } from './command.ts';

const STAMP = '.installed';

export function isInstalled(folder: string): boolean {
  return existsSync(path.join(folder, STAMP));
}

/** Removes partial downloads of killed processes: about a gigabyte each. */
async function sweepAbandonedParts(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = /^\.part-.+-(\d+)$/.exec(name)?.[1];
    if (pid && !isPidAlive(Number(pid))) await rm(path.join(base, name), { recursive: true, force: true });
  }
}

async function moveInto(part: string, folder: string): Promise<void> {
  try {
    await rename(part, folder);
  } catch {
    // The folder exists: another process installed the same version in the meantime, or it is broken.
    if (isInstalled(folder)) return;
    await rm(folder, { recursive: true, force: true });
    await rename(part, folder);
  }
}

/**
 * Lets `fetch` fill a temporary folder, and moves it to `folder` when it is complete. Several processes may do this at
 * once.
 */
export async function install(folder: string, fetch: (into: string) => Promise<void>): Promise<void> {
  if (isInstalled(folder)) return;
  const base = path.dirname(folder);
  await sweepAbandonedParts(base);
  const part = path.join(base, `.part-${path.basename(folder)}-${process.pid}`);
  await rm(part, { recursive: true, force: true });
  await mkdir(part, { recursive: true });
  try {
    await fetch(part);
    await writeFile(path.join(part, STAMP), `${new Date().toISOString()}\n`);
    await runCommand('chmod', ['-R', 'a+rX', part]);
    await moveInto(part, folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/** Moves a folder onto an empty one, which may be on another disk. */
export async function moveFolder(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch {
    await cp(from, to, { recursive: true });
    await rm(from, { recursive: true });
  }
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

/** Checks the names and contents of all files in a folder by one SHA-256: of the list that `sha256sum` prints of them. */
export async function verifyFolder(folder: string, expected: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
  let list = '';
  for (const file of files) list += `${sha256(await readFile(path.join(folder, file)))}  ${file}\n`;
  const actual = sha256(list);
  if (actual !== expected) throw new Error(`What was downloaded has the SHA-256 ${actual}, expected ${expected}.`);
}
