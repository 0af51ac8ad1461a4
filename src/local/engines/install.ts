import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
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

export async function verifySha256(file: string, expected: string): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(chunk);
  const actual = hash.digest('hex');
  if (actual !== expected) throw new Error(`${path.basename(file)} has the SHA-256 ${actual}, expected ${expected}.`);
}
