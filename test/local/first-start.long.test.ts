import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyFolder } from '../../src/local/engines/install.ts';
import { until } from '../harness/app.ts';
import { CHILD_ENV } from '../harness/process/child.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** What runs before anything is installed. */
const FILES = ['first-start.mjs', 'engines/java.mjs', 'engines/machine.mjs', 'engines/maven.mjs', 'engines/pom.xml'];
const FETCHED = '.cache/elasticsearch-9.4.3';

/** Fills the folder after `-Dout=` as Maven does, once npm has installed the packages. */
const MAVEN = `#!/bin/sh
for argument; do case $argument in -Dout=*) out=\${argument#-Dout=};; esac; done
trap 'echo stopped >> maven.txt; exit 143' TERM
echo began >> maven.txt
mkdir -p "$out/lib" "$out/m2" "$out/target" && echo one > "$out/lib/one.jar" && echo zip > "$out/m2/zip"
until [ -e node_modules/.package-lock.json ]; do sleep 0.05; done
exit $(cat maven-fails 2> /dev/null || echo 0)
`;

let clone: string;

const inClone = (name: string) => path.join(clone, name);
const saidByMaven = () => readFile(inClone('maven.txt'), 'utf8').catch(() => '');

/** A clone with one package, in the clone itself, so that npm needs no registry. */
beforeEach(async () => {
  clone = await mkdtemp(path.join(tmpdir(), 'rollcall-clone-'));
  for (const name of FILES) await cp(path.join(ROOT, 'src/local', name), inClone(path.join('src/local', name)));
  await mkdir(inClone('own'));
  await writeFile(inClone('own/package.json'), JSON.stringify({ name: 'own', version: '1.0.0' }));
  const top = { name: 'clone', version: '1.0.0', dependencies: { own: 'file:own' } };
  await writeFile(inClone('package.json'), JSON.stringify(top));
  const packages = { '': top, own: { version: '1.0.0' }, 'node_modules/own': { resolved: 'own', link: true } };
  await writeFile(inClone('package-lock.json'), JSON.stringify({ ...top, lockfileVersion: 3, packages }));
  await mkdir(inClone('bin'));
  await writeFile(inClone('bin/mvn'), MAVEN);
  await mkdir(inClone('jdk/bin'), { recursive: true });
  await writeFile(inClone('jdk/bin/java'), '');
  await writeFile(inClone('jdk/release'), 'JAVA_VERSION="25"\nMODULES="java.base jdk.attach jdk.jdi jdk.jlink"\n');
  for (const name of ['bin/mvn', 'jdk/bin/java']) await chmod(inClone(name), 0o755);
});
afterEach(async () => {
  await rm(clone, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

function start(env: NodeJS.ProcessEnv = {}, args: readonly string[] = []) {
  const child = spawn(process.execPath, [inClone('src/local/first-start.mjs'), ...args], {
    cwd: clone,
    env: {
      PATH: [inClone('bin'), CHILD_ENV.PATH].join(path.delimiter),
      HOME: clone,
      // npm says every now and then that there is a newer one.
      npm_config_update_notifier: 'false',
      EMBEDDED_JAVA_HOME: inClone('jdk'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { child, ended: ended.then(([, said]) => ({ status: child.exitCode, said })) };
}

describe('The first start of a clone', () => {
  it('installs the packages while Elasticsearch is fetched, and later starts do nothing', async () => {
    const first = await start().ended;
    expect(first.status, first.said).toBe(0);
    expect(first.said).toMatch(
      /^Installing packages \(npm ci --omit=dev\), and fetching Elasticsearch, 946 MB once, \.\.\.\n/,
    );
    expect(existsSync(inClone('node_modules/own'))).toBe(true);
    expect(await readdir(inClone('.cache'))).toEqual(['elasticsearch-9.4.3']);
    expect(await readdir(inClone(FETCHED))).toEqual(['lib']);

    expect(await start().ended).toEqual({ status: 0, said: '' });
    expect(await saidByMaven()).toBe('began\n');
  });

  it('fetches no Elasticsearch for a user who has one', async () => {
    const { status, said } = await start({ ELASTICSEARCH_URL: 'http://127.0.0.1:9', PATH: CHILD_ENV.PATH }).ended;
    expect([status, said]).toEqual([0, 'Installing packages (npm ci --omit=dev) ...\n']);
    expect(existsSync(inClone('.cache'))).toBe(false);
  });

  it('of the tests installs what they need beside the packages of npm start, once', async () => {
    expect((await start().ended).status).toBe(0);
    const { status, said } = await start({}, ['--dev']).ended;
    expect(status, said).toBe(0);
    expect(said).toMatch(/^Installing packages \(npm install --no-save\) \.\.\.\n/);
    await mkdir(inClone('node_modules/vitest'));
    expect(await start({}, ['--dev']).ended).toEqual({ status: 0, said: '' });
  });

  it('of the tests needs no Java where they run in containers', async () => {
    const { status, said } = await start({ TEST_ENGINES: 'containers', PATH: CHILD_ENV.PATH }, ['--dev']).ended;
    expect([status, said]).toEqual([0, 'Installing packages (npm ci) ...\n']);
  });

  it('says what the machine lacks before it downloads anything', async () => {
    const node = path.dirname(process.execPath);
    const { status, said } = await start({ PATH: node, EMBEDDED_JAVA_HOME: '/nowhere', HOME: '/nowhere' }).ended;
    expect(status).toBe(1);
    expect(said).toMatch(/^The engines cannot run on this machine yet\.\n[\s\S]*mvn is not on PATH[\s\S]*pip/);
    expect(existsSync(inClone('node_modules'))).toBe(false);
    expect(await saidByMaven()).toBe('');
  });

  it('shows why npm failed, ends with exit code 1 and stops Maven', async () => {
    await rm(inClone('package-lock.json'));
    const { status, said } = await start().ended;
    expect(said).toMatch(/npm error[\s\S]*package-lock\.json/);
    expect(status).toBe(1);
    const maven = await saidByMaven();
    expect(['', 'stopped\n', 'began\nstopped\n']).toContain(maven);
  });

  it('leaves it to the start itself to say why Maven failed', async () => {
    await writeFile(inClone('maven-fails'), '1');
    expect((await start().ended).status).toBe(0);
    expect(existsSync(inClone(FETCHED))).toBe(false);
  });

  it('that Ctrl-C ended leaves nothing running, and the next one takes it up again', async () => {
    await writeFile(inClone('bin/npm'), '#!/bin/sh\nexec sleep 600\n');
    await chmod(inClone('bin/npm'), 0o755);
    const { child, ended } = start();
    await until('Maven to begin', async () => (await saidByMaven()).includes('began'));
    child.kill('SIGINT');
    expect((await ended).status).toBe(130);
    await until('Maven to stop', async () => (await saidByMaven()).includes('stopped'));

    await rm(inClone('bin/npm'));
    expect((await start().ended).status).toBe(0);
    expect(await readdir(inClone('.cache'))).toEqual(['elasticsearch-9.4.3']);
    expect(await readdir(inClone(FETCHED))).toEqual(['lib']);
  });
});

describe('A downloaded engine', () => {
  it('is refused if a file differs, is missing or is one too many', async () => {
    const folder = inClone('engine');
    await mkdir(path.join(folder, 'lib'), { recursive: true });
    await writeFile(path.join(folder, 'lib/a'), 'a\n');
    await writeFile(path.join(folder, 'b'), 'b\n');
    // As `find -type f | sort | xargs sha256sum | sha256sum` says.
    const right = '05db97c6a83b6441488ba87e6933654d8d8d944cd8f032583aec42c7047bb988';
    await verifyFolder(folder, right);
    const wrong = new RegExp(`has the SHA-256 [0-9a-f]{64}, expected ${right}`);
    await writeFile(path.join(folder, 'lib/a'), 'A\n');
    await expect(verifyFolder(folder, right)).rejects.toThrow(wrong);
    await rm(path.join(folder, 'lib/a'));
    await expect(verifyFolder(folder, right)).rejects.toThrow(wrong);
    await writeFile(path.join(folder, 'lib/a'), 'a\n');
    await writeFile(path.join(folder, 'lib/c'), '');
    await expect(verifyFolder(folder, right)).rejects.toThrow(wrong);
  });
});
