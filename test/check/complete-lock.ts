/**
 * Completes package-lock.json with the packages of other platforms that the registry in use could not serve when the
 * lock was written: without them `npm ci` stops with "Missing: … from lock file".
 *
 *   node test/check/complete-lock.ts [file]            adds what is missing
 *   node test/check/complete-lock.ts --check [file]    exits 1 when something is missing or a host is named
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

const Package = z.record(z.string(), z.unknown());
const Lock = z.looseObject({ packages: z.record(z.string(), Package) });
type Package = z.infer<typeof Package>;
type Packages = Record<string, Package>;

const Versions = z.record(z.string(), z.string()).catch({});

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'sunos', 'aix', 'win32', 'openharmony'];
const PROCESSORS = ['arm64', 'x64', 'ia32', 'arm', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32'];
const PLAIN_VERSION = /^[~^]?(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.-]+)?)$/;
const LAST_PACKAGE = /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/;

interface Missing {
  name: string;
  version: string;
  wantedBy: string;
}

/** Node's own look-up, inside the lock: beside the package that asks, then in each folder above. */
function isLocked(packages: Packages, from: string, name: string): boolean {
  if (packages[`${from ? `${from}/` : ''}node_modules/${name}`]) return true;
  return from !== '' && isLocked(packages, from.replace(LAST_PACKAGE, ''), name);
}

function findMissing(packages: Packages): Missing[] {
  return Object.entries(packages).flatMap(([wantedBy, { optionalDependencies }]) =>
    Object.entries(Versions.parse(optionalDependencies ?? {}))
      .filter(([name]) => !isLocked(packages, wantedBy, name))
      .map(([name, version]) => ({ name, version, wantedBy })),
  );
}

/** The platform is read from the package's name, as in `@biomejs/cli-linux-x64-musl`. */
function platformOf(name: string): Package | undefined {
  const words = name.split(/[/@_-]/).map((word) => (word === 'windows' ? 'win32' : word));
  const system = SYSTEMS.find((known) => words.includes(known));
  const processor = PROCESSORS.find((known) => words.includes(known));
  if (!system) return undefined;
  const library = words.includes('musl') ? 'musl' : words.includes('gnu') ? 'glibc' : undefined;
  return {
    os: [system],
    ...(processor ? { cpu: [processor] } : {}),
    ...(system === 'linux' && library ? { libc: [library] } : {}),
  };
}

function entryFor({ name, version, wantedBy }: Missing, packages: Packages): Package {
  const exact = PLAIN_VERSION.exec(version)?.[1];
  const platform = platformOf(name);
  if (!exact || !platform)
    throw new Error(`${name}@${version}, wanted by ${wantedBy || 'package.json'}, is not locked.`);
  return { version: exact, ...(packages[wantedBy]?.dev ? { dev: true } : {}), optional: true, ...platform };
}

/** The lock with every optional package in it, and the names of those that were missing. */
function completeLock(text: string): { text: string; added: string[] } {
  const lock = Lock.parse(JSON.parse(text));
  const missing = findMissing(lock.packages);
  const entries = Object.entries(lock.packages);
  for (const one of missing) entries.push([`node_modules/${one.name}`, entryFor(one, lock.packages)]);
  entries.sort(([one], [other]) => one.localeCompare(other, 'en'));
  const { packages: _unsorted, ...rest } = lock;
  const complete = { ...rest, packages: Object.fromEntries(entries) };
  return {
    text: `${JSON.stringify(complete, null, 2)}\n`,
    added: missing.map(({ name, version }) => `${name}@${version}`),
  };
}

/** Where a value names a host; the pages where a package asks for money are no registry. */
function findHosts(value: unknown, place: string): string[] {
  if (typeof value === 'string') return /:\/\//.test(value) ? [`${place} names a host`] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .filter(([key]) => key !== 'funding')
    .flatMap(([key, inner]) => [
      ...(key === 'resolved' ? [`${place} has a "resolved" key`] : []),
      ...findHosts(inner, `${place} › ${key}`),
    ]);
}

/** Packages that whoever installs them takes unseen. */
function findUnproven(packages: Packages): string[] {
  return Object.entries(packages)
    .filter(([place, { integrity, link }]) => place !== '' && integrity === undefined && link !== true)
    .map(([place]) => place);
}

/** The lock with each integrity that the registry in use tells, and the places where it tells none. */
function proveLock(text: string): { text: string; unproven: string[] } {
  const lock = Lock.parse(JSON.parse(text));
  const unproven = findUnproven(lock.packages).filter((place) => {
    const one = lock.packages[place];
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const requested = spawnSync('npm', ['view', `${name}@${one?.version}`, 'dist.integrity'], { encoding: 'utf8' });
    const integrity = requested.status === 0 ? requested.stdout.trim() : '';
    if (!one || !/^sha\d+-/.test(integrity)) return true;
    one.integrity = integrity;
    return false;
  });
  return { text: `${JSON.stringify(lock, null, 2)}\n`, unproven };
}

/** Of other platforms, in every version: a registry that does not serve them has nothing to prove them by. */
const UNSERVED = /^node_modules\/@chdb\/lib-/;

/** What keeps the lock from working with any registry; empty when it is good. */
function problemsOfLock(text: string): string[] {
  const { packages } = Lock.parse(JSON.parse(text));
  return [
    ...findUnproven(packages)
      .filter((place) => !UNSERVED.test(place))
      .map((place) => `${place} has no integrity; run npm run lock`),
    ...findMissing(packages).map(({ name, version }) => `${name}@${version} is missing; run npm run lock`),
    ...findHosts(packages, 'packages'),
  ];
}

function main(args: string[]): void {
  const file = args.find((argument) => !argument.startsWith('--')) ?? 'package-lock.json';
  const text = readFileSync(file, 'utf8');
  if (args.includes('--check')) {
    const problems = problemsOfLock(text);
    for (const problem of problems) process.stderr.write(`${file}: ${problem}\n`);
    process.exitCode = problems.length > 0 ? 1 : 0;
    return;
  }
  const { text: complete, added, unproven } = ((whole) => ({ ...whole, ...proveLock(whole.text) }))(completeLock(text));
  if (unproven.length > 0) process.stdout.write(`The registry tells no integrity of: ${unproven.join(', ')}\n`);
  if (complete !== text) writeFileSync(file, complete);
  process.stdout.write(added.length > 0 ? `Added to ${file}: ${added.join(', ')}\n` : `${file} is complete.\n`);
}

if (import.meta.main) main(process.argv.slice(2));
