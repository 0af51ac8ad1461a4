import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ignoreFailure } from '../../kit/values/errors.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const WEB = path.join(ROOT, 'web');
/** The lock by which `web/node_modules` was installed, in it. */
const LOCK = '.installed-lock.json';
/**
 * Everything that the client is built from: its sources, the declarations that it is type-checked against, and the
 * packages.
 */
const SOURCES = [
  ...[
    'src',
    'build.ts',
    'index.html',
    'operations-plugin.ts',
    'declared-fields.ts',
    'package-lock.json',
    'vite.config.ts',
  ].map((name) => `web/${name}`),
  ...['src/interfaces/nouns.ts', 'src/kit/values/decimals.ts', 'src/kit/values/format.ts'],
];
const ROUTES = 'src';
/** The prebuilt client in the image, which has neither the sources nor Vite. */
const BUILT = path.join(ROOT, 'dist/web-app');

function hashSources(): string {
  const hash = createHash('sha256');
  const hashSource = (file: string): void => {
    if (statSync(path.join(ROOT, file)).isDirectory()) {
      for (const name of readdirSync(path.join(ROOT, file)).sort()) hashSource(path.join(file, name));
    } else hash.update(file).update(readFileSync(path.join(ROOT, file)));
  };
  for (const source of SOURCES) hashSource(source);
  // Methods, paths, fields and closed lists are declared in the nouns' operations and shapes.
  for (const file of readdirSync(path.join(ROOT, ROUTES), { recursive: true, encoding: 'utf8' }).sort()) {
    if (/(?:noun|\.api|\.shapes)\.ts$/.test(file)) hashSource(path.join(ROUTES, file));
  }
  return hash.digest('hex').slice(0, 16);
}

export interface BuildOptions {
  /** The niceness of the build. */
  niceness?: number;
}

async function run(
  command: string,
  args: readonly string[],
  { niceness = 0, ...options }: BuildOptions & { cwd: string; env?: NodeJS.ProcessEnv },
) {
  const child = spawn('nice', ['-n', String(niceness), command, ...args], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`The web app could not be built:\n${said}`);
}

/**
 * Installs what the client is built with, unless it is there: `npm ci` does not, the first start does while engines are
 * downloaded, and the image never needs it.
 */
export async function ensurePackages(options: BuildOptions = {}): Promise<void> {
  const lock = await readFile(path.join(WEB, 'package-lock.json'), 'utf8');
  const packages = path.join(WEB, 'node_modules');
  const isCurrent = async () => (await readFile(path.join(packages, LOCK), 'utf8').catch(() => '')) === lock;
  if (await isCurrent()) return;
  // Beside the sources and renamed when it is whole, because several processes may install at once.
  const draft = await mkdtemp(`${packages}.`);
  try {
    for (const name of ['.npmrc', 'package.json', 'package-lock.json']) {
      await copyFile(path.join(WEB, name), path.join(draft, name));
    }
    await run('npm', ['ci', '--ignore-scripts'], { ...options, cwd: draft });
    await writeFile(path.join(draft, 'node_modules', LOCK), lock);
    if (await isCurrent()) return;
    await rename(packages, path.join(draft, 'before')).catch(ignoreFailure('there are none before the first build'));
    await rename(path.join(draft, 'node_modules'), packages);
  } catch (error) {
    // Another process may have installed the same first.
    if (!(await isCurrent())) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Builds in a separate process: Vite briefly takes half a gigabyte, which a running server does not need again. */
async function buildInto(folder: string, options: BuildOptions): Promise<void> {
  await ensurePackages(options);
  // None of this process's environment, because the client is always built for production.
  await run(process.execPath, ['--max-old-space-size=768', path.join(WEB, 'build.ts'), folder], {
    ...options,
    cwd: ROOT,
    env: { NODE_ENV: 'production' },
  });
}

async function removeOthers(directory: string, keptFolder: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith('app-') && !name.startsWith(keptFolder)) {
      await rm(path.join(directory, name), { recursive: true, force: true });
    }
  }
}

/** The folder of the built client: the image's, otherwise one in `directory` that is named after sources and packages. */
export const clientFolder = (directory: string): string =>
  !existsSync(WEB) && existsSync(BUILT) ? BUILT : path.join(directory, `app-${hashSources()}`);

/** Builds the client unless its folder is there. */
export async function ensureClient(
  directory: string,
  folder = clientFolder(directory),
  options: BuildOptions = {},
): Promise<string> {
  if (existsSync(folder)) return folder;
  await mkdir(directory, { recursive: true });
  const draft = `${folder}.${process.pid}`;
  try {
    await buildInto(draft, options);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have finished the same build first.
    if (!existsSync(folder)) throw error;
  }
  await removeOthers(directory, path.basename(folder)).catch(ignoreFailure('leftovers only take space'));
  return folder;
}
