import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { ignoreFailure } from '../values/errors.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/**
 * Everything that the client is built from: its sources, the declarations that it is type-checked against, and the
 * packages.
 */
const SOURCES = ['web', 'src/resources/nouns.ts', 'package-lock.json'];
const ROUTES = 'src/resources';
/** The prebuilt client in the image, which has neither the sources nor Vite. */
const BUILT = path.join(ROOT, 'dist/web-app');

function hashOf(): string {
  const hash = createHash('sha256');
  const read = (file: string): void => {
    if (statSync(path.join(ROOT, file)).isDirectory()) {
      for (const name of readdirSync(path.join(ROOT, file)).sort()) read(path.join(file, name));
    } else hash.update(file).update(readFileSync(path.join(ROOT, file)));
  };
  for (const source of SOURCES) read(source);
  // Ids, methods and paths are in the nouns' routes.
  for (const file of readdirSync(path.join(ROOT, ROUTES), { recursive: true, encoding: 'utf8' }).sort()) {
    if (/(?:noun|routes)\.ts$/.test(file)) read(path.join(ROUTES, file));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Builds in a separate process: Vite briefly takes half a gigabyte, which a running server does not need again. */
async function buildInto(folder: string): Promise<void> {
  const script = path.join(import.meta.dirname, 'build-client.ts');
  const child = spawn(process.execPath, ['--max-old-space-size=768', script, folder], {
    cwd: ROOT,
    // None of this process's environment, because the client is always built for production.
    env: { NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`The web app could not be built:\n${said}`);
}

async function removeOthers(directory: string, kept: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith('app-') && !name.startsWith(kept)) {
      await rm(path.join(directory, name), { recursive: true, force: true });
    }
  }
}

/**
 * The folder of the built client: the image's, otherwise one in `directory` that is rebuilt when sources or packages
 * change.
 */
export async function ensureClient(directory: string): Promise<string> {
  if (!existsSync(path.join(ROOT, 'web')) && existsSync(BUILT)) return BUILT;
  const name = `app-${hashOf()}`;
  const folder = path.join(directory, name);
  if (existsSync(folder)) return folder;
  await mkdir(directory, { recursive: true });
  const draft = `${folder}.${process.pid}`;
  try {
    await buildInto(draft);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have finished the same build first.
    if (!existsSync(folder)) throw error;
  }
  await removeOthers(directory, name).catch(ignoreFailure('leftovers only take space'));
  return folder;
}
