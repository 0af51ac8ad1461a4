/**
 * `npm start` runs this first, and `npm test` with `--dev`. In a clone without packages it installs them, and fetches
 * Elasticsearch meanwhile, which takes as long. Plain JavaScript, because nothing is installed yet, not even the Node that
 * runs TypeScript.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { javaSettings, USUAL_JDK_FOLDERS } from './engines/java.mjs';
import { cannotRun, checkMachine } from './engines/machine.mjs';
import { FETCHED_EARLY, mavenCommand, removeLeftovers } from './engines/maven.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** npm writes it last. */
const INSTALLED = path.join(ROOT, 'node_modules/.package-lock.json');
/** Tests need more than `npm start` has installed. */
const FOR_TESTS = process.argv.includes('--dev');
const TEST_TOOL = path.join(ROOT, 'node_modules/vitest');

/** The engines whose needs a machine may lack, with the variable that replaces each. */
const ENGINES = /** @type {const} */ ({ elasticsearch: 'ELASTICSEARCH_URL', redis: 'REDIS_URL' });
const FOLDERS = { elasticsearch: 'elasticsearch-', redis: 'valkey-' };

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/**
 * The exit code; a child that a signal ended has failed.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').StdioOptions} stdio
 * @returns {Promise<number>}
 */
function run(command, args, stdio) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, stdio });
    running.add(child);
    const finish = (/** @type {number | null} */ code) => {
      running.delete(child);
      resolve(code ?? 1);
    };
    child.once('error', (error) => {
      process.stderr.write(`${command}: ${error.message}\n`);
      finish(1);
    });
    child.once('close', finish);
  });
}

function stopAll() {
  for (const child of running) child.kill('SIGTERM');
}

/**
 * A failure is not reported: the start itself tries again, and says what is wrong.
 *
 * @param {import('./engines/java.mjs').Java | undefined} java
 */
async function fetchElasticsearch(java) {
  const base = path.dirname(FETCHED_EARLY);
  await mkdir(base, { recursive: true });
  // What earlier starts did not finish.
  for (const name of await readdir(base)) {
    if (name.startsWith(FOLDERS.elasticsearch)) await rm(path.join(base, name), { recursive: true, force: true });
  }
  const part = `${FETCHED_EARLY}.part`;
  const code = await run(...mavenCommand(part, java), 'ignore');
  await removeLeftovers(part);
  if (code === 0) await rename(part, FETCHED_EARLY);
}

/** The engines that will run on this machine: for tests all or none, because tests fill no engine of the user. */
function enginesToStart() {
  if (FOR_TESTS) return (process.env.TEST_ENGINES || 'embedded') === 'embedded' ? Object.keys(ENGINES) : [];
  return Object.entries(ENGINES).flatMap(([name, variable]) => (process.env[variable] ? [] : [name]));
}

/** npm's arguments. Packages that a server may be using are added to, never replaced. */
function installation() {
  if (!FOR_TESTS) return ['ci', '--omit=dev'];
  return existsSync(INSTALLED) ? ['install', '--no-save'] : ['ci'];
}

async function main() {
  const directory = path.resolve(ROOT, process.env.ROLLCALL_DIR || '.rollcall');
  const folders = existsSync(directory) ? readdirSync(directory) : [];
  const isInstalled = (/** @type {keyof typeof FOLDERS} */ name) =>
    folders.some((folder) => folder.startsWith(FOLDERS[name]));
  const engines = enginesToStart();
  const { java, missing } = checkMachine({
    engines,
    isInstalled,
    java: javaSettings(process.env),
    javaFolders: USUAL_JDK_FOLDERS,
  });
  if (missing.length > 0) {
    process.stderr.write(`${cannotRun(missing)}\n`);
    return 1;
  }
  const fetches = engines.includes('elasticsearch') && !isInstalled('elasticsearch') && !existsSync(FETCHED_EARLY);
  const meanwhile = fetches ? ', and fetching Elasticsearch, 946 MB once,' : '';
  const args = installation();
  process.stderr.write(`Installing packages (npm ${args.join(' ')})${meanwhile} ...\n`);
  const fetching = fetches ? fetchElasticsearch(java).catch(() => undefined) : undefined;
  const npm = process.env.npm_execpath;
  const [command, first] = npm ? [process.execPath, [npm]] : ['npm', []];
  const code = await run(command, [...first, ...args], 'inherit');
  if (code !== 0) stopAll();
  await fetching;
  return code;
}

if (!existsSync(INSTALLED) || (FOR_TESTS && !existsSync(TEST_TOOL))) {
  for (const [signal, code] of /** @type {const} */ ([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])) {
    process.once(signal, () => {
      stopAll();
      process.exit(code);
    });
  }
  process.exitCode = await main();
}
