import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { readConfig } from '../src/config.ts';
import { documentHash, documentOfClients, typesOfEvents } from './document.ts';
import { alone, installPythonTools } from './python-tools.ts';

const OLDER_DOCUMENT = path.resolve('test/check/openapi-legacy.json');
const TYPESCRIPT = path.resolve('clients/typescript');
const PYTHON = path.resolve('clients/python');

const execute = promisify(execFile);
const run = (command: string, args: string[], cwd: string) =>
  execute(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 });

/** Python with the generator, a builder and the official MCP client. */
export const installPython = (directory: string) =>
  installPythonTools(path.join(directory, 'clients-venv'), path.join(PYTHON, 'requirements.txt'));

/** Writes which release and document a package was made from, and gives it the licence and the changelog of the release. */
async function note(home: string, file: string): Promise<void> {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(await readFile('package.json', 'utf8')));
  const made = { api: '/v1', version, openapi_sha256: await documentHash() };
  await mkdir(path.dirname(path.join(home, file)), { recursive: true });
  await writeFile(path.join(home, file), `${JSON.stringify(made)}\n`);
  for (const name of ['LICENSE', 'CHANGELOG.md']) await copyFile(name, path.join(home, name));
}

/** The document for a generator; one file each, because tests build both clients at once. */
async function writeDocument(directory: string, client: string): Promise<string> {
  const file = path.resolve(directory, `openapi-${client}.json`);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, await documentOfClients());
  return file;
}

/** Where the TypeScript generator and compiler are; installed once. */
export async function typescriptTools(): Promise<string> {
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

const Parameters = z.object({
  paths: z.object({
    '/v1/creators/search': z.object({
      get: z.object({ parameters: z.array(z.object({ name: z.string() }).partial()) }),
    }),
  }),
});

/** Writes the names that a walk accepts, which types alone do not keep at run time. */
async function writeSearchParameters(): Promise<void> {
  const { parameters } = Parameters.parse(JSON.parse(await documentOfClients())).paths['/v1/creators/search'].get;
  const names = JSON.stringify(parameters.flatMap(({ name }) => name ?? []));
  const file = path.join(TYPESCRIPT, 'src', 'generated', 'search-parameters.ts');
  await writeFile(file, `export const SEARCH_PARAMETERS: readonly string[] = ${names};\n`);
}

/** Generates, compiles and packs the TypeScript client; answers the package's file. */
export async function buildTypescript(directory: string): Promise<string> {
  const bin = await typescriptTools();
  await rm(path.join(TYPESCRIPT, 'dist'), { recursive: true, force: true });
  await run(path.join(bin, 'openapi-ts'), ['-i', await writeDocument(directory, 'typescript')], TYPESCRIPT);
  await writeSearchParameters();
  await run(path.join(bin, 'tsc'), ['-p', 'tsconfig.json'], TYPESCRIPT);
  await note(TYPESCRIPT, 'dist/document.json');
  const target = path.resolve(directory);
  await mkdir(target, { recursive: true });
  const { stdout } = await run('npm', ['pack', '--pack-destination', target, '--silent'], TYPESCRIPT);
  return path.join(target, stdout.trim().split('\n').at(-1) ?? '');
}

/** Writes the union of all events and the type of each, which the generator does not make. */
async function writeEvents(generated: string): Promise<void> {
  const events = await typesOfEvents();
  const types = events.map(([, type]) => type);
  const module = [
    `from .models import ${types.join(', ')}`,
    `RollcallEvent = ${types.join(' | ')}`,
    `EVENTS: dict[str, type[RollcallEvent]] = {${events.map(([event, type]) => `"${event}": ${type}`).join(', ')}}`,
  ];
  await writeFile(path.join(generated, 'events.py'), `${module.join('\n')}\n`);
}

/** Generates the Python client and builds its wheel and, beside it, its source distribution; answers the wheel's file. */
export async function buildPython(directory: string): Promise<string> {
  const python = await installPython(directory);
  const bin = path.dirname(python);
  const generated = path.join(PYTHON, 'rollcall', 'generated');
  await rm(generated, { recursive: true, force: true });
  const args = [
    'generate',
    '--path',
    await writeDocument(directory, 'python'),
    '--meta',
    'none',
    '--output-path',
    generated,
  ];
  await run(path.join(bin, 'openapi-python-client'), [...args, '--config', 'generator.yml'], PYTHON);
  await writeEvents(generated);
  await note(PYTHON, 'rollcall/document.json');
  const target = path.resolve(directory);
  const { stdout } = await run(python, ['-m', 'build', '--no-isolation', '--outdir', target, '.'], PYTHON);
  const file = /(\S+\.whl)/.exec(stdout.split('\n').findLast((line) => line.includes('.whl')) ?? '')?.[1] ?? '';
  return path.join(target, path.basename(file));
}

if (import.meta.main) {
  const [directory = path.join(readConfig().directory, 'clients'), only] = process.argv.slice(2);
  if (only !== 'python') process.stdout.write(`${await buildTypescript(directory)}\n`);
  if (only !== 'typescript') process.stdout.write(`${await buildPython(directory)}\n`);
}
