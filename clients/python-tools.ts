import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The holder touches the lock regularly; an older one was left behind by a killed process. */
const LOCK_ENDS_AFTER_MS = 60_000;
const TOUCHED_EVERY_MS = 5_000;

/** Runs `work` while no other process does: tests of several files install the same tools at once. */
export async function alone<T>(lock: string, work: () => Promise<T>): Promise<T> {
  await mkdir(path.dirname(lock), { recursive: true });
  for (;;) {
    const isOurs = await mkdir(lock).then(
      () => true,
      () => false,
    );
    const touchedAt = await stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (isOurs || Date.now() - touchedAt > LOCK_ENDS_AFTER_MS) break;
    await pause(200);
  }
  const touch = () => utimes(lock, new Date(), new Date()).catch(() => undefined);
  await touch();
  const touching = setInterval(touch, TOUCHED_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    await rm(lock, { recursive: true, force: true });
  }
}

async function installed(home: string, requirements: string): Promise<string> {
  const python = path.join(home, 'bin', 'python');
  const stamp = path.join(home, 'installed.txt');
  const wanted = await readFile(requirements, 'utf8');
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return python;
  await rm(home, { recursive: true, force: true });
  // Without its own pip: Debian's Python brings none for new environments.
  await run('python3', ['-m', 'venv', '--without-pip', home]);
  await run('python3', ['-m', 'pip', '--python', python, 'install', '--quiet', '--no-deps', '-r', requirements]);
  await writeFile(stamp, wanted);
  return python;
}

/** A Python with what `requirements` lists, in an environment of its own: installed once, again when versions change. */
export async function installPythonTools(home: string, requirements: string): Promise<string> {
  const folder = path.resolve(home);
  return await alone(`${folder}.lock`, () => installed(folder, requirements));
}

/** Python with mypy, twine and a validator of OpenAPI documents: what `npm run check` and tests hold packages against. */
export const installCheckers = () => installPythonTools('.rollcall/check-venv', 'test/check/requirements.txt');
