import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { documentHash, documentOfClients } from './document.ts';

const OLDER_DOCUMENT = path.resolve('test/check/openapi-legacy.json');
const TYPESCRIPT = path.resolve('clients/typescript');
const PYTHON = path.resolve('clients/python');

const execute = promisify(execFile);
const run = (command: string, args: string[], cwd: string) =>
  execute(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 });

const LOCK_ENDS_AFTER_MS = 180_000;

/** Runs `work` while no other process does: tests of several files install the same tools at once. */
async function alone<T>(lock: string, work: () => Promise<T>): Promise<T> {
  await mkdir(path.dirname(lock), { recursive: true });
  const end = performance.now() + LOCK_ENDS_AFTER_MS;
  for (;;) {
    const isOurs = await mkdir(lock).then(
      () => true,
      () => false,
    );
    // One that stands for so long was left by a process that was killed.
    if (isOurs || performance.now() > end) break;
    await pause(200);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

/** Python with the generator, a builder and the official MCP client; installed once, again when versions change. */
export async function installPython(directory: string): Promise<string> {
  const home = path.resolve(directory, 'clients-venv');
  return await alone(`${home}.lock`, () => installedPython(home));
}

async function installedPython(home: string): Promise<string> {
  const python = path.join(home, 'bin', 'python');
  const stamp = path.join(home, 'installed.txt');
  const requirements = path.join(PYTHON, 'requirements.txt');
  const wanted = await readFile(requirements, 'utf8');
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return python;
  await rm(home, { recursive: true, force: true });
  // Without its own pip: Debian's Python brings none for new environments.
  await run('python3', ['-m', 'venv', '--without-pip', home], PYTHON);
  const install = ['-m', 'pip', '--python', python, 'install', '--quiet', '--no-deps', '-r', requirements];
  await run('python3', install, PYTHON);
  await writeFile(stamp, wanted);
  return python;
}

async function note(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ openapi_sha256: await documentHash() })}\n`);
}

/** The document for a generator; one file each, because tests build both clients at once. */
async function writeDocument(directory: string, client: string): Promise<string> {
  const file = path.resolve(directory, `openapi-${client}.json`);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, await documentOfClients());
  return file;
}

/** Where the TypeScript generator and compiler are; installed once. */
async function typescriptTools(): Promise<string> {
  const bin = path.join(TYPESCRIPT, 'node_modules', '.bin');
  await alone(path.resolve('.rollcall/clients-typescript.lock'), async () => {
    if (!existsSync(bin)) await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], TYPESCRIPT);
  });
  return bin;
}

/**
 * Generates a client of the older interface into a user's folder, as they would, and compiles their programs beside it;
 * answers where the programs are.
 */
export async function buildOlder(home: string): Promise<string> {
  const bin = await typescriptTools();
  const plugins = ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'];
  const generated = path.join(home, 'src', 'generated');
  await run(path.join(bin, 'openapi-ts'), ['-i', OLDER_DOCUMENT, '-o', generated, '-p', ...plugins], TYPESCRIPT);
  await copyFile(path.join(TYPESCRIPT, 'tsconfig.json'), path.join(home, 'tsconfig.json'));
  await writeFile(path.join(home, 'package.json'), '{"private":true,"type":"module"}');
  await run(path.join(bin, 'tsc'), ['-p', 'tsconfig.json'], home);
  return path.join(home, 'dist');
}

/** Generates, compiles and packs the TypeScript client; answers the package's file. */
export async function buildTypescript(directory: string): Promise<string> {
  const bin = await typescriptTools();
  await rm(path.join(TYPESCRIPT, 'dist'), { recursive: true, force: true });
  await run(path.join(bin, 'openapi-ts'), ['-i', await writeDocument(directory, 'typescript')], TYPESCRIPT);
  await run(path.join(bin, 'tsc'), ['-p', 'tsconfig.json'], TYPESCRIPT);
  await note(path.join(TYPESCRIPT, 'dist', 'document.json'));
  const target = path.resolve(directory);
  await mkdir(target, { recursive: true });
  const { stdout } = await run('npm', ['pack', '--pack-destination', target, '--silent'], TYPESCRIPT);
  return path.join(target, stdout.trim().split('\n').at(-1) ?? '');
}

/** Generates the Python client and builds its wheel; answers the wheel's file. */
export async function buildPython(directory: string): Promise<string> {
  const python = await installPython(directory);
  const bin = path.dirname(python);
  const generated = path.join(PYTHON, 'rollcall', 'generated');
  await rm(generated, { recursive: true, force: true });
  const args = ['generate', '--path', await writeDocument(directory, 'python'), '--meta', 'none', '--output-path', generated];
  await run(path.join(bin, 'openapi-python-client'), [...args, '--config', 'generator.yml'], PYTHON);
  await note(path.join(PYTHON, 'rollcall', 'document.json'));
  const target = path.resolve(directory);
  const wheel = ['-m', 'build', '--wheel', '--no-isolation', '--outdir', target, '.'];
  const { stdout } = await run(python, wheel, PYTHON);
  const file = /(\S+\.whl)/.exec(stdout.split('\n').findLast((line) => line.includes('.whl')) ?? '')?.[1] ?? '';
  return path.join(target, path.basename(file));
}

if (import.meta.main) {
  const directory = '.rollcall/clients';
  process.stdout.write(`${await buildTypescript(directory)}\n${await buildPython(directory)}\n`);
}
