import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ensurePackages } from '../../src/interfaces/web-app/build.ts';
import { checkCode } from './code.ts';
import { COMPOSE_FILES, problemsOfCompose, problemsOfVersions } from './compose.ts';
import { problemsOfDocuments } from './documents.ts';
import { deadExports } from './exports.ts';
import { repositoryFiles } from './files.ts';
import { readFlags } from './flags.ts';
import { checkHouse } from './house.ts';
import { openapiDrift, writeOpenapi } from './openapi.ts';
import { reportForms } from './ratios.ts';
import { rowTypesDrift, writeRowTypes } from './rows.ts';
import { leaks } from './secrets.ts';
import { shopScriptDrift, writeShopScript } from './shop-script.ts';
import { readSources } from './source.ts';
import { findVulnerabilities } from './vulnerabilities.ts';

const USAGE = `npm run check                every check; exits 1 when one fails
npm run check -- --write     first brings the committed row types, script of shops and OpenAPI documents up to date
npm run check -- --vulnerabilities   also compares the lock files with the registry's list of known vulnerabilities`;

const run = promisify(execFile);

/** A tool's complaints, none when it is content. */
async function complaints(command: string, args: string[]): Promise<string[]> {
  try {
    await run(command, args, { maxBuffer: 16 * 1024 * 1024 });
    return [];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const output = 'stdout' in error && 'stderr' in error ? `${error.stdout}${error.stderr}`.trim() : '';
    return [output || error.message];
  }
}

const tool = (name: string, ...args: string[]) => complaints(`node_modules/.bin/${name}`, args);

const { write, vulnerabilities } = readFlags(USAGE, {
  write: { type: 'boolean', default: false },
  vulnerabilities: { type: 'boolean', default: false },
});

/** What is checked, and how: each gives what it found wrong. */
const CHECKS: Record<string, () => Promise<string[]>> = {
  // One thread each: several take half as much work again, and others wait for the cores.
  types: async () => {
    await ensurePackages();
    const projects = ['.', 'web'].map((project) => tool('tsc', '--noEmit', '--singleThreaded', '-p', project));
    return (await Promise.all(projects)).flat();
  },
  'lint and format': () => tool('biome', 'check', '--error-on-warnings', '--colors=off'),
  'house rule': async () => {
    const sources = readSources(await repositoryFiles());
    return [...checkHouse(sources), ...checkCode(sources)];
  },
  'forms of names and comments': async () => {
    const { report, lost } = reportForms(await repositoryFiles());
    for (const line of report) process.stdout.write(`       ${line}\n`);
    return lost;
  },
  'dead exports': async () => deadExports(await repositoryFiles()),
  'compose files': async () => {
    const files = await Promise.all(COMPOSE_FILES.map((file) => readFile(file, 'utf8')));
    const config = await readFile('src/config.ts', 'utf8');
    return [
      ...(await tool('dclint', '--config', 'test/check/dclint.json', '--max-warnings', '0', '--color=false', '.')),
      ...files.flatMap((text) => problemsOfCompose(text, config)),
      ...problemsOfVersions(files),
    ];
  },
  'row types': async () => rowTypesDrift(await repositoryFiles()),
  'script of shops': shopScriptDrift,
  'OpenAPI drift': openapiDrift,
  'OpenAPI documents': problemsOfDocuments,
  locks: async () => {
    const locks = ['package-lock.json', 'web/package-lock.json'];
    const checks = locks.map((lock) => complaints(process.execPath, ['test/check/complete-lock.ts', '--check', lock]));
    return (await Promise.all(checks)).flat();
  },
  'known vulnerabilities': () =>
    findVulnerabilities(vulnerabilities, (line) => void process.stdout.write(`       ${line}\n`)),
  'no secrets, hosts or machine paths': async () => leaks(await repositoryFiles()),
};

async function runCheck(name: string, check: () => Promise<string[]>): Promise<boolean> {
  const start = performance.now();
  const found = await check().catch((error: unknown) => [String(error)]);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(`${found.length === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n`);
  for (const line of found.join('\n').split('\n')) if (line) process.stdout.write(`         ${line}\n`);
  return found.length === 0;
}

if (write) {
  await writeRowTypes(await repositoryFiles());
  await writeShopScript();
  await writeOpenapi();
}

const results = await Promise.all(Object.entries(CHECKS).map(([name, check]) => runCheck(name, check)));
if (results.includes(false)) process.exitCode = 1;
